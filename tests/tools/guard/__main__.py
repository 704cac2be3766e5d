"""Simulate guarded nights, and write the tables of docs/guard.md: python -m tests.tools.guard."""

from collections import Counter
from collections.abc import Iterator

from tests.tools.tables import (
    DOCS,
    as_markdown,
    fill,
    tables_of,
    with_same_ones_together,
)

from ..rides.worlds import WORLDS
from .nights import CASES, NEVER, NIGHTS, Case, found_in
from .watch import Watch, watched

PAGE = DOCS / "guard.md"
_HEAD = (
    "World",
    f"False alarms in {NIGHTS} nights",
    "Carried off",
    "Carried, reports motion",
    "In a van",
    "Ridden off",
)
_NIGHT_HEAD = (
    "World",
    "Nights",
    "False alarms",
    "At breakfast",
    "Ridden off",
    "After a vibration",
    "Guarded again",
)


def tables() -> Iterator[str]:
    """Yield the last two tables of docs/guard.md: about night guards, and about guards armed by hand."""
    night = [_night(world.name, watched(world)) for world in WORLDS]
    dusk = watched(WORLDS[0], dusk_in_outage=True)
    night.append(_night("comes home in an outage, at dusk", dusk))
    yield as_markdown(_NIGHT_HEAD, with_same_ones_together(night))
    by_hand = [_row(case) for case in CASES]
    yield as_markdown(_HEAD, with_same_ones_together(by_hand))


def _night(world: str, watch: Watch) -> list[str]:
    thefts = (watch.ridden, watch.shaken_first, watch.guarded_again)
    return [
        world,
        str(watch.nights),
        str(watch.false_alarms),
        str(watch.breakfasts),
        *map(_triggered_with, thefts),
    ]


def _row(case: Case) -> list[str]:
    found = found_in(case)
    thefts = (found.carried, found.says_so, found.driven, found.ridden)
    return [case.world.name, str(found.false_alarms), *map(_triggered_with, thefts)]


def _triggered_with(with_report: Counter[int]) -> str:
    """Return the numbers of the reports that triggered the guard: median, latest, and how often none did."""
    times = with_report.total()
    never = with_report[NEVER]
    numbers = sorted(number for number in with_report.elements() if number != NEVER)
    if not numbers:
        return "never"
    usual = f"{numbers[len(numbers) // 2]}, {numbers[-1]}"
    return f"{usual}; never {never} of {times}" if never else usual


if __name__ == "__main__":
    *others, _, _ = tables_of(PAGE)
    fill(PAGE, [*others, *tables()])
