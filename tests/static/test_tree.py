"""The repository: nothing of one machine, one network or one person is in it."""

from pathlib import Path
import re

import pytest

from .project import ROOT, name_of, text_files, under

# A folder of one machine or one person, not one that every machine has.
MACHINE_PATH = re.compile(
    r"(?<![\w.}~$-])(?:/(?:home|root|Users|work|opt|mnt|srv|farm|private)/[\w.]"
    r"|/tmp/[\w.]|[A-Z]:\\Users\\)"
)
# A host that packages come from: people have their own, and set it on their machine.
REGISTRY_HOST = re.compile(
    r"\w+://[\w.-]*\b(?:pypi|registry|mirrors?|artifactory|nexus|packages)\b[\w-]*\.",
    re.IGNORECASE,
)
INDEX_OPTION = re.compile(
    r"^\s*(?:-i|-f|--(?:index-url|extra-index-url|find-links|trusted-host|default-index"
    r"|index))\b",
    re.MULTILINE,
)
LOCK_FILE = re.compile(
    r"(uv|poetry|pdm|yarn)\.lock|pylock(\..+)?\.toml|package-lock\.json|pnpm-lock\.yaml"
)
PINNED = re.compile(r"[\w.-]+(\[[\w,-]+\])?==[\w.!+]+( ; .*)? \\")

REQUIREMENTS = under(ROOT / "requirements", "*")


def places_of(pattern: re.Pattern[str]) -> list[str]:
    """Return the lines in which a pattern is found, with their places."""
    return [
        f"{name_of(path)}:{number}: {line.strip()}"
        for path, text in text_files().items()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "see /home/ann/bike",
        '"/mnt/.cache"',
        "PATH=/opt/tool/bin",
        "(/tmp/x)",
        r"C:\Users\ann",
    ],
)
def test_path_of_one_machine(text: str) -> None:
    """A path of one machine is known as such."""
    assert MACHINE_PATH.search(text)


@pytest.mark.parametrize(
    "text",
    ["/usr/share/keyrings", "/config/home/x", "~/opt/x", "$HOME/opt/x", "a/opt/x"],
)
def test_path_of_all_machines(text: str) -> None:
    """A path that every machine has, or that is relative, is not meant."""
    assert not MACHINE_PATH.search(text)


def test_no_file_holds_a_path_of_a_machine() -> None:
    """What works here works elsewhere."""
    here = name_of(Path(__file__))
    assert not [x for x in places_of(MACHINE_PATH) if not x.startswith(here)]


def test_no_file_names_where_packages_come_from() -> None:
    """Packages come from wherever the person's machine gets them."""
    assert not places_of(REGISTRY_HOST)


def test_no_lock_file_is_kept() -> None:
    """Requirements are pinned in requirements/, whose files name no hosts."""
    assert not [name_of(p) for p in text_files() if LOCK_FILE.fullmatch(p.name)]


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_requirements_name_no_index(path: Path) -> None:
    """No requirement file names a package index or an address."""
    text = path.read_text()
    assert not INDEX_OPTION.search(text)
    assert "://" not in text


@pytest.mark.parametrize(
    "path",
    [path for path in REQUIREMENTS if path.suffix == ".txt"],
    ids=lambda path: path.name,
)
def test_requirements_are_pinned(path: Path) -> None:
    """Each package is of one version, and known by its hashes."""
    lines = [
        line
        for line in path.read_text().splitlines()
        if line and not line.lstrip().startswith(("#", "--hash=sha256:"))
    ]
    assert lines
    assert not [line for line in lines if not PINNED.fullmatch(line)]
    assert path.with_suffix(".in") in REQUIREMENTS


def test_scripts_can_be_run() -> None:
    """A command that people type is executable and says what runs it."""
    for path in [*(ROOT / "scripts").iterdir(), ROOT / ".ci" / "run"]:
        if path in text_files() and path.parent != ROOT / "scripts" / "lib":
            assert path.stat().st_mode & 0o111, name_of(path)
            assert text_files()[path].startswith("#!/usr/bin/env "), name_of(path)
