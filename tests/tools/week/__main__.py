"""Measures what a week leaves in Activity and in the database, and writes docs/week.md: python -m tests.tools.week."""

from datetime import timedelta
from pathlib import Path
import sys

import pytest

from tests.tools.commit import measured_at

from .found import Found
from .options import Options
from .page import PAGE, page

_TEST = Path(__file__).parents[2] / "test_week.py"


def _write(found: Found) -> None:
    PAGE.write_text(page(found) + measured_at())
    print(f"\nWrote {PAGE.name}")


week = Options(begin=timedelta(), length=timedelta(days=7), take=_write)
sys.exit(pytest.main([str(_TEST), "-q", "-s", "--timeout", "0"], plugins=[week]))
