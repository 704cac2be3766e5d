"""docs/rides.md: how rides are told from reports, and how near to the truth that is."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from .accuracy import Measured, measure
from .trackers import Tracker

PAGE = Path(__file__).parents[2] / "docs" / "rides.md"

_INTRODUCTION = """\
# Rides and kilometers

A tracker does not say when a ride starts or ends. Bike Tracker works that out from the reports that it fetches anyway.

## What is a ride

- A ride **starts** with the first report that shows movement: the tracker says that it moves, it reports 3 km/h or more, or
  it is somewhere else. Somewhere else is farther away than both positions may be wrong: three times their accuracies, at
  least 20 meters, and at least 50 for a tracker that does not report its accuracy. The very first report of a tracker starts
  no ride.
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
  it. So does one that is more than 45 km away. Nothing faster than 320 km/h counts.
- **Total distance** begins with what the server counted, or with 0. It never falls, and grows with rides alone: not with the drift
  of a parked bike, a reset of the server, or a position that jumped.

Rides survive restarts of Home Assistant, and move along with a tracker to another account.

## How near to the truth that is

Rides through a town whose streets are those of the simulator, with red lights and turns, polled every minute. The command
`.venv/test/bin/python -m tests.rides` measures it again and writes this page. The first number is the median, the others are the
worst two of all rides.
"""

_LIMITS = """
So 60 km become 58 with a report a minute, and more like 42 with one every ten minutes, as a straight line is shorter than
streets are. Times are off by no more than a report, and by up to 5 minutes more at the start for a tracker that
reports while it stands.

## What it cannot tell

- With a report every ten minutes it misses a ride that comes back to where it was between two reports; a ride that turns
  round may become two; and two rides with a stop of less than 20 minutes between them may become one.
- It misses a ride that begins and ends at one place while Home Assistant or the service is down. It tells of a ride to
  somewhere else during that time as soon as it knows, and that ride starts when it was first seen.
- A ride becomes two if the tracker is silent for more than 30 minutes on the way.
- A position that jumps by less than a bike could ride in that time counts as a way.
- Without positions there are no rides.
"""

_HEAD = (
    "A report",
    "The server counts",
    "Rides",
    "Seen as one",
    "Distance of a ride",
    "Of all rides",
    "Start",
    "End",
)
_RHYTHMS = ((10, "every 10 s"), (60, "every minute"), (600, "every 10 min"))


def page() -> str:
    """Measure, and return the whole page."""
    rows = [_HEAD, ["---"] * len(_HEAD), *_rows()]
    table = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join([_INTRODUCTION, *table, _LIMITS])


def _rows() -> Iterator[Iterable[str]]:
    for every, name in _RHYTHMS:
        for says_total in (True, False):
            tracker = Tracker(
                name, every, repeats=3_600, says_total=says_total, jumps=0.001
            )
            yield _row(tracker, measure(tracker))


def _row(tracker: Tracker, measured: Measured) -> Iterable[str]:
    return (
        tracker.name,
        "yes" if tracker.says_total else "no",
        str(measured.trips),
        str(measured.recognised),
        _spread(measured.distance, "%"),
        f"{measured.in_all:+.0f} %",
        _spread(measured.start, "s"),
        _spread(measured.end, "s"),
    )


def _spread(numbers: tuple[float, float, float], unit: str) -> str:
    least, middle, most = numbers
    return f"{middle:+.0f} {unit} ({least:+.0f} to {most:+.0f})"
