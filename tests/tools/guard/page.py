"""The table of docs/guard.md: what a guard makes of nights whose truth is known."""

from collections import Counter

from tests.tools.tables import (
    DATA,
    DOCS,
    as_markdown,
    tables_of,
    with_usual_ones_together,
)

from .nights import CASES, NEVER, NIGHTS, Case, found_in

PAGE = DOCS / "guard.md"
TABLE = DATA / "guard.csv"
HEAD = (
    "World",
    f"False alarms in {NIGHTS} nights",
    "Carried off",
    "Carried, says it moves",
    "In a van",
    "Ridden off",
)


def measure() -> list[list[str]]:
    """Measure all worlds, and return a row of each."""
    return [_row(case) for case in CASES]


def tables(rows: list[list[str]]) -> list[str]:
    """Return the tables of the page, of which the last is measured."""
    *others, _ = tables_of(PAGE)
    return [*others, as_markdown(HEAD, with_usual_ones_together(rows))]


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
