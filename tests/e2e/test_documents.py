"""The documentation names buttons, menus and pages as Home Assistant does."""

from collections.abc import Iterator
import json
from pathlib import Path
import re

import hass_frontend
from homeassistant import components
import pytest

from tests.tools.demo.config_folder import INTEGRATION, ROOT

_BOLD = re.compile(r"\*\*([^*]+)\*\*")
_CODE = re.compile(r"^( *)```.*?^ *```$", re.DOTALL | re.MULTILINE)
_BEGINS_A_PARAGRAPH = (":", ",")
_DOCUMENTS = [
    "README.md",
    "SECURITY.md",
    "docs/automations.md",
    "docs/dashboard.md",
    "docs/how-it-works.md",
    "docs/troubleshooting.md",
]
_BOLD_TOO = {
    "Bike Tracker",
    "Report a vulnerability",
    "every 60 seconds",
    "Without push messages, an alarm can be missed if another report follows within a minute.",
}
"""Bold texts in the documentation that are no texts of Home Assistant or of the integration."""


def texts(value: object) -> Iterator[str]:
    """Yield all texts in the nested content of a translation file."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    else:
        yield str(value)


@pytest.fixture(scope="module")
def said() -> set[str]:
    """Return the English texts of the newest frontend, of the component `notify`, and of the integration."""
    frontend = Path(hass_frontend.where(), "static", "translations")
    notify = Path(components.__path__[0], "notify", "translations", "en.json")
    ours = INTEGRATION / "translations" / "en.json"
    files = [*frontend.rglob("en-" + "[0-9a-f]" * 32 + ".json"), notify, ours]
    return {text for file in files for text in texts(json.loads(file.read_text()))}


@pytest.mark.parametrize("name", _DOCUMENTS)
def test_bold_names_exist(name: str, said: set[str]) -> None:
    """Each button, menu and page that a document names in bold has exactly that name in Home Assistant."""
    text = _CODE.sub("", (ROOT / name).read_text())
    named = {
        part
        for bold in _BOLD.findall(text)
        if not bold.endswith(_BEGINS_A_PARAGRAPH)
        for part in " ".join(bold.split()).split(" → ")
    }
    assert named
    unsaid = named - said - _BOLD_TOO
    assert not unsaid
