"""manifest.json and hacs.json, by the rules of Home Assistant, HACS and the Marketplace."""

import re

from awesomeversion import AwesomeVersion

from .project import INTEGRATION, ROOT, project_files, read_json, under

MANIFEST = read_json(INTEGRATION / "manifest.json")
HACS = read_json(ROOT / "hacs.json")


def test_manifest() -> None:
    """It needs no packages, and its version can be compared."""
    assert not MANIFEST.get("requirements")
    assert re.fullmatch(r"\d+\.\d+\.\d+(b\d+)?", MANIFEST["version"])


def test_oldest_home_assistant_is_tested() -> None:
    """The release in hacs.json is the one that the tests pin."""
    pinned = {
        name: re.search(r"^homeassistant==(\S+)", path.read_text(), re.MULTILINE)
        for name in ("oldest", "test")
        for path in [ROOT / "requirements" / f"{name}.txt"]
    }
    assert pinned["oldest"]
    assert pinned["test"]
    assert HACS["homeassistant"] == pinned["oldest"][1]
    assert AwesomeVersion(HACS["homeassistant"]) <= pinned["test"][1]


def test_it_is_installed_from_the_tree() -> None:
    """The Marketplace installs one integration, no ZIP file and no files from the root."""
    assert not HACS.keys() & {"zip_release", "content_in_root"}
    folder = ROOT / "custom_components"
    files = [path for path in project_files() if path.is_relative_to(folder)]
    assert {path.relative_to(folder).parts[0] for path in files} == {INTEGRATION.name}


def test_only_needed_files_are_installed() -> None:
    """The folder contains only files that Home Assistant reads."""
    suffixes = {path.suffix for path in under(INTEGRATION, "*")}
    assert suffixes <= {".css", ".js", ".json", ".png", ".py", ".yaml"}
