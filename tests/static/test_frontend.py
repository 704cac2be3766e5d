"""The cards: plain JavaScript that shows texts as texts, in every language."""

import re
from typing import Any

import pytest

from .project import INTEGRATION, read_json, under

MODULES = under(INTEGRATION / "frontend", "*.js")
SOURCE = "\n".join(path.read_text() for path in MODULES)
TEXTS: dict[str, Any] = read_json(INTEGRATION / "translations" / "en.json")

# What would take a text for markup or code, or load something from elsewhere.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|createContextualFragment"
    r"|parseFromString|\beval\b|new Function|https?://|\bfetch\("
)
STYLE = 'fetch(new URL("cards.css", import.meta.url))'
CALL = re.compile(r'\btext\(\s*"(\w+)"')
QUOTED = re.compile(r'"(\w+)"')
TEMPLATE = re.compile(r"`(\w*)\$\{[^}]+\}(\w*)`")
IMPORT = re.compile(r'(?:from|import) "([^"]+)"')


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_texts_are_no_markup(path: Any) -> None:
    """What a server sends becomes a text node; nothing is loaded from the internet."""
    text = path.read_text().replace(STYLE, "")
    assert not FORBIDDEN.findall(text)


def test_modules_import_their_neighbors_alone() -> None:
    """There is no library, and no module that nothing imports."""
    imported = set(IMPORT.findall(SOURCE))
    names = {f"./{path.name}" for path in MODULES}
    assert imported == names - {"./bike-tracker.js"}


def test_texts_are_those_the_cards_use() -> None:
    """Each text of a card exists, and no other."""
    texts = TEXTS["config_panel"].keys()
    assert texts >= set(CALL.findall(SOURCE))
    built = [
        rf"{start}\w+{end}" for start, end in TEMPLATE.findall(SOURCE) if start + end
    ]
    used = set(QUOTED.findall(SOURCE)) | set(re.findall(r"\b(\w+_card): ", SOURCE))
    unused = texts - used
    assert not [key for key in unused if not any(re.fullmatch(it, key) for it in built)]
