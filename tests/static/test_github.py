"""What GitHub runs and shows: workflows, updates, forms."""

from pathlib import Path
import re
from typing import Any

from homeassistant.util.yaml import load_yaml_dict
import pytest

from .project import ROOT, project_files, text_files, under

GITHUB = ROOT / ".github"
WORKFLOWS = under(GITHUB / "workflows", "*.yml")

# A version that can only move forward, or a commit; not a branch.
PINNED = re.compile(r"[\w.-]+/[\w./-]+@(v\d+|[0-9a-f]{40})")
RIGHTS = {"contents": "read"}


def read(path: Path) -> dict[str, Any]:
    """Return what a YAML file says."""
    content: dict[str, Any] = load_yaml_dict(str(path))
    return content


def steps_of(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of all jobs of a workflow."""
    return [step for job in workflow["jobs"].values() for step in job.get("steps", [])]


def test_there_is_a_workflow_for_each_purpose() -> None:
    """Tests, lint, browser, other people's checks and releases run by themselves."""
    names = {path.stem for path in WORKFLOWS}
    assert names == {"test", "lint", "e2e", "validate", "release"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_has_least_rights(path: Path) -> None:
    """A workflow may read; only the job that publishes may write, and only that."""
    workflow = read(path)
    assert workflow["permissions"] == RIGHTS
    for name, job in workflow["jobs"].items():
        rights = {"contents": "write"} if name == "release" else RIGHTS
        assert job.get("permissions", RIGHTS) == rights


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_ends(path: Path) -> None:
    """A job that hangs is stopped."""
    for job in read(path)["jobs"].values():
        assert "uses" in job or job["timeout-minutes"] <= 30


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned(path: Path) -> None:
    """What runs is what was looked at, and is there if it is the project's own."""
    workflow = read(path)
    uses = [
        x["uses"]
        for x in [*workflow["jobs"].values(), *steps_of(workflow)]
        if "uses" in x
    ]
    assert uses or path.stem == "release"
    for action in uses:
        if action.startswith("./"):
            assert (ROOT / action) in project_files(), action
        else:
            assert PINNED.fullmatch(action), action


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_runs_the_commands_people_run(path: Path) -> None:
    """Steps are the project's own commands, which exist."""
    for step in steps_of(read(path)):
        for line in step.get("run", "").splitlines():
            command = line.split()[0]
            assert command == "gh" or (ROOT / command) in project_files(), line


def test_all_that_a_change_has_to_pass_runs() -> None:
    """The workflows run what .ci/run runs, the long form on the newest release."""
    runs = {
        step["run"].replace("${{ matrix.option }}", "").strip()
        for path in WORKFLOWS
        for step in steps_of(read(path))
        if "run" in step
    }
    steps = re.findall(
        r'^  "(scripts/.+)"$', text_files()[ROOT / ".ci" / "run"], re.MULTILINE
    )
    assert steps
    options = {"--long", "--oldest"}
    tests = {f"scripts/test {option}" for option in options}
    assert tests <= set(steps)
    assert set(steps) - tests | {"scripts/test"} <= runs
    matrix = read(GITHUB / "workflows" / "test.yml")["jobs"]["test"]["strategy"][
        "matrix"
    ]
    assert {x["option"] for x in matrix["include"]} == options


def test_release_waits_for_the_tests() -> None:
    """Nothing is published that was not tested, or whose notes are refused."""
    jobs = read(GITHUB / "workflows" / "release.yml")["jobs"]
    assert set(jobs["release"]["needs"]) == {"test", "lint", "e2e"}
    assert all(jobs[name]["needs"] == "notes" for name in jobs["release"]["needs"])


def test_updates_cover_all_that_is_pinned() -> None:
    """Dependabot looks where versions are pinned."""
    updates = read(GITHUB / "dependabot.yml")
    assert updates["version"] == 2
    places = {x["package-ecosystem"]: x["directory"] for x in updates["updates"]}
    assert places == {"github-actions": "/", "pip": "/requirements"}


def test_a_bug_comes_with_diagnostics() -> None:
    """Who reports a bug is asked for diagnostics and versions, and has to answer."""
    fields = {
        x.get("id"): x for x in read(GITHUB / "ISSUE_TEMPLATE" / "bug.yml")["body"]
    }
    for field in ("problem", "diagnostics", "home-assistant", "bike-tracker"):
        assert fields[field]["validations"]["required"]


def test_pull_requests_say_what_is_asked_for() -> None:
    """There is a template for pull requests."""
    assert GITHUB / "PULL_REQUEST_TEMPLATE.md" in project_files()
