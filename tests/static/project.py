"""The files of the project, and how to read them."""

import ast
from functools import cache
import json
from pathlib import Path
import subprocess
from typing import Any

ROOT = Path(__file__).parents[2]
INTEGRATION = ROOT / "custom_components" / "bike_tracker"


def read_json(path: Path) -> Any:
    """Return what a JSON file says; ValueError if an object has a key twice."""
    return json.loads(path.read_text(), object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if twice := {key for key in keys if keys.count(key) > 1}:
        raise ValueError(f"keys given twice: {sorted(twice)}")
    return dict(pairs)


@cache
def project_files() -> tuple[Path, ...]:
    """Return the files that are, or are about to be, in the repository."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],  # noqa: S607
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = sorted(set(filter(None, listed.split("\0"))))
    return tuple(path for name in names if (path := ROOT / name).is_file())


@cache
def text_files() -> dict[Path, str]:
    """Return the text of every file of the project that is text."""
    texts = {}
    for path in project_files():
        data = path.read_bytes()
        if b"\0" not in data:
            texts[path] = data.decode()
    return texts


def under(folder: Path, pattern: str) -> list[Path]:
    """Return the project's files in a folder whose names match."""
    return [
        path
        for path in project_files()
        if path.is_relative_to(folder) and path.full_match(f"**/{pattern}")
    ]


@cache
def syntax_trees() -> dict[Path, ast.Module]:
    """Return the parsed modules of the integration."""
    return {
        path: ast.parse(path.read_text(), str(path))
        for path in under(INTEGRATION, "*.py")
    }


def name_of(path: Path) -> str:
    """Return a file's name as a reader of a failed test knows it."""
    return path.relative_to(ROOT).as_posix()
