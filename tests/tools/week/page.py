"""docs/week.md: what a week of bikes leaves in Activity and in the database."""

from collections import Counter
from pathlib import Path

from .found import Found

PAGE = Path(__file__).parents[3] / "docs" / "week.md"

_PAGE = """\
# What a week leaves in Home Assistant

Each line in **Activity** is something that a person may want to know, and each row in the database costs room. So what follows
each report of a bike that is ridden is written in steps: *Last update* every five minutes, distances in tenths of a kilometer, *Ride
duration* in minutes, and *Address* once the bike stands. Five minutes after the last report all of it is exact. The map, triggers,
conditions and rides go by each report.

Five bikes that report every ten seconds under way, each time with another address, ridden to work and at weekends: {rides} rides
and {kilometres:.0f} km in {days:.0f} days, {reports:,} reports, over the live connection and with polls. Two of the trackers also
report every five minutes while they stand. The command `.venv/test/bin/python -m tests.tools.week` measures it again in a real Home
Assistant with its recorder, which takes some minutes, and writes this page. Version 1.1 wrote whatever was new, and had no addresses.

| | Now | Version 1.1 |
| --- | --- | --- |
| Lines in **Activity** in an hour, of a bike that is ridden in it | {lines_an_hour:.1f} | {lines_an_hour_of_1_1:.1f} |
| Rows in the database, in the week | {rows:,} | {rows_of_1_1:,} |
| Written to Bike Tracker's own files, in the week | {megabytes:.1f} MB | |

| Written | Rows now | Rows of version 1.1 | Lines in **Activity** |
| --- | --- | --- | --- |
{table}
"""
_NAMES = {
    "": "the bike on the map",
    "address": "*Address*",
    "last_update": "*Last update*",
    "motion": "*Moving*",
    "ride": "*Ride*",
    "ride_distance": "*Ride distance*",
    "ride_duration": "*Ride duration*",
    "speed": "*Speed*",
    "total_distance": "*Total distance*",
}
_OTHERS = "all others"


def page(found: Found) -> str:
    """Return the page of what was found."""
    now, before, lines = (
        _named(kinds) for kinds in (found.rows, found.rows_of_1_1, found.lines)
    )
    return _PAGE.format(
        rides=found.rides,
        kilometres=found.kilometres,
        days=found.days,
        reports=found.reports,
        lines_an_hour=found.lines_an_hour,
        lines_an_hour_of_1_1=found.lines_an_hour_of_1_1,
        rows=now.total(),
        megabytes=found.written / 1_000_000,
        rows_of_1_1=before.total(),
        table="\n".join(
            f"| {name} | {now[name]:,} | {before[name]:,} | {lines[name]:,} |"
            for name in sorted(now, key=lambda name: (-before[name], name))
        ),
    )


def _named(kinds: Counter[str]) -> Counter[str]:
    named = Counter[str]()
    for kind, number in kinds.items():
        named[_NAMES.get(kind, _OTHERS)] += number
    return named
