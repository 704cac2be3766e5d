"""Texts in the frontend, both Home Assistant's own and the integration's."""

from dataclasses import dataclass
import json
from pathlib import Path
from typing import Any

import pytest

from tests.tools.demo.config_folder import INTEGRATION


@dataclass(frozen=True, slots=True)
class Words:
    """Home Assistant's own texts that appear while an account is set up."""

    language: str
    own_name: str
    settings: str
    integrations: str
    add: str
    search: str
    submit: str
    device_name: str
    finish: str
    device_info: str


_WORDS = [
    Words(**words)
    for words in json.loads(Path(__file__).with_suffix(".json").read_text())
]
ENGLISH = next(words for words in _WORDS if words.language == "en")

IN_EVERY_LANGUAGE = pytest.mark.parametrize(
    "words", _WORDS, ids=lambda words: words.language, indirect=True
)
"""Repeats a test for each language. The fixture `words` selects the language for the user."""


class Texts:
    """The integration's texts in a language, for the form of an account and for entities."""

    def __init__(self, language: str) -> None:
        """Read the texts of this language."""
        path = INTEGRATION / "translations" / f"{language}.json"
        texts: dict[str, Any] = json.loads(path.read_text())
        config: dict[str, Any] = texts["config"]
        step: dict[str, Any] = config["step"]["user"]
        self.title: str = step["title"]
        self.description: str = step["description"]
        self.labels: dict[str, str] = step["data"]
        self.explanations: dict[str, str] = step["data_description"]
        self.errors: dict[str, str] = config["error"]
        entities: dict[str, dict[str, dict[str, Any]]] = texts["entity"]
        self.entities: dict[str, str] = {
            key: entity["name"]
            for platform in entities.values()
            for key, entity in platform.items()
        }
        self.states: dict[str, dict[str, str]] = {
            key: entity.get("state", {})
            for key, entity in entities["binary_sensor"].items()
        }
