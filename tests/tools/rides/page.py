"""docs/rides.md: how rides are told from reports, and how near to the truth that is."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.tools.tables import DATA, DOCS, as_markdown, with_usual_ones_together

from .accuracy import Measured, measure as measure_rides
from .trackers import Tracker
from .unseen import between_polls, during_outages
from .worlds import TRIPS, WORLDS, World, found_in

PAGE = DOCS / "rides.md"
TABLE = DATA / "rides.csv"
WORLDS_TABLE = DATA / "rides-worlds.csv"

_INTRODUCTION = """\
# Rides and kilometers

A tracker does not say when a ride starts or ends. Bike Tracker works that out from the reports that it fetches anyway.

## What is a ride

- A ride **starts** with the first report that shows movement: the tracker says that it moves, it reports 3 km/h or more, or
  it is somewhere else. Somewhere else is farther away than both positions may be wrong: three times their accuracies, at
  least 20 meters, and at least 50 for a tracker that does not report its accuracy. The very first report of a tracker starts
  no ride.
- A report that says itself that the bike **stands** (it moves not, or its speed is 0) starts no ride by its place alone: the
  bike is somewhere else only if it rides on from there, or still stands there 8 minutes later, and for a tracker without
  accuracy only beyond 150 meters. A ride of which nothing else was seen is then told as started and ended at once. Fixes of a
  tracker that were off while its bike stood are believed no more as far as that, and what such a tracker wanders within a
  kilometer while it stands is no way: until the bike rides away, or all fixes of a day were right.
- If the report of the **arrival was lost**, what was ridden after the last one belongs to that ride: up to a kilometer, within
  24 hours, in distance and total, without another event.
- It **goes on** through traffic lights and short gaps, and **ends** with the last movement. You learn of the end once the
  bike has stood for 5 minutes by the times of its positions, when a silent tracker reports again, or 30 minutes after its
  last position.
- A bike that moves and stays where it is, as when a thief fails, starts and ends a ride of 0 km. That is an event, but
  the sensors keep the ride before.
- **Start and end** are times of positions. If a ride shows within 5 minutes after the position before, it starts with that
  one.
- The **distance** goes from place to place, from where the bike stood. If the server counts kilometers itself, as Traccar
  does, it knows the bends between two polls. Bike Tracker then takes its count as far as it can be: at most 60 km/h, and
  at most five times the straight way and a kilometer.
- A position that would need more than 45 km/h, or one and a half times the reported speed, waits until the next one confirms
  it. So does one that is more than 45 km away. Nothing faster than 320 km/h counts. A position that is only sent again confirms
  nothing.
- **Total distance** begins with what the server counted, or with 0. It never falls, and what adds to it belongs to a ride: not
  the drift of a parked bike, a reset of the server, or a position that jumped. If the service's history shows that a ride was
  shorter, the total stays as it is until other rides have made up for it.

Rides survive restarts of Home Assistant, and move along with a tracker to another account.

## The service's own history

Traccar keeps every report, and tells those of a time since its version 4.11. Where the service does so, Bike Tracker asks for
what polls did not see: once a ride is over, after an outage or a restart, and where the server counted kilometers of a bike that
stands where it stood. The rules above then apply to **every report** instead of one a minute. The end of a ride is
told at once with what is known; the answer makes the rides in the calendar, the sensors and the total distance exact, and
tells nothing again. An idle account asks for nothing, and no account more than once a minute.

## How near to the truth that is

Rides through a town whose streets are those of the simulator, with red lights and turns, polled every minute. The command
`.venv/test/bin/python -m tests.tools.rides` measures it again and writes this page. The first number is the median, the others are the
worst two of all rides. *History* is whether the service has every report when it is asked; without, it knows the last one alone.
The server counts kilometers itself, as Traccar does; without that, and for each world below, there are [two](data/rides.csv)
[tables](data/rides-worlds.csv).
"""

_LIMITS = """
So 60 km become 58 with a report a minute, and more like 42 with one every ten minutes, as a straight line is shorter than
streets are. Times are off by no more than a report, and by up to 5 minutes more at the start for a tracker that
reports while it stands. With history it is the rhythm of the tracker that counts, not that of polls: of reports every 10
seconds nothing is lost. What is promised there: a distance that is 1 % too short in the median and within 6 % at worst,
a start and an end within 15 seconds in the median, and each ride that polls did not see.

## What polls do not see

Of a tracker that reports every 10 seconds, asked every minute, as one ride each:

{unseen}

## Where trackers err

A tracker that reports each minute, also while the bike stands, and {trips} trips of weeks. The first are told truly, and all of
them have to be right; from *{first}* on the tracker says less, or better than it is. There at most five rides may be invented.

{worlds}

## What it cannot tell

- With a report every ten minutes it misses a ride that comes back to where it was between two reports; a ride that turns
  round may become two; and two rides with a stop of less than 20 minutes between them may become one. It also misses a ride and
  the one back if nothing was heard under way on either: a position that comes once may be one that jumped.
- Without history it misses a ride that begins and ends at one place between two polls, or while Home Assistant or the service is
  down. It tells of a ride to
  somewhere else during that time with the second position from there, or when the bike leaves it again, and that ride starts
  when it was first seen. So it does of each ride of which nothing was heard under way.
- Of a tracker that never says that the bike moves it tells a report later.
- A few meters by hand, of which a tracker that drifts says that it stood, are taken for drift.
- A ride becomes two if the tracker is silent for more than 30 minutes on the way.
- A position that jumps by less than a bike could ride in that time counts as a way.
- Without positions there are no rides.
"""

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
WORLDS_HEAD = ("World", "Seen as one", "Lost", "Invented", "Of all kilometers")
_RHYTHMS = ((10, "every 10 s"), (60, "every minute"), (600, "every 10 min"))


class Rows(NamedTuple):
    """What was measured, a row for each tracker and each world."""

    trackers: list[list[str]]
    worlds: list[list[str]]


def measure() -> Rows:
    """Measure all trackers and worlds."""
    return Rows(list(_rows()), [_world(world) for world in WORLDS])


def page(rows: Rows) -> str:
    """Return the whole page, of what was measured."""
    first = next(world.name for world in WORLDS if not world.is_clear)
    limits = _LIMITS.format(
        trips=TRIPS,
        first=first,
        worlds=as_markdown(WORLDS_HEAD, with_usual_ones_together(rows.worlds)).rstrip(),
        unseen=as_markdown(_UNSEEN_HEAD, _unseen()).rstrip(),
    )
    # Where the server counts kilometers, as Traccar does; the others are in the data.
    shown = [[row[0], *row[2:]] for row in rows.trackers if row[1] == "yes"]
    head = [HEAD[0], *HEAD[2:]]
    return "\n".join([_INTRODUCTION, as_markdown(head, shown).rstrip(), limits])


def _world(world: World) -> list[str]:
    found = found_in(world)
    return [
        world.name,
        str(found.as_one),
        str(found.lost),
        str(found.invented),
        f"{found.in_all:+.0f} %",
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


def _unseen() -> Iterator[Iterable[str]]:
    for name, found in _UNSEEN:
        (trips, without), (_, exact) = (
            found(has_history=has_history) for has_history in (False, True)
        )
        yield name, f"{without} of {trips}", f"{exact} of {trips}"


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
