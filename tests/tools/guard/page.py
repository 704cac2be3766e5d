"""The tables of docs/guard.md: what a guard makes of nights whose truth is known."""

from collections import Counter
from typing import NamedTuple

from tests.tools.tables import (
    DATA,
    DOCS,
    as_markdown,
    tables_of,
    with_same_ones_together,
)

from ..rides.worlds import WORLDS
from .nights import CASES, NEVER, NIGHTS, Case, found_in
from .watch import Watch, watched

PAGE = DOCS / "guard.md"
TABLE = DATA / "guard.csv"
HEAD = (
    "World",
    f"False alarms in {NIGHTS} nights",
    "Carried off",
    "Carried, reports motion",
    "In a van",
    "Ridden off",
)


NIGHT_TABLE = DATA / "night-guard.csv"
NIGHT_HEAD = (
    "World",
    "Nights",
    "False alarms",
    "At breakfast",
    "Ridden off",
    "After a vibration",
    "Guarded again",
)


class Rows(NamedTuple):
    """Rows of each world: of a guard that is armed by hand, and of the night guard."""

    guard: list[list[str]]
    night: list[list[str]]


def measure() -> Rows:
    """Measure all worlds."""
    night = [_night(world.name, watched(world)) for world in WORLDS]
    dusk = watched(WORLDS[0], dusk_in_outage=True)
    night.append(_night("comes home in an outage, at dusk", dusk))
    return Rows([_row(case) for case in CASES], night)


def tables(rows: Rows) -> list[str]:
    """Return the tables of the page, of which the last two are measured."""
    *others, _, _ = tables_of(PAGE)
    return [
        *others,
        as_markdown(NIGHT_HEAD, with_same_ones_together(rows.night)),
        as_markdown(HEAD, with_same_ones_together(rows.guard)),
    ]


def _night(world: str, watch: Watch) -> list[str]:
    thefts = (watch.ridden, watch.shaken_first, watch.guarded_again)
    return [
        world,
        str(watch.nights),
        str(watch.false_alarms),
        str(watch.breakfasts),
        *(_triggered_with(Counter(theft)) for theft in thefts),
    ]


def _row(case: Case) -> list[str]:
    found = found_in(case)
    thefts = (found.carried, found.says_so, found.driven, found.ridden)
    return [case.world.name, str(found.false_alarms), *map(_triggered_with, thefts)]


def _triggered_with(with_report: Counter[int]) -> str:
    """Return with which report it was triggered as a rule, and at worst."""
    times = with_report.total()
    never = with_report[NEVER]
    numbers = sorted(number for number in with_report.elements() if number != NEVER)
    if not numbers:
        return "never"
    usual = f"{numbers[len(numbers) // 2]}, {numbers[-1]}"
    return f"{usual}; never {never} of {times}" if never else usual
