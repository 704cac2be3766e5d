"""List and read the files of the project."""

import ast
from functools import cache
import json
from pathlib import Path
import subprocess
from typing import Any

ROOT = Path(__file__).parents[2]
INTEGRATION = ROOT / "custom_components" / "bike_tracker"


def read_json(path: Path) -> Any:
    """Return the content of a JSON file. Raise ValueError if an object has the same key twice."""
    return json.loads(path.read_text(), object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError(f"repeated key in {[key for key, _ in pairs]}")
    return found


@cache
def project_files() -> tuple[Path, ...]:
    """Return all files of the repository, even untracked files, except files that Git ignores."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)  # noqa: S603
    names = sorted(set(filter(None, listed.stdout.decode().split("\0"))))
    return tuple(path for name in names if (path := ROOT / name).is_file())


@cache
def text_files() -> dict[Path, str]:
    """Return the content of each text file of the repository, by path. Files with a null byte are no text files."""
    data = {path: path.read_bytes() for path in project_files()}
    return {path: it.decode() for path, it in data.items() if b"\0" not in it}


def under(folder: Path, pattern: str) -> list[Path]:
    """Return the files in a folder and its subfolders whose names match a pattern."""
    return [
        path
        for path in project_files()
        if path.is_relative_to(folder) and path.full_match(f"**/{pattern}")
    ]


@cache
def syntax_trees() -> dict[Path, ast.Module]:
    """Return the parsed modules of the integration, by path."""
    paths = under(INTEGRATION, "*.py")
    return {path: ast.parse(path.read_text(), str(path)) for path in paths}


def name_of(path: Path) -> str:
    """Return the path of a file relative to the repository."""
    return path.relative_to(ROOT).as_posix()
