"""The files of a release: manifest.json, hacs.json, images, changelog and release notes."""

import datetime as dt
import json
from pathlib import Path
import re
import shutil
import subprocess

from homeassistant.components.brands.const import ALLOWED_IMAGES
import pytest

from .project import INTEGRATION, ROOT, name_of, read_json, under

MANIFEST = read_json(INTEGRATION / "manifest.json")
HACS = read_json(ROOT / "hacs.json")


def test_installed_files() -> None:
    """HACS installs one folder with only types of files that Home Assistant reads, and no additional packages."""
    assert not HACS.keys() & {"zip_release", "content_in_root"}
    assert not MANIFEST.get("requirements")
    files = under(INTEGRATION.parent, "*")
    assert all(path.is_relative_to(INTEGRATION) for path in files)
    suffixes = {path.suffix for path in files}
    assert suffixes <= {".css", ".html", ".js", ".json", ".png", ".py", ".yaml"}


def test_oldest_home_assistant_is_tested() -> None:
    """The oldest supported Home Assistant is the same in hacs.json and in the requirements of the tests."""
    pins = (ROOT / "requirements" / "oldest.txt").read_text()
    assert f"\nhomeassistant=={HACS['homeassistant']} " in pins


def test_images() -> None:
    """Home Assistant knows the name of each image. Each drawing in docs/brand has an image in normal and double size."""
    names = {path.name for path in under(INTEGRATION / "brand", "*")}
    drawings = under(ROOT / "docs" / "brand", "*.svg")
    assert {"icon.png", "icon@2x.png"} <= names <= ALLOWED_IMAGES
    assert names == {f"{it.stem}{size}.png" for it in drawings for size in ("", "@2x")}


VERSION = MANIFEST["version"]
CHANGELOG = ROOT / "CHANGELOG.md"
ENGLISH = INTEGRATION / "translations" / "en.json"


@pytest.fixture
def release(tree: Path) -> Path:
    """Return a copy of the project that can be released: each language has all texts, and no change is unreleased."""
    for path in (tree / name_of(ENGLISH.parent)).iterdir():
        shutil.copy(ENGLISH, path)
    changelog = tree / name_of(CHANGELOG)
    unreleased = re.compile(r"^## \[Unreleased\].*?(?=^## )", re.MULTILINE | re.DOTALL)
    changelog.write_text(unreleased.sub("", changelog.read_text()))
    return tree


def release_notes(tree: Path, tag: str) -> subprocess.CompletedProcess[str]:
    """Run the script that prints the release notes of a tag, in a copy of the project."""
    command = [f"{tree}/scripts/release-notes", tag]
    return subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603


def test_changelog() -> None:
    """The changelog's first release has the manifest's version. Releases are sorted, newest first, and have links."""
    text, home = CHANGELOG.read_text(), MANIFEST["documentation"]
    releases = re.findall(r"^## \[(\d.*?)\] - (.+)$", text, re.MULTILINE)
    assert releases[0][0] == VERSION
    dates = [dt.date.fromisoformat(date) for _, date in releases]
    assert dates == sorted(dates, reverse=True)
    for release, _ in releases:
        assert f"\n[{release}]: {home}/releases/tag/{release}\n" in text


def test_notes(release: Path) -> None:
    """The release notes are the part of the changelog about the version, without its heading and links."""
    done = release_notes(release, VERSION)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in (release / "CHANGELOG.md").read_text()
    assert not re.search(r"^## |/releases/tag/", done.stdout, re.MULTILINE)


def test_wrong_release_is_refused(release: Path) -> None:
    """The script refuses a tag that is not the version, a version without notes, and languages that lack texts. The error lists the missing texts."""

    def refused(tag: str = VERSION) -> str:
        done = release_notes(release, tag)
        assert (done.returncode, done.stdout) == (1, "")
        return done.stderr

    for tag in ("0.0.1", f"v{VERSION}", f"{VERSION}.1", "latest"):
        assert f"the tag is {tag}" in refused(tag)
    for path in (release / name_of(ENGLISH.parent)).iterdir():
        texts = read_json(path)
        if path.stem in ("de", "fr"):
            del texts["issues"]["no_contact"]["title"]
        if path.stem != "en":
            del texts["issues"]["no_trackers"]
        path.write_text(json.dumps(texts))
    assert (
        "Missing: issues.no_contact.title in de, fr; issues.no_trackers.description, "
        "issues.no_trackers.title in all languages but English\n"
    ) in refused()
    empty = f"# Changelog\n\n## [{VERSION}] - 2030-01-01\n\n"
    (release / "CHANGELOG.md").write_text(empty)
    assert f"CHANGELOG.md says nothing of {VERSION}" in refused()
