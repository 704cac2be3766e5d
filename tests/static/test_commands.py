"""The commands explain themselves, and their help costs nothing."""

from pathlib import Path
import re
import shutil
import subprocess
import sys

import pytest

from .project import ROOT, project_files

SCRIPTS = [path.name for path in project_files() if path.parent == ROOT / "scripts"]
# The program that reads the options of a command.
PROGRAMS = {
    "mutate": "scripts.lib.mutate",
    "demo": "tests.tools.demo.demo",
    "benchmark": "tests.tools.benchmark",
    "soak": "tests.tools.soak",
}


def output(*command: str | Path) -> str:
    """Return the help of a command."""
    return subprocess.run(  # noqa: S603
        [*command, "--help"], check=True, capture_output=True, text=True, cwd=ROOT
    ).stdout


@pytest.mark.parametrize("name", [".ci/run", *(f"scripts/{name}" for name in SCRIPTS)])
def test_help_installs_nothing(tmp_path: Path, name: str) -> None:
    """The help of a command works in a fresh clone."""
    for folder in ("scripts", ".ci"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    before = set(tmp_path.iterdir())
    assert name in output(tmp_path / name)
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize(("name", "program"), PROGRAMS.items())
def test_help_names_each_option(name: str, program: str) -> None:
    """The help of a command lists the options of its program."""
    if name == "mutate":
        pytest.importorskip("libcst", reason="scripts/mutate needs the newest release")
    options = re.findall(r"--[a-z-]+", output(sys.executable, "-m", program))
    listed = re.findall(r"--[a-z-]+", output(ROOT / "scripts" / name))
    assert {*options} - {"--help"} <= {*listed}
