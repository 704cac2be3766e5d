"""Simulate guarded nights, and write the last table of docs/guard.md: python -m tests.tools.guard."""

from collections import Counter

from tests.tools.tables import (
    DOCS,
    as_markdown,
    fill,
    tables_of,
    with_same_ones_together,
)

from .nights import CASES, NEVER, NIGHTS, Nights

PAGE = DOCS / "guard.md"
_HEAD = (
    f"World | False alarms in {NIGHTS} nights | Carried off | Carried, reports motion"
    " | In a van | Ridden off"
)


def table() -> str:
    """Return the last table of docs/guard.md."""
    rows = list[list[str]]()
    for case in CASES:
        found = Nights(case).run()
        thefts = found.carried, found.says_so, found.driven, found.ridden
        alarms = str(found.false_alarms)
        rows.append([case.world.name, alarms, *map(_triggered_by, thefts)])
    return as_markdown(_HEAD.split(" | "), with_same_ones_together(rows))


def _triggered_by(thefts: Counter[float]) -> str:
    """Return the number of the report that triggered the guard: the median and the maximum of all thefts."""
    numbers = sorted(thefts.elements()) or [NEVER]
    return f"{numbers[len(numbers) // 2]}, {numbers[-1]}"


if __name__ == "__main__":
    *others, _ = tables_of(PAGE)
    fill(PAGE, [*others, table()])
