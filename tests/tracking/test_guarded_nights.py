"""Simulated nights of a guarded bike: no false alarm is raised, and each theft is noticed."""

import pytest

from ..long import IS_LONG, longest, some
from ..tools.guard.__main__ import PAGE, tables
from ..tools.guard.nights import CASES, NIGHTS, Case, found_in
from ..tools.guard.watch import watched
from ..tools.rides.worlds import WORLDS
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
    found = found_in(case, 3)
    assert found.false_alarms == 0
    assert set(found.carried) <= {1, 2, 3}
    assert found.says_so == found.driven == found.ridden == {1: 3}


@pytest.mark.parametrize("dusk_in_outage", some([True, False], every=2))
def test_night_guard(dusk_in_outage: bool) -> None:
    """The night guard raises no false alarm, and each theft triggers the guard with its first report."""
    watch = watched(WORLDS[0], dusk_in_outage=dusk_in_outage)
    assert watch.nights >= NIGHTS
    assert watch.false_alarms == watch.breakfasts == 0
    thefts = watch.ridden + watch.shaken_first + watch.guarded_again
    assert set(thefts) == {1}


@longest
@pytest.mark.skipif(not IS_LONG, reason="measures all worlds")
def test_page() -> None:
    """The last two tables of docs/guard.md have the measured values."""
    assert tables_of(PAGE)[-2:] == list(tables())
