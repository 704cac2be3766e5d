"""Polls for a month, or rides for a year: python -m tests.tools.soak --help."""

import argparse
import os
from pathlib import Path
import sys

import pytest

from .options import POLLS_A_DAY, Options

TESTS = Path(__file__).parents[2]


def main() -> int:
    """Run, and return 0 if nothing grew."""
    parser = argparse.ArgumentParser(
        prog="scripts/soak",
        description="Polls as often as in so many days, with every trouble there is between the polls, and fails if"
        " anything piles up: memory, tasks, timers, listeners or connections. A month takes a few minutes.",
    )
    parser.add_argument(
        "--rides",
        action="store_true",
        help="ride for a year instead, and fail if a ride is lost or invented, or kilometres are wrong",
    )
    parser.add_argument("--days", type=int, help="30, or 365 with --rides")
    parser.add_argument("--seed", type=int, default=1, help="other troubles")
    arguments = parser.parse_args()
    days = arguments.days or (365 if arguments.rides else 30)
    options = Options(polls=days * POLLS_A_DAY, seed=arguments.seed, say=print)
    test = TESTS / (
        "tracking/test_year_of_rides.py" if arguments.rides else "test_soak.py"
    )
    command = [str(test), "-q", "-s", "--timeout", "0"]
    # Nothing of it is left out.
    os.environ["LONG"] = "5"
    return pytest.main(command, plugins=[options])


sys.exit(main())
