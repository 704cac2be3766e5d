"""Polls for a month: python -m tests.soak --help."""

import argparse
from pathlib import Path
import sys

import pytest

from .options import POLLS_A_DAY, Options

TEST = Path(__file__).parents[1] / "test_soak.py"


def main() -> int:
    """Run, and return 0 if nothing grew."""
    parser = argparse.ArgumentParser(
        prog="scripts/soak",
        description="Polls as often as in so many days, with every trouble there is between the polls, and fails if"
        " anything piles up: memory, tasks, timers, listeners or connections. A month takes a few minutes.",
    )
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1, help="other troubles")
    arguments = parser.parse_args()
    options = Options(
        polls=arguments.days * POLLS_A_DAY, seed=arguments.seed, say=print
    )
    command = [str(TEST), "-q", "-s", "--timeout", "0"]
    return pytest.main(command, plugins=[options])


sys.exit(main())
