"""The workflows: few permissions, pinned actions, and the checks of `.ci/run`."""

import re
from typing import Any

from homeassistant.util.yaml import load_yaml_dict
import pytest

from .project import ROOT, project_files, text_files, under

GITHUB = ROOT / ".github"
# A version that only moves forward, or a commit.
PINNED = re.compile(r"[\w.-]+/[\w./-]+@(v\d+|[0-9a-f]{40})")
READ_ONLY = {"contents": "read"}
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
    """Only the release may write, jobs time out, and actions and commands are known."""
    workflow = WORKFLOWS[name]
    assert workflow["permissions"] == READ_ONLY
    for key, job in workflow["jobs"].items():
        allowed = {"contents": "write"} if key == "release" else READ_ONLY
        assert job.get("permissions", READ_ONLY) == allowed
        assert "uses" in job or job["timeout-minutes"] <= 30
    for part in [*workflow["jobs"].values(), *steps_of(name)]:
        action = part.get("uses", "")
        if action.startswith("./"):
            assert ROOT / action in project_files(), action
        else:
            assert not action or PINNED.fullmatch(action), action
        for line in part.get("run", "").splitlines():
            command = line.split()[0]
            assert command == "gh" or ROOT / command in project_files(), line


def test_workflows_run_all_checks() -> None:
    """The workflows run the steps of .ci/run, the long tests on the newest release."""
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
    """A release is published after its notes and all tests passed."""
    jobs = WORKFLOWS["release"]["jobs"]
    assert {*jobs["release"]["needs"]} == {"test", "lint", "e2e"}
    assert all(jobs[name]["needs"] == "notes" for name in jobs["release"]["needs"])
