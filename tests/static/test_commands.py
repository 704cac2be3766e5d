"""The commands: what they say of themselves, and that asking costs nothing."""

from pathlib import Path
import re
import shutil
import subprocess
import sys

import pytest

from .project import ROOT, project_files

SCRIPTS = [path.name for path in project_files() if path.parent == ROOT / "scripts"]
PROGRAMS = {
    "mutate": "scripts.lib.mutate",
    "demo": "tests.tools.demo.demo",
    "benchmark": "tests.tools.benchmark",
    "soak": "tests.tools.soak",
}
"""What takes the options of a command."""


def ask(folder: Path, name: str) -> str:
    """Return what a command says of itself."""
    return subprocess.run(  # noqa: S603
        [folder / name, "--help"], check=True, capture_output=True, text=True
    ).stdout


@pytest.mark.parametrize("name", [".ci/run", *(f"scripts/{name}" for name in SCRIPTS)])
def test_help_installs_nothing(tmp_path: Path, name: str) -> None:
    """Whoever asks how a command works is told, in a clone where nothing was installed yet."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    before = set(tmp_path.iterdir())
    assert name in ask(tmp_path, name)
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize(("name", "program"), PROGRAMS.items())
def test_help_names_each_option(name: str, program: str) -> None:
    """What a command says of its options is what its program takes."""
    if name == "mutate":
        pytest.importorskip(
            "libcst", reason="scripts/mutate runs in the newest one alone"
        )
    said = subprocess.run(  # noqa: S603
        [sys.executable, "-m", program, "--help"],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    ).stdout
    options = set(re.findall(r"--[a-z-]+", said)) - {"--help"}
    assert options <= set(re.findall(r"--[a-z-]+", ask(ROOT, f"scripts/{name}")))
