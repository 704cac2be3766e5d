"""Measures what a week leaves in Activity and in the database, and writes the tables of docs/week.md: python -m tests.tools.week."""

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
    fill(PAGE, tables(found))


week = Options(begin=timedelta(), length=timedelta(days=7), take=_write)
sys.exit(pytest.main([str(_TEST), "-q", "-s", "--timeout", "0"], plugins=[week]))
