"""Fixtures for tests of the project's files."""

from pathlib import Path
import shutil

import pytest

from .project import name_of, project_files


@pytest.fixture(autouse=True)
def integration() -> None:
    """Override the fixture that starts Home Assistant: tests of files do not need it."""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of the project, which a test may change."""
    for path in project_files():
        target = tmp_path / name_of(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    return tmp_path
