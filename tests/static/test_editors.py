"""Editors: what they are told to use is what the scripts make."""

import re

from .project import ROOT, project_files, read_json

VSCODE = ROOT / ".vscode"


def test_tasks_are_commands_that_exist() -> None:
    """Each task of the editor runs a command of the project."""
    for task in read_json(VSCODE / "tasks.json")["tasks"]:
        assert ROOT / task["command"].split()[0] in project_files(), task["label"]


def test_editor_uses_the_environment_of_the_tests() -> None:
    """The editor runs the tools that scripts/setup installs."""
    settings = read_json(VSCODE / "settings.json")
    folder = "${workspaceFolder}/.venv/test/bin"
    assert settings["python.defaultInterpreterPath"] == f"{folder}/python"
    assert settings["ruff.path"] == [f"{folder}/ruff"]


def test_dev_container_sets_itself_up() -> None:
    """The dev container has the wanted Python and runs scripts/setup."""
    container = read_json(ROOT / ".devcontainer" / "devcontainer.json")
    wanted = re.search(
        r'^requires-python = ">=(\d+\.\d+)',
        (ROOT / "pyproject.toml").read_text(),
        re.MULTILINE,
    )
    assert wanted
    assert container["image"].startswith(f"python:{wanted[1]}-")
    assert container["postCreateCommand"].split()[0] == "scripts/setup"


def test_both_recommend_the_same_extensions() -> None:
    """It makes no difference whether one works in the container."""
    container = read_json(ROOT / ".devcontainer" / "devcontainer.json")
    inside = container["customizations"]["vscode"]["extensions"]
    assert inside == read_json(VSCODE / "extensions.json")["recommendations"]
