"""Simulated nights of a guarded bike: no false alarm is raised, and each theft is noticed."""

import pytest

from ..long import IS_LONG, longest
from ..tools.guard.__main__ import PAGE, table
from ..tools.guard.nights import CASES, Case, Nights
from ..tools.tables import tables_of

# docs/guard.md shows the results of all cases, and of more nights.
_NAMES = ("6 m, as reported", "clock put right")
_CASES = [case for case in CASES if case.world.name in _NAMES]


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.world.name)
def test_nights(case: Case) -> None:
    """While the bike is parked, nothing triggers the guard.

    If the bike is carried off, the third report at the latest triggers the guard. In
    all other thefts, the first report does.
    """
    found = Nights(case).run(3)
    assert found.false_alarms == 0
    assert set(found.carried) <= {1, 2, 3}
    assert found.says_so == found.driven == found.ridden == {1: 3}


@longest
@pytest.mark.skipif(not IS_LONG, reason="measures all worlds")
def test_page() -> None:
    """The last table of docs/guard.md has the measured values."""
    assert tables_of(PAGE)[-1] == table()
