"""Measures a week in Activity and in the databases: python -m tests.tools.week [--bikes N].

With five bikes it writes the tables of docs/week.md.
"""

import argparse
from datetime import timedelta
from pathlib import Path
import sys

import pytest

from tests.tools.tables import fill

from .found import Found
from .options import Options
from .page import PAGE, tables

_TEST = Path(__file__).parents[2] / "test_week.py"


def _write(found: Found) -> None:
    print(f"{found.rides} rides; bytes written to Bike Tracker's own files by day:")
    print(dict(found.written), "in all:", found.written.total())
    if chosen.bikes == Options.bikes:
        fill(PAGE, tables(found))


parser = argparse.ArgumentParser(prog="python -m tests.tools.week")
parser.add_argument("--bikes", type=int, default=Options.bikes)
chosen = parser.parse_args()
week = Options(timedelta(), timedelta(days=7), chosen.bikes, 50_000, _write)
sys.exit(pytest.main([str(_TEST), "-q", "-s", "--timeout", "0"], plugins=[week]))
