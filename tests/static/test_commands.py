"""The commands explain themselves, and their help costs nothing."""

from pathlib import Path
import shutil
import subprocess

import pytest

from .project import ROOT, project_files

SCRIPTS = [path.name for path in project_files() if path.parent == ROOT / "scripts"]


@pytest.mark.parametrize("name", [".ci/run", *(f"scripts/{name}" for name in SCRIPTS)])
def test_help_installs_nothing(tmp_path: Path, name: str) -> None:
    """The help of a command works in a fresh clone."""
    for folder in ("scripts", ".ci"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    before = set(tmp_path.iterdir())
    command = [str(tmp_path / name), "--help"]
    run = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    assert name in run.stdout
    assert set(tmp_path.iterdir()) == before
