"""What a release needs, and the script that refuses one that is not right."""

import datetime as dt
import json
from pathlib import Path
import re
import shutil
import subprocess

import pytest

from .project import INTEGRATION, ROOT, name_of, read_json

VERSION = read_json(INTEGRATION / "manifest.json")["version"]
CHANGELOG = ROOT / "CHANGELOG.md"
NEEDED = [
    INTEGRATION / "manifest.json",
    CHANGELOG,
    ROOT / "scripts" / "release-notes",
    ROOT / "scripts" / "lib" / "common.sh",
    ROOT / "scripts" / "lib" / "missing_texts.py",
]
ENGLISH = INTEGRATION / "translations" / "en.json"


@pytest.fixture(name="tree")
def tree_fixture(tmp_path: Path) -> Path:
    """Return a copy of the files that the script reads, with nothing unreleased or untranslated."""
    for path in NEEDED:
        target = tmp_path / name_of(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    translations = tmp_path / name_of(ENGLISH.parent)
    translations.mkdir()
    for language in ("de", "en", "fr", "ja"):
        shutil.copy(ENGLISH, translations / f"{language}.json")
    changelog = tmp_path / name_of(CHANGELOG)
    unreleased = re.compile(r"^## \[Unreleased\].*?(?=^## )", re.MULTILINE | re.DOTALL)
    changelog.write_text(unreleased.sub("", changelog.read_text()))
    return tmp_path


def release_notes(tree: Path, tag: str) -> subprocess.CompletedProcess[str]:
    """Ask for the notes of a tag."""
    return subprocess.run(  # noqa: S603
        [tree / "scripts" / "release-notes", tag],
        check=False,
        capture_output=True,
        text=True,
    )


def test_changelog_begins_with_the_version() -> None:
    """The newest release in the changelog is the version in the manifest."""
    headings = re.findall(r"^## (.+)$", CHANGELOG.read_text(), re.MULTILINE)
    releases = [heading for heading in headings if heading != "[Unreleased]"]
    version, _, date = releases[0].partition(" - ")
    assert version == f"[{VERSION}]"
    dates = [dt.date.fromisoformat(x.partition(" - ")[2]) for x in releases]
    assert dates == sorted(dates, reverse=True)
    assert date


def test_changelog_links_each_release() -> None:
    """Each release links to where it is published."""
    text = CHANGELOG.read_text()
    home = read_json(INTEGRATION / "manifest.json")["documentation"]
    for release in re.findall(r"^## \[(\d.*?)\]", text, re.MULTILINE):
        assert f"\n[{release}]: {home}/releases/tag/{release}\n" in text


def test_notes_are_what_the_changelog_says(tree: Path) -> None:
    """The notes of a release are its part of the changelog, without heading and links."""
    done = release_notes(tree, VERSION)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in (tree / "CHANGELOG.md").read_text()
    assert "\n## " not in done.stdout
    assert "/releases/tag/" not in done.stdout


@pytest.mark.parametrize("tag", ["0.0.1", f"v{VERSION}", f"{VERSION}.1", "latest"])
def test_other_tag_is_refused(tree: Path, tag: str) -> None:
    """A tag that is not the version in the manifest makes no release."""
    done = release_notes(tree, tag)
    assert done.returncode == 1
    assert not done.stdout
    assert f"the tag is {tag}" in done.stderr


def test_empty_notes_are_refused(tree: Path) -> None:
    """A release of which the changelog says nothing is none."""
    (tree / "CHANGELOG.md").write_text(
        f"# Changelog\n\n## [{VERSION}] - 2030-01-01\n\n"
    )
    done = release_notes(tree, VERSION)
    assert done.returncode == 1
    assert f"CHANGELOG.md says nothing of {VERSION}" in done.stderr


def test_missing_text_is_refused(tree: Path) -> None:
    """A release has every text in every language; what is missing is said in one line."""
    translations = tree / name_of(ENGLISH.parent)
    forget(translations / "de.json", "issues", "no_contact", "title")
    forget(translations / "fr.json", "issues", "no_contact", "title")
    for path in translations.glob("*.json"):
        if path.stem != "en":
            forget(path, "system_health")
    done = release_notes(tree, VERSION)
    assert done.returncode == 1
    assert not done.stdout
    (line,) = (line for line in done.stderr.splitlines() if "Missing" in line)
    assert line.strip() == (
        "Missing: issues.no_contact.title in de, fr; "
        "system_health.info.accounts, system_health.info.can_reach_server"
        " in all languages but English"
    )


def forget(path: Path, *keys: str) -> None:
    """Take a text, or all below a key, out of a language."""
    texts = read_json(path)
    *parents, last = keys
    below = texts
    for key in parents:
        below = below[key]
    del below[last]
    path.write_text(json.dumps(texts))
