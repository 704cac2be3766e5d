"""What is written in the frontend: by Home Assistant, and by the integration."""

from dataclasses import dataclass
import json
from typing import Any

from tests.live.config_folder import INTEGRATION


@dataclass(frozen=True, slots=True)
class Words:
    """Home Assistant's own words on the way to an account."""

    language: str
    own_name: str
    settings: str
    integrations: str
    add: str
    search: str
    submit: str
    device_name: str
    finish: str


ENGLISH = Words(
    language="en",
    own_name="English",
    settings="Settings",
    integrations="Devices & services",
    add="Add integration",
    search="Search for a brand name",
    submit="Submit",
    device_name="Device name",
    finish="Skip and finish",
)
GERMAN = Words(
    language="de",
    own_name="Deutsch",
    settings="Einstellungen",
    integrations="Geräte & Dienste",
    add="Integration hinzufügen",
    search="Nach einem Markennamen suchen",
    submit="OK",
    device_name="Gerätename",
    finish="Überspringen und fertigstellen",
)


class Texts:
    """The integration's texts in a language."""

    def __init__(self, language: str) -> None:
        """Read them."""
        path = INTEGRATION / "translations" / f"{language}.json"
        config: dict[str, Any] = json.loads(path.read_text())["config"]
        step: dict[str, Any] = config["step"]["user"]
        self.title: str = step["title"]
        self.description: str = step["description"]
        self.labels: dict[str, str] = step["data"]
        self.explanations: dict[str, str] = step["data_description"]
        self.errors: dict[str, str] = config["error"]
