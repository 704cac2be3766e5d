"""hacs.json and the layout that HACS and the Marketplace expect."""

import re
from typing import Any

from awesomeversion import AwesomeVersion
import pytest

from .project import INTEGRATION, ROOT, project_files, read_json


@pytest.fixture(name="hacs", scope="module")
def hacs_fixture() -> dict[str, Any]:
    """Return hacs.json."""
    hacs: dict[str, Any] = read_json(ROOT / "hacs.json")
    return hacs


def home_assistant_in(requirements: str) -> str:
    """Return the version of Home Assistant that a requirement file pins."""
    text = (ROOT / "requirements" / requirements).read_text()
    found = re.search(r"^homeassistant==([^ ]+)", text, re.MULTILINE)
    assert found, f"requirements/{requirements} does not pin homeassistant"
    return found[1]


def test_oldest_home_assistant_is_the_tested_one(hacs: dict[str, Any]) -> None:
    """HACS offers it from the oldest release on that the tests run on."""
    assert hacs["homeassistant"] == home_assistant_in("oldest.txt")
    assert AwesomeVersion(hacs["homeassistant"]) <= home_assistant_in("test.txt")


def test_it_is_installed_from_the_tree(hacs: dict[str, Any]) -> None:
    """The Marketplace installs neither ZIP files nor what lies in the root."""
    assert not hacs.get("zip_release")
    assert not hacs.get("content_in_root")


def test_there_is_one_integration() -> None:
    """HACS installs the first integration it finds, so there is one."""
    folder = ROOT / "custom_components"
    inside = {
        path.relative_to(folder).parts[0]
        for path in project_files()
        if path.is_relative_to(folder)
    }
    assert inside == {INTEGRATION.name}


def test_what_is_installed_is_needed() -> None:
    """People get what Home Assistant reads, and no leftovers."""
    suffixes = {
        path.suffix for path in project_files() if path.is_relative_to(INTEGRATION)
    }
    assert suffixes <= {".css", ".js", ".json", ".png", ".py", ".yaml"}
