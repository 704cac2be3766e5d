"""The files of a release: manifest.json, hacs.json, images, changelog and release notes."""

import datetime as dt
import json
from pathlib import Path
import re
import shutil
import subprocess

from awesomeversion import AwesomeVersion
from homeassistant.components.brands.const import ALLOWED_IMAGES
from PIL import Image
import pytest

from .project import INTEGRATION, ROOT, name_of, project_files, read_json, under

MANIFEST = read_json(INTEGRATION / "manifest.json")
HACS = read_json(ROOT / "hacs.json")


def test_manifest() -> None:
    """The integration needs no additional packages, and its version number is valid."""
    assert not MANIFEST.get("requirements")
    assert re.fullmatch(r"\d+\.\d+\.\d+(b\d+)?", MANIFEST["version"])


def test_oldest_home_assistant_is_tested() -> None:
    """The oldest supported release is the same in hacs.json and in the requirements of the tests."""
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
    """HACS and the Marketplace install one integration from its folder, without a ZIP file."""
    assert not HACS.keys() & {"zip_release", "content_in_root"}
    folder = ROOT / "custom_components"
    files = [path for path in project_files() if path.is_relative_to(folder)]
    assert {path.relative_to(folder).parts[0] for path in files} == {INTEGRATION.name}


def test_only_needed_files_are_installed() -> None:
    """The integration's folder contains only types of files that Home Assistant reads."""
    suffixes = {path.suffix for path in under(INTEGRATION, "*")}
    assert suffixes <= {".css", ".js", ".json", ".png", ".py", ".yaml"}


IMAGES = under(INTEGRATION / "brand", "*")
DRAWINGS = under(ROOT / "docs" / "brand", "*.svg")
# Limits for the shorter side of the images, in pixels.
SHORTER_SIDE = {
    "icon.png": (256, 256),
    "icon@2x.png": (512, 512),
    "logo.png": (128, 256),
    "logo@2x.png": (256, 512),
}


def test_images() -> None:
    """Home Assistant knows the name of each image. Each drawing has an image in both sizes."""
    names = {image.name for image in IMAGES}
    assert {"icon.png", "icon@2x.png"} <= names <= ALLOWED_IMAGES
    assert names == {f"{it.stem}{size}.png" for it in DRAWINGS for size in ("", "@2x")}


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.name)
def test_image(path: Path) -> None:
    """Each image is a small transparent PNG of the right size."""
    kind = path.name.removeprefix("dark_")
    low, high = SHORTER_SIDE[kind]
    with Image.open(path) as image:
        assert image.format == "PNG"
        assert image.convert("RGBA").getchannel("A").getextrema() == (0, 255)
        assert low <= min(image.size) <= high
        assert (image.width == image.height) is kind.startswith("icon")
    assert path.stat().st_size < 20_000


VERSION = MANIFEST["version"]
CHANGELOG = ROOT / "CHANGELOG.md"
ENGLISH = INTEGRATION / "translations" / "en.json"


@pytest.fixture
def release(tree: Path) -> Path:
    """Return a copy of the project that can be released: all texts exist, and no change is unreleased."""
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
    """The changelog begins with the manifest's version. The newest release comes first, and all have links."""
    text, home = CHANGELOG.read_text(), MANIFEST["documentation"]
    releases = re.findall(r"^## \[(\d.*?)\] - (.+)$", text, re.MULTILINE)
    assert releases[0][0] == VERSION
    dates = [dt.date.fromisoformat(date) for _, date in releases]
    assert dates == sorted(dates, reverse=True)
    for release, _ in releases:
        assert f"\n[{release}]: {home}/releases/tag/{release}\n" in text


def test_notes(release: Path) -> None:
    """The release notes are the version's part of the changelog, without heading and links."""
    done = release_notes(release, VERSION)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in (release / "CHANGELOG.md").read_text()
    assert "\n## " not in done.stdout
    assert "/releases/tag/" not in done.stdout


def test_wrong_release_is_refused(release: Path) -> None:
    """The script refuses a tag that is not the version, and a version without notes."""
    for tag in ("0.0.1", f"v{VERSION}", f"{VERSION}.1", "latest"):
        done = release_notes(release, tag)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"the tag is {tag}" in done.stderr
    empty = f"# Changelog\n\n## [{VERSION}] - 2030-01-01\n\n"
    (release / "CHANGELOG.md").write_text(empty)
    done = release_notes(release, VERSION)
    assert done.returncode == 1
    assert f"CHANGELOG.md says nothing of {VERSION}" in done.stderr


def test_missing_text_is_refused(release: Path) -> None:
    """A release needs all texts in all languages. The error lists the missing texts in one line."""
    for path in (release / name_of(ENGLISH.parent)).glob("*.json"):
        texts = read_json(path)
        if path.stem in ("de", "fr"):
            del texts["issues"]["no_contact"]["title"]
        if path.stem != "en":
            for key in ("accounts", "can_reach_server"):
                del texts["system_health"]["info"][key]
        path.write_text(json.dumps(texts))
    done = release_notes(release, VERSION)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = (line for line in done.stderr.splitlines() if "Missing" in line)
    assert line.strip() == (
        "Missing: issues.no_contact.title in de, fr; "
        "system_health.info.accounts, system_health.info.can_reach_server"
        " in all languages but English"
    )
