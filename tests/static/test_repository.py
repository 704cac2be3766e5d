"""The repository: its name, its commands, its workflows, and no trace of a machine or person."""

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

# The path of a folder on a certain machine, or of a certain person.
MACHINE_PATH = re.compile(
    r"(?<![\w.}~$-])(?:/(?:home|root|Users|work|opt|mnt|srv|farm|private)/[\w.]"
    r"|/tmp/[\w.]|[A-Z]:\\Users\\)"
)
# The host of a package registry. Files must not name one: users configure their own.
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
    """Return the lines that match a pattern, in every file except this one."""
    return [
        f"{name_of(path)}:{number}: {line.strip()}"
        for path, text in text_files().items()
        if path != Path(__file__)
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_nothing_of_one_machine() -> None:
    """No file contains the path of a folder on one machine, or the host of a package registry."""
    assert not places_of(MACHINE_PATH)
    assert not places_of(REGISTRY_HOST)


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_requirements(path: Path) -> None:
    """Requirement files contain no address. Compiled files pin versions and hashes."""
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
    """Each command is executable, and its first line names the interpreter."""
    for path in [*(ROOT / "scripts").iterdir(), ROOT / ".ci" / "run"]:
        if path in text_files():
            assert path.stat().st_mode & 0o111, name_of(path)
            assert text_files()[path].startswith("#!/usr/bin/env "), name_of(path)


SCRIPTS = [path.name for path in project_files() if path.parent == ROOT / "scripts"]


@pytest.mark.parametrize("name", [".ci/run", *(f"scripts/{name}" for name in SCRIPTS)])
def test_help_installs_nothing(tree: Path, name: str) -> None:
    """The help of a command works in a fresh clone, and installs nothing."""
    before = set(tree.iterdir())
    command = [str(tree / name), "--help"]
    run = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    assert name in run.stdout
    assert set(tree.iterdir()) == before


MANIFEST = INTEGRATION / "manifest.json"
OWNER, REPOSITORY = read_json(MANIFEST)["documentation"].split("/")[-2:]
# The name of the repository in each form that addresses contain.
MENTION = re.compile(
    rf"{re.escape(OWNER)}(?:/|%2F|&repository=){re.escape(REPOSITORY)}|\"@{re.escape(OWNER)}\"",
    re.IGNORECASE,
)


def set_owner(tree: Path, argument: str) -> dict[str, str]:
    """Change the name of the repository in a copy of the project. Return all text files."""
    script = tree / "scripts" / "lib" / "set_owner.py"
    subprocess.run([sys.executable, script, argument], check=True)  # noqa: S603
    return {name_of(path): (tree / name_of(path)).read_text() for path in text_files()}


def test_set_owner(tree: Path) -> None:
    """The old name is replaced everywhere. Changing it back gives the original files."""
    after = set_owner(tree, "ann-42/two.wheels")
    assert not {name for name, text in after.items() if MENTION.search(text)}
    manifest = read_json(tree / name_of(MANIFEST))
    assert manifest["documentation"] == "https://github.com/ann-42/two.wheels"
    assert manifest["issue_tracker"] == "https://github.com/ann-42/two.wheels/issues"
    assert manifest["codeowners"] == ["@ann-42"]
    assert "?owner=ann-42&repository=two.wheels&" in after["README.md"]
    assert "%2Fann-42%2Ftwo.wheels%2Fblob%2Fmain%2Fblueprints" in after["README.md"]
    before = {name_of(path): text for path, text in text_files().items()}
    assert set_owner(tree, f"{OWNER}/{REPOSITORY}") == before


GITHUB = ROOT / ".github"
WORKFLOWS: dict[str, dict[str, Any]] = {
    path.stem: load_yaml_dict(str(path))
    for path in under(GITHUB / "workflows", "*.yml")
}


def steps_of(name: str) -> list[dict[str, Any]]:
    """Return the steps of all jobs of a workflow."""
    return [
        it for job in WORKFLOWS[name]["jobs"].values() for it in job.get("steps", [])
    ]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_workflow(name: str) -> None:
    """Each job has a timeout, and its commands exist. Permissions and pins are checked by `zizmor`."""
    jobs = WORKFLOWS[name]["jobs"].values()
    assert all("uses" in job or job["timeout-minutes"] <= 30 for job in jobs)
    for part in steps_of(name):
        for line in part.get("run", "").splitlines():
            command = line.split()[0]
            assert command == "gh" or ROOT / command in project_files(), line


def test_workflows_run_all_checks() -> None:
    """The workflows run all steps of .ci/run. The tests run with `--long` and with `--oldest`."""
    runs = {
        step["run"].replace("${{ matrix.option }}", "").strip()
        for name in WORKFLOWS
        for step in steps_of(name)
        if "run" in step
    }
    ci = text_files()[ROOT / ".ci" / "run"]
    steps = {*re.findall(r'^  "(scripts/.+)"$', ci, re.MULTILINE)}
    options = {"--long", "--oldest"}
    tests = {f"scripts/test {option}" for option in options}
    assert tests <= steps
    assert steps - tests | {"scripts/test"} <= runs
    matrix = WORKFLOWS["test"]["jobs"]["test"]["strategy"]["matrix"]
    assert {it["option"] for it in matrix["include"]} == options


def test_release_waits_for_the_tests() -> None:
    """A release is only published after its notes were made and all tests passed."""
    jobs = WORKFLOWS["release"]["jobs"]
    assert {*jobs["release"]["needs"]} == {"test", "lint", "e2e"}
    assert all(jobs[name]["needs"] == "notes" for name in jobs["release"]["needs"])
