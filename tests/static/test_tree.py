"""The repository contains nothing of one machine, one network or one person."""

from pathlib import Path
import re

import pytest

from .project import ROOT, name_of, text_files, under

# A folder of one machine or person.
MACHINE_PATH = re.compile(
    r"(?<![\w.}~$-])(?:/(?:home|root|Users|work|opt|mnt|srv|farm|private)/[\w.]"
    r"|/tmp/[\w.]|[A-Z]:\\Users\\)"
)
# A host of packages: people configure their own.
REGISTRY_HOST = re.compile(
    r"\w+://[\w.-]*\b(?:pypi|registry|mirrors?|artifactory|nexus|packages)\b[\w-]*\.",
    re.IGNORECASE,
)
INDEX_OPTION = re.compile(
    r"^\s*(?:-i|-f|--(?:index-url|extra-index-url|find-links|trusted-host|default-index"
    r"|index))\b",
    re.MULTILINE,
)
PINNED = re.compile(r"[\w.-]+(\[[\w,-]+\])?==[\w.!+]+( ; .*)? \\")
REQUIREMENTS = under(ROOT / "requirements", "*")


def places_of(pattern: re.Pattern[str]) -> list[str]:
    """Return the lines that match a pattern, except those of this file."""
    return [
        f"{name_of(path)}:{number}: {line.strip()}"
        for path, text in text_files().items()
        if path != Path(__file__)
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_nothing_of_one_machine() -> None:
    """No file names a folder of one machine, or a host of packages."""
    assert not places_of(MACHINE_PATH)
    assert not places_of(REGISTRY_HOST)


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_requirements(path: Path) -> None:
    """Requirements name no address. Compiled ones pin versions and hashes."""
    text = path.read_text()
    assert not INDEX_OPTION.search(text)
    assert "://" not in text
    if path.suffix == ".txt":
        comments = ("#", "--hash=sha256:")
        lines = [it for it in text.splitlines() if not it.lstrip().startswith(comments)]
        assert any(lines)
        assert not [line for line in lines if line and not PINNED.fullmatch(line)]
        assert path.with_suffix(".in") in REQUIREMENTS


def test_scripts_can_be_run() -> None:
    """Commands are executable and name their interpreter."""
    for path in [*(ROOT / "scripts").iterdir(), ROOT / ".ci" / "run"]:
        if path in text_files():
            assert path.stat().st_mode & 0o111, name_of(path)
            assert text_files()[path].startswith("#!/usr/bin/env "), name_of(path)
