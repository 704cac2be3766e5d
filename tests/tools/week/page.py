"""The tables of docs/week.md: rows, bytes and lines in Activity of a week."""

from collections import Counter

from tests.tools.tables import DOCS, as_markdown

from .found import Found

PAGE = DOCS / "week.md"

_HEAD = ("Entity", "Rows now", "Rows without steps", "Lines in **Activity**")
_NAMES = {
    "": "device tracker (map)",
    "address": "*Address*",
    "last_update": "*Last update*",
    "motion": "*Moving*",
    "ride": "*Ride*",
    "ride_distance": "*Ride distance*",
    "ride_duration": "*Ride duration*",
    "speed": "*Speed*",
    "total_distance": "*Total distance*",
}
_OTHERS = "remaining entities"


def tables(found: Found) -> list[str]:
    """Return the table of totals, and the table of rows by entity."""
    now, before, lines = (
        _named(kinds) for kinds in (found.rows, found.rows_without_steps, found.lines)
    )
    ridden = f"{found.rides}; {found.kilometres:.0f}; {found.reports:,}"
    hour, hour_without_steps = found.lines_an_hour, found.lines_an_hour_without_steps
    in_all = (
        ("Rides; kilometers; reports", ridden, ""),
        (
            "Lines in **Activity** per bike and hour with a ride",
            f"{hour:.1f}",
            f"{hour_without_steps:.1f}",
        ),
        ("Rows in the database", f"{now.total():,}", f"{before.total():,}"),
        (
            "*Written* to Bike Tracker's own files",
            _megabytes(found.written.total()),
            "",
        ),
        (
            "of these on the day with the most",
            _megabytes(max(found.written.values())),
            "",
        ),
    )
    by_kind = (
        (name, f"{now[name]:,}", f"{before[name]:,}", f"{lines[name]:,}")
        for name in sorted(now, key=lambda name: (-before[name], name))
    )
    return [
        as_markdown(("In the week", "Now", "Without steps"), in_all),
        as_markdown(_HEAD, by_kind),
    ]


def _megabytes(written: int) -> str:
    return f"{written / 1_000_000:.1f} MB"


def _named(kinds: Counter[str]) -> Counter[str]:
    named = Counter[str]()
    for kind, number in kinds.items():
        named[_NAMES.get(kind, _OTHERS)] += number
    return named
