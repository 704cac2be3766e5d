"""A power cut loses nothing that is older than ten seconds."""

import subprocess
import sys

import pytest

from .long import TIMES
from .static.project import ROOT


@pytest.mark.timeout(120 * TIMES)
def test_power_cuts() -> None:
    """Real processes that are killed leave a sound file with all that they knew."""
    command = [sys.executable, "-m", "tests.tools.power_cut", str(4 * TIMES), "7"]
    run = subprocess.run(  # noqa: S603
        command, check=False, capture_output=True, text=True, cwd=ROOT
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert f"{4 * TIMES} killed" in run.stdout
