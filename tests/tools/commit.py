"""The commit that something was measured at."""

from pathlib import Path
import subprocess


def current_commit() -> str:
    """Return the short name of the commit that is checked out."""
    return subprocess.run(
        ["git", "rev-parse", "--short=10", "HEAD"],  # noqa: S607
        cwd=Path(__file__).parent,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
