"""The changelog, and the script that prints the notes of a release or refuses it."""

import datetime as dt
import json
from pathlib import Path
import re
import shutil
import subprocess

import pytest

from .project import INTEGRATION, ROOT, name_of, read_json

MANIFEST = INTEGRATION / "manifest.json"
VERSION = read_json(MANIFEST)["version"]
CHANGELOG = ROOT / "CHANGELOG.md"
SCRIPTS = [ROOT / "scripts" / it for it in ("release-notes", "lib/common.sh")]
NEEDED = [MANIFEST, CHANGELOG, *SCRIPTS, ROOT / "scripts/lib/missing_texts.py"]
ENGLISH = INTEGRATION / "translations" / "en.json"


@pytest.fixture(name="tree")
def tree_fixture(tmp_path: Path) -> Path:
    """Return a copy of the files of a complete release."""
    for path in NEEDED:
        target = tmp_path / name_of(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    (translations := tmp_path / name_of(ENGLISH.parent)).mkdir()
    for language in ("de", "en", "fr", "ja"):
        shutil.copy(ENGLISH, translations / f"{language}.json")
    changelog = tmp_path / name_of(CHANGELOG)
    unreleased = re.compile(r"^## \[Unreleased\].*?(?=^## )", re.MULTILINE | re.DOTALL)
    changelog.write_text(unreleased.sub("", changelog.read_text()))
    return tmp_path


def release_notes(tree: Path, tag: str) -> subprocess.CompletedProcess[str]:
    """Run the script for a tag."""
    command = [f"{tree}/scripts/release-notes", tag]
    return subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603


def test_changelog() -> None:
    """It begins with the version of the manifest, in order of time, and has all links."""
    text, home = CHANGELOG.read_text(), read_json(MANIFEST)["documentation"]
    releases = re.findall(r"^## \[(\d.*?)\] - (.+)$", text, re.MULTILINE)
    assert releases[0][0] == VERSION
    dates = [dt.date.fromisoformat(date) for _, date in releases]
    assert dates == sorted(dates, reverse=True)
    for release, _ in releases:
        assert f"\n[{release}]: {home}/releases/tag/{release}\n" in text


def test_notes(tree: Path) -> None:
    """The notes are the part of the changelog without its heading and links."""
    done = release_notes(tree, VERSION)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in (tree / "CHANGELOG.md").read_text()
    assert "\n## " not in done.stdout
    assert "/releases/tag/" not in done.stdout


def test_wrong_release_is_refused(tree: Path) -> None:
    """The tag is the version, and the changelog has notes for it."""
    for tag in ("0.0.1", f"v{VERSION}", f"{VERSION}.1", "latest"):
        done = release_notes(tree, tag)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"the tag is {tag}" in done.stderr
    empty = f"# Changelog\n\n## [{VERSION}] - 2030-01-01\n\n"
    (tree / "CHANGELOG.md").write_text(empty)
    done = release_notes(tree, VERSION)
    assert done.returncode == 1
    assert f"CHANGELOG.md says nothing of {VERSION}" in done.stderr


def test_missing_text_is_refused(tree: Path) -> None:
    """A release has every text in every language. One line lists the missing texts."""
    for path in (tree / name_of(ENGLISH.parent)).glob("*.json"):
        texts = read_json(path)
        if path.stem in ("de", "fr"):
            del texts["issues"]["no_contact"]["title"]
        if path.stem != "en":
            for key in ("accounts", "can_reach_server"):
                del texts["system_health"]["info"][key]
        path.write_text(json.dumps(texts))
    done = release_notes(tree, VERSION)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = (line for line in done.stderr.splitlines() if "Missing" in line)
    assert line.strip() == (
        "Missing: issues.no_contact.title in de, fr; "
        "system_health.info.accounts, system_health.info.can_reach_server"
        " in all languages but English"
    )
