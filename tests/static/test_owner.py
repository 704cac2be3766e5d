"""The name of the repository: in few places, and changed by one command."""

from pathlib import Path
import re
import shutil
import subprocess
import sys

import pytest

from .project import INTEGRATION, name_of, project_files, read_json, text_files

MANIFEST = INTEGRATION / "manifest.json"
OWNER, REPOSITORY = read_json(MANIFEST)["documentation"].split("/")[-2:]
# All ways to write the name in an address.
MENTION = re.compile(
    rf"{re.escape(OWNER)}(?:/|%2F|&repository=){re.escape(REPOSITORY)}|\"@{re.escape(OWNER)}\"",
    re.IGNORECASE,
)


@pytest.fixture(name="tree")
def tree_fixture(tmp_path: Path) -> Path:
    """Return a copy of the project."""
    for path in project_files():
        target = tmp_path / name_of(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    return tmp_path


def set_owner(tree: Path, argument: str) -> dict[str, str]:
    """Change the name in a copy of the project, and return its text files."""
    script = tree / "scripts" / "lib" / "set_owner.py"
    subprocess.run([sys.executable, script, argument], check=True)  # noqa: S603
    return {name_of(path): (tree / name_of(path)).read_text() for path in text_files()}


def test_set_owner(tree: Path) -> None:
    """No place keeps the old name, and the way back changes nothing else."""
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
