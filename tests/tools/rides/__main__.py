"""Measures how near to the truth rides are, and writes the tables of docs/rides.md: python -m tests.tools.rides."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from tests.tools.tables import (
    DATA,
    DOCS,
    as_csv,
    as_markdown,
    fill,
    with_same_ones_together,
)

from .home import Service
from .trackers import Tracker
from .worlds import (
    EACH_10_S,
    WORLDS,
    World,
    days_of_riding,
    each_second_day,
    found_in,
    spins,
    unseen,
)

PAGE = DOCS / "rides.md"
_HEAD = (
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
_WORLDS_HEAD = (
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
_RHYTHMS = {10: "every 10 s", 60: "every minute", 600: "every 10 min"}
BETWEEN_POLLS = World(
    "there and back between two polls",
    Tracker("spins", every=10, parked=60, drifts=0),
    journey=spins,
)
IN_OUTAGES = World(
    "during an outage of a day",
    replace(EACH_10_S, name="every 10 s"),
    journey=days_of_riding(60),
    outages=each_second_day,
)


type Rows = list[list[str]]


def measure() -> tuple[Rows, Rows, Rows]:
    """Return a row for each tracker, for rides that polls do not see, and for each world."""
    return (
        [
            _of_tracker(every, says_total, has_history)
            for every in _RHYTHMS
            for says_total in (True, False)
            for has_history in (False, True)
        ],
        [_of_unseen(world) for world in (BETWEEN_POLLS, IN_OUTAGES)],
        [_of_world(world) for world in WORLDS],
    )


def tables(trackers: Rows, not_seen: Rows, worlds: Rows) -> list[str]:
    """Return the tables of the page."""
    # Of a server with history that counts kilometers, as Traccar's; all is in the data.
    shown = [row for row in trackers if row[1] == row[2] == "yes"]
    first, *shown = _columns(_SHOWN, _HEAD, *shown)
    head, *worlds = _columns(_WORLDS_SHOWN, _WORLDS_HEAD, *worlds)
    return [
        as_markdown(first, shown),
        as_markdown(_UNSEEN_HEAD, not_seen),
        as_markdown(head, with_same_ones_together(worlds)),
    ]


def _columns(columns: Iterable[int], *rows: Sequence[str]) -> Rows:
    return [[row[column] for column in columns] for row in rows]


def _of_tracker(every: int, says_total: bool, has_history: bool) -> list[str]:
    tracker = Tracker(
        _RHYTHMS[every], every, repeats=3_600, says_total=says_total, jumps=0.001
    )
    service, journey = Service(has_history), days_of_riding(120)
    found = found_in(World("", tracker, service=service, journey=journey))
    return [
        tracker.name,
        "yes" if says_total else "no",
        "yes" if has_history else "no",
        str(found.trips),
        str(found.as_one),
        _spread(found.distances, "%"),
        f"{found.in_all:+.0f} %",
        _spread(found.starts, "s"),
        _spread(found.ends, "s"),
    ]


def _of_unseen(world: World) -> list[str]:
    services = Service(), Service(has_history=True)
    found = [unseen(replace(world, service=service)) for service in services]
    return [world.name, *(f"{number} of {trips}" for trips, number in found)]


def _of_world(world: World) -> list[str]:
    found = found_in(world)
    return [
        world.name,
        str(found.as_one),
        str(found.lost),
        str(found.invented),
        f"{found.started}, {found.ended}",
        f"{max(found.distances, key=abs):+.0f} %",
        f"{found.in_all:+.0f} %",
        str(found.requests),
    ]


def _spread(numbers: list[float], unit: str) -> str:
    least, most = min(numbers), max(numbers)
    return f"{median(numbers):+.0f} {unit} ({least:+.0f} to {most:+.0f})"


if __name__ == "__main__":
    measured = measure()
    fill(PAGE, tables(*measured))
    (DATA / "rides.csv").write_text(as_csv(_HEAD, measured[0]))
    (DATA / "rides-worlds.csv").write_text(as_csv(_WORLDS_HEAD, measured[2]))
