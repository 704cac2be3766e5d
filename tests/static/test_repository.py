"""Checks of the repository: its name, its commands, its workflows, and no trace of a machine or person."""

from pathlib import Path
import re
import subprocess
import sys
from typing import Any

from homeassistant.util.yaml import load_yaml_dict
import pytest

from .project import (
    INTEGRATION,
    ROOT,
    name_of,
    project_files,
    read_json,
    text_files,
    under,
)

# Matches the path of a folder of a single machine or person, and the address of a
# package registry. No file may contain them, because they differ between users.
ONE_MACHINE = re.compile(
    r"(?<![\w.}~$-])(?:/(?:home|root|Users|work|opt|mnt|srv|farm|private)/[\w.]"
    r"|/tmp/[\w.]|[A-Z]:\\Users\\)"
    r"|\w+://[\w.-]*\b(?i:pypi|registry|mirrors?|artifactory|nexus|packages)\b[\w-]*\."
)
PINNED = re.compile(r"[\w.-]+(\[[\w,-]+\])?==[\w.!+]+( ; .*)? \\")
REQUIREMENTS = under(ROOT / "requirements", "*")


def test_nothing_of_one_machine() -> None:
    """No file except this file contains the path of a folder on one machine, or the host of a package registry."""
    assert not [
        f"{name_of(path)}: {line.strip()}"
        for path, text in text_files().items()
        if path != Path(__file__)
        for line in text.splitlines()
        if ONE_MACHINE.search(line)
    ]


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_requirements(path: Path) -> None:
    """Requirement files contain no address. In `.txt` files, each line pins a version or contains a hash."""
    text = path.read_text()
    assert "://" not in text
    if path.suffix == ".txt":
        comments = ("#", "--hash=sha256:")
        lines = [it for it in text.splitlines() if not it.lstrip().startswith(comments)]
        assert any(lines)
        assert not [line for line in lines if line and not PINNED.fullmatch(line)]


COMMANDS = (ROOT / ".ci", ROOT / "scripts")


@pytest.mark.parametrize(
    "name", [name_of(path) for path in project_files() if path.parent in COMMANDS]
)
def test_help_installs_nothing(tree: Path, name: str) -> None:
    """The option `--help` of each command works in a fresh clone, and adds nothing to the clone's folder."""
    before = set(tree.iterdir())
    command = [str(tree / name), "--help"]
    run = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    assert name in run.stdout
    assert set(tree.iterdir()) == before


MANIFEST = INTEGRATION / "manifest.json"
OWNER, REPOSITORY = read_json(MANIFEST)["documentation"].split("/")[-2:]
# Matches the repository's name in each form of an address, and its owner's name.
MENTION = re.compile(
    rf"{re.escape(OWNER)}(?:/|%2F|&repository=){re.escape(REPOSITORY)}|\"@{re.escape(OWNER)}\"",
    re.IGNORECASE,
)


def set_owner(tree: Path, argument: str) -> dict[str, str]:
    """Set the repository's owner and name in a copy of the project. Return the content of its text files, by path."""
    script = tree / "scripts" / "lib" / "set_owner.py"
    subprocess.run([sys.executable, script, argument], check=True)  # noqa: S603
    return {name_of(path): (tree / name_of(path)).read_text() for path in text_files()}


def test_set_owner(tree: Path) -> None:
    """The script replaces the repository's name everywhere. After a change back, all files are as before."""
    after = set_owner(tree, "ann-42/two.wheels")
    assert not {name for name, text in after.items() if MENTION.search(text)}
    manifest = read_json(tree / name_of(MANIFEST))
    assert manifest["issue_tracker"] == "https://github.com/ann-42/two.wheels/issues"
    assert manifest["codeowners"] == ["@ann-42"]
    assert "?owner=ann-42&repository=two.wheels&" in after["README.md"]
    assert "%2Fann-42%2Ftwo.wheels%2Fblob%2Fmain%2Fblueprints" in after["README.md"]
    before = {name_of(path): text for path, text in text_files().items()}
    assert set_owner(tree, f"{OWNER}/{REPOSITORY}") == before


WORKFLOWS: dict[str, Any] = {
    path.stem: load_yaml_dict(str(path))["jobs"]
    for path in under(ROOT / ".github" / "workflows", "*.yml")
}


def test_workflows_run_all_checks() -> None:
    """The workflows run each script that is a step of .ci/run, with the same options as in .ci/run."""
    runs = {
        step.get("run")
        for jobs in WORKFLOWS.values()
        for job in jobs.values()
        for step in job.get("steps", ())
    }
    tests = "scripts/test ${{ matrix.option }}"
    matrix = WORKFLOWS["test"]["test"]["strategy"]["matrix"]["include"]
    runs |= {tests.replace("${{ matrix.option }}", it["option"]) for it in matrix}
    ci = text_files()[ROOT / ".ci" / "run"]
    assert tests in runs
    assert {*re.findall(r'^  "(scripts/.+)"$', ci, re.MULTILINE)} <= runs


def test_release_waits_for_the_tests() -> None:
    """A release is only published after its notes were made, and after all checks passed."""
    jobs = WORKFLOWS["release"]
    assert {*jobs["release"]["needs"]} == {"test", "lint", "e2e"}
    assert all(jobs[name]["needs"] == "notes" for name in jobs["release"]["needs"])
