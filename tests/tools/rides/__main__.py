"""Simulate rides, and write the tables of docs/rides.md: python -m tests.tools.rides."""

from collections.abc import Iterator
from functools import partial
from statistics import median

from tests.tools.tables import DOCS, as_markdown, fill, with_same_ones_together

from .trackers import Tracker
from .trips import a_journey
from .worlds import HISTORY, SEED, WORLDS, World, found_in

PAGE = DOCS / "rides.md"
_HEAD = (
    "Reports come | Trips | Seen as one ride | Error of the distance | Start is late by"
    " | End is late by"
)
_WORLDS_HEAD = (
    "Fault | Seen as one ride | Invented | Starts, ends fired | Error of all kilometers"
)
_RHYTHMS = {10: "every 10 s", 60: "every minute", 600: "every 10 min"}


def tables() -> Iterator[str]:
    """Yield the tables of docs/rides.md."""
    yield as_markdown(_HEAD.split(" | "), map(_of_tracker, _RHYTHMS))
    worlds = with_same_ones_together([_of_world(world) for world in WORLDS])
    yield as_markdown(_WORLDS_HEAD.split(" | "), worlds)


def _of_tracker(every: int) -> list[str]:
    tracker = Tracker(_RHYTHMS[every], every, repeats=3_600, jumps=0.001)
    journey = partial(a_journey, SEED, 120)
    found = found_in(World("", tracker, service=HISTORY, journey=journey))
    errors = ((found.distances, "%"), (found.starts, "s"), (found.ends, "s"))
    spread = (
        f"{median(of):+.0f} {unit} ({min(of):+.0f} to {max(of):+.0f})"
        for of, unit in errors
    )
    return [tracker.name, str(found.trips), str(found.as_one), *spread]


def _of_world(world: World) -> list[str]:
    found = found_in(world)
    fired = f"{found.started}, {found.ended}"
    numbers = str(found.as_one), str(found.invented), fired
    return [world.name, *numbers, f"{found.in_all:+.0f} %"]


if __name__ == "__main__":
    fill(PAGE, list(tables()))
