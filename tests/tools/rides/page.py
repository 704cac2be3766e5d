"""The tables of docs/rides.md: how near rides are to the truth."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tests.tools.tables import DATA, DOCS, as_markdown, with_same_ones_together

from .accuracy import Measured, measure as measure_rides
from .trackers import Tracker
from .unseen import between_polls, during_outages
from .worlds import WORLDS, World, found_in

PAGE = DOCS / "rides.md"
TABLE = DATA / "rides.csv"
WORLDS_TABLE = DATA / "rides-worlds.csv"

HEAD = (
    "A report",
    "The server counts",
    "History",
    "Rides",
    "Seen as one",
    "Distance of a ride",
    "Of all rides",
    "Start",
    "End",
)
_UNSEEN_HEAD = ("Rides", "Found without history", "With history")
_UNSEEN = (
    ("there and back between two polls", between_polls),
    ("during an outage of a day", during_outages),
)
WORLDS_HEAD = (
    "World",
    "Seen as one",
    "Lost",
    "Invented",
    "Starts, ends",
    "Distance of a ride, at worst",
    "Of all kilometers",
    "History requests",
)
# The columns on the page.
_SHOWN = (0, 3, 4, 5, 7, 8)
_WORLDS_SHOWN = (0, 1, 2, 3, 4, 6)
_RHYTHMS = ((10, "every 10 s"), (60, "every minute"), (600, "every 10 min"))


class Rows(NamedTuple):
    """What was measured, a row for each tracker and each world."""

    trackers: list[list[str]]
    worlds: list[list[str]]
    unseen: list[list[str]]


def measure() -> Rows:
    """Measure all trackers and worlds."""
    return Rows(list(_rows()), [_world(world) for world in WORLDS], list(_unseen()))


def tables(rows: Rows) -> list[str]:
    """Return the tables of the page: of trackers, of what polls do not see, and of worlds."""
    # Of a server with history that counts kilometers, as Traccar's; all is in the data.
    shown = [row for row in rows.trackers if row[1] == row[2] == "yes"]
    worlds = [_shown(row, _WORLDS_SHOWN) for row in rows.worlds]
    return [
        as_markdown(_shown(HEAD, _SHOWN), [_shown(row, _SHOWN) for row in shown]),
        as_markdown(_UNSEEN_HEAD, rows.unseen),
        as_markdown(
            _shown(WORLDS_HEAD, _WORLDS_SHOWN), with_same_ones_together(worlds)
        ),
    ]


def _shown(row: Sequence[str], columns: Iterable[int]) -> list[str]:
    return [row[column] for column in columns]


def _world(world: World) -> list[str]:
    found = found_in(world)
    return [
        world.name,
        str(found.as_one),
        str(found.lost),
        str(found.invented),
        f"{found.started}, {found.ended}",
        f"{found.worst:+.0f} %",
        f"{found.in_all:+.0f} %",
        str(found.requests),
    ]


def _rows() -> Iterator[list[str]]:
    for every, name in _RHYTHMS:
        for says_total in (True, False):
            tracker = Tracker(
                name, every, repeats=3_600, says_total=says_total, jumps=0.001
            )
            for has_history in (False, True):
                measured = measure_rides(tracker, has_history=has_history)
                yield _row(tracker, measured, has_history=has_history)


def _unseen() -> Iterator[list[str]]:
    for name, found in _UNSEEN:
        (trips, without), (_, exact) = (
            found(has_history=has_history) for has_history in (False, True)
        )
        yield [name, f"{without} of {trips}", f"{exact} of {trips}"]


def _row(tracker: Tracker, measured: Measured, *, has_history: bool) -> list[str]:
    return [
        tracker.name,
        "yes" if tracker.says_total else "no",
        "yes" if has_history else "no",
        str(measured.trips),
        str(measured.recognised),
        _spread(measured.distance, "%"),
        f"{measured.in_all:+.0f} %",
        _spread(measured.start, "s"),
        _spread(measured.end, "s"),
    ]


def _spread(numbers: tuple[float, float, float], unit: str) -> str:
    least, middle, most = numbers
    return f"{middle:+.0f} {unit} ({least:+.0f} to {most:+.0f})"
