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
from .nights import CASES, NEVER, NIGHTS, found_in
from .watch import watched

PAGE = DOCS / "guard.md"
_NIGHT_HEAD = (
    "World | Nights | False alarms | At breakfast | Ridden off | After a vibration"
    " | Guarded again"
)
_HEAD = (
    f"World | False alarms in {NIGHTS} nights | Carried off | Carried, reports motion"
    " | In a van | Ridden off"
)


def tables() -> Iterator[str]:
    """Yield the last two tables of docs/guard.md: about night guards, and about guards armed by hand."""
    night = [(world.name, watched(world)) for world in WORLDS]
    dusk = watched(WORLDS[0], dusk_in_outage=True)
    night.append(("comes home in an outage, at dusk", dusk))
    rows = [
        [
            *(name, str(of.nights), str(of.false_alarms), str(of.breakfasts)),
            *map(_triggered_with, (of.ridden, of.shaken_first, of.guarded_again)),
        ]
        for name, of in night
    ]
    yield as_markdown(_NIGHT_HEAD.split(" | "), with_same_ones_together(rows))
    by_hand = [(case.world.name, found_in(case)) for case in CASES]
    rows = [
        [
            *(name, str(of.false_alarms)),
            *map(_triggered_with, (of.carried, of.says_so, of.driven, of.ridden)),
        ]
        for name, of in by_hand
    ]
    yield as_markdown(_HEAD.split(" | "), with_same_ones_together(rows))


def _triggered_with(with_report: Counter[int]) -> str:
    """Return the numbers of the reports that triggered the guard: median, latest, and how often none did."""
    times, never = with_report.total(), with_report[NEVER]
    numbers = sorted(number for number in with_report.elements() if number != NEVER)
    if not numbers:
        return "never"
    usual = f"{numbers[len(numbers) // 2]}, {numbers[-1]}"
    return f"{usual}; never {never} of {times}" if never else usual


if __name__ == "__main__":
    *others, _, _ = tables_of(PAGE)
    fill(PAGE, [*others, *tables()])
