"""Print in one line which texts are missing in which languages, or print nothing.

Usage: missing_texts.py
"""

from collections.abc import Iterator
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "custom_components/bike_tracker/translations"


def places(texts: dict[str, Any], path: str = "") -> Iterator[str]:
    """Yield the keys of all texts, such as `config.step.user.title`."""
    for key, value in texts.items():
        if isinstance(value, dict):
            yield from places(value, f"{path}{key}.")
        else:
            yield path + key


def read(path: Path) -> list[str]:
    """Return the keys of the texts that a language has."""
    return list(places(json.loads(path.read_text(encoding="utf-8"))))


def missing(folder: Path) -> dict[str, list[str]]:
    """Return the keys of the English texts that languages lack, grouped by these languages."""
    has = {path.stem: set(read(path)) for path in sorted(folder.glob("*.json"))}
    lacking: dict[str, list[str]] = {}
    for place in read(folder / "en.json"):
        languages = [language for language in has if place not in has[language]]
        if languages:
            all_others = len(languages) == len(has) - 1
            who = "all languages but English" if all_others else ", ".join(languages)
            lacking.setdefault(who, []).append(place)
    return lacking


if __name__ == "__main__":
    told = [f"{', '.join(texts)} in {who}" for who, texts in missing(FOLDER).items()]
    if told:
        print("; ".join(told))
