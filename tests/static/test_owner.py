"""The repository's owner: named in few places, and changed by one command."""

from pathlib import Path
import re
import shutil
import subprocess
import sys

import pytest

from .project import INTEGRATION, ROOT, name_of, project_files, read_json, text_files

OWNER, REPOSITORY = (
    read_json(INTEGRATION / "manifest.json")["documentation"]
    .removeprefix("https://github.com/")
    .split("/")
)
# However the name is written in an address.
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


def set_owner(tree: Path, argument: str) -> subprocess.CompletedProcess[str]:
    """Name another repository."""
    return subprocess.run(  # noqa: S603
        [sys.executable, tree / "scripts" / "lib" / "set_owner.py", argument],
        check=False,
        capture_output=True,
        text=True,
    )


def texts_in(tree: Path) -> dict[str, str]:
    """Return the text of each file in a copy of the project."""
    return {name_of(path): (tree / name_of(path)).read_text() for path in text_files()}


def test_manifest_names_one_repository() -> None:
    """All that the manifest says of the repository belongs together."""
    manifest = read_json(INTEGRATION / "manifest.json")
    assert manifest["documentation"] == f"https://github.com/{OWNER}/{REPOSITORY}"
    assert manifest["issue_tracker"] == f"{manifest['documentation']}/issues"
    assert manifest["codeowners"] == [f"@{OWNER}"]


def test_nothing_of_the_old_owner_is_left(tree: Path) -> None:
    """Every place that named the repository names the new one."""
    assert set_owner(tree, "ann-42/two.wheels").returncode == 0
    after = texts_in(tree)
    assert not {name for name, text in after.items() if MENTION.search(text)}
    manifest = read_json(tree / name_of(INTEGRATION / "manifest.json"))
    assert manifest["documentation"] == "https://github.com/ann-42/two.wheels"
    assert manifest["issue_tracker"] == "https://github.com/ann-42/two.wheels/issues"
    assert manifest["codeowners"] == ["@ann-42"]
    readme = after["README.md"]
    assert "?owner=ann-42&repository=two.wheels&" in readme
    assert "%2Fann-42%2Ftwo.wheels%2Fblob%2Fmain%2Fblueprints" in readme


def test_nothing_else_is_changed(tree: Path) -> None:
    """The way back leads to where it began."""
    before = texts_in(tree)
    assert set_owner(tree, "ann-42/two.wheels").returncode == 0
    assert set_owner(tree, f"{OWNER}/{REPOSITORY}").returncode == 0
    assert texts_in(tree) == before


def test_places_that_name_it_are_documented() -> None:
    """CONTRIBUTING.md lists each file, or its folder, that names the repository."""
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    names = [
        name_of(path) for path, text in text_files().items() if MENTION.search(text)
    ]
    assert names
    for name in names:
        folder = f"{name.rpartition('/')[0]}/"
        assert f"`{name}`" in contributing or f"`{folder}`" in contributing
