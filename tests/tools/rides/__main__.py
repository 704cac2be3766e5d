"""Measure detected rides, and write docs/rides.md: python -m tests.tools.rides."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from statistics import median

from tests.tools.tables import DOCS, as_markdown, fill, with_same_ones_together

from .home import Service
from .trackers import Tracker
from .trips import a_journey
from .worlds import (
    EACH_10_S,
    HISTORY,
    SEED,
    WORLDS,
    World,
    each_second_day,
    found_in,
    spins,
    unseen,
)

PAGE = DOCS / "rides.md"
_HEAD = (
    "Reports come | Trips | Seen as one ride | Error of the distance | Start is late by"
    " | End is late by"
)
_UNSEEN_HEAD = "Rides | Found without history | With history"
_WORLDS_HEAD = (
    "Fault | Seen as one ride | Lost | Invented | Starts, ends fired"
    " | Error of all kilometers"
)
_RHYTHMS = {10: "every 10 s", 60: "every minute", 600: "every 10 min"}
_UNSEEN = (
    World(
        "there and back between two polls",
        Tracker("spins", every=10, parked=60, drifts=0),
        journey=spins,
    ),
    World(
        "during an outage of a day",
        replace(EACH_10_S, name="every 10 s"),
        outages=each_second_day,
        journey=partial(a_journey, SEED, 60),
    ),
)


def tables() -> Iterator[str]:
    """Yield the tables of docs/rides.md."""
    yield as_markdown(_HEAD.split(" | "), map(_of_tracker, _RHYTHMS))
    yield as_markdown(_UNSEEN_HEAD.split(" | "), map(_of_unseen, _UNSEEN))
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


def _of_unseen(world: World) -> list[str]:
    found = [unseen(replace(world, service=it)) for it in (Service(), HISTORY)]
    return [world.name, *(f"{number} of {trips}" for trips, number in found)]


def _of_world(world: World) -> list[str]:
    found = found_in(world)
    numbers = map(str, (found.as_one, found.lost, found.invented))
    fired = f"{found.started}, {found.ended}"
    return [world.name, *numbers, fired, f"{found.in_all:+.0f} %"]


if __name__ == "__main__":
    fill(PAGE, list(tables()))
