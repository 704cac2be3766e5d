"""Starts and ends of rides to fire: "announced; over; under way -> announced; events". `+`: the end is not fired yet."""

import pytest

from custom_components.bike_tracker.tracking.occurrences import Announced, announce
from custom_components.bike_tracker.tracking.rides import Ride

from .house import minute_of, minutes, rows

TABLE = """
A ride that is over is fired as a whole, one under way begins.
  ; 3-10; -> 3-10; started 3, ended 10
  ; ; 3-10 -> 3-10+; started 3
An open one ends with its ride, or where it was if no ride is left.
  3-4+; 3-10; -> 3-10; ended 10
  3-4+; ; -> 3-4; ended 4
  3-4+; ; 3-6 -> 3-6+;
A time keeps what it was, and grows to its ride.
  3-10; 5-8; -> 3-10;
  3-10; 2-12; -> 2-12;
  3-10; 12-15; -> 3-15;
  3-10; 12.1-15; -> 3-10, 12.1-15; started 12.1, ended 15
  14-16; 3-12; -> 3-16;
Rides in any order are fired in that of time.
  ; 12-15, 3-10; -> 3-10, 12-15; started 3, ended 10, started 12, ended 15
One that matches no ride takes the last one before its end, and no other time takes that.
  20-25; 3-10, 12-15; -> 12-25, 3-10; started 3, ended 10
  20-25, 30-35; 3-10; -> 3-25, 30-35;
  20-25, 30-35; 3-10, 29-36; -> 3-25, 29-36;
  3-5; 20-25; -> 3-5, 20-25; started 20, ended 25
One that was several rides keeps the first, and the others are fired.
  3-25; 3-10, 15-20; -> 3-10, 15-20; started 15, ended 20
  3-25+; 3-10; 15-20 -> 3-10, 15-20+; ended 10, started 15
  3-25+; ; 15-20 -> 3-25+;
Each of several times has a ride of its own, as long as there are rides.
  3-9, 4-10; 3-5, 8-10; -> 3-5, 8-10;
  4-10, 3-9; 3-5, 8-10; -> 3-5, 8-10;
  3-10, 3-10, 3-10; 3-5, 8-10; -> 3-5, 8-10, 3-10;
"""


def read(text: str) -> list[Announced]:
    """Parse rides such as "3-10, 12-15+": first and last minute, and `+` if the end was not fired yet."""
    found = list[Announced]()
    for part in filter(None, text.replace(" ", "").split(",")):
        start, end = (minutes(float(it)) for it in part.rstrip("+").split("-"))
        found.append(Announced(start, end, part.endswith("+")))
    return found


def written(time: Announced) -> str:
    """Write a ride in the notation that `read` parses."""
    start, end = map(minute_of, time[:2])
    return f"{start}-{end}{'+' * time.is_open}"


@pytest.mark.parametrize(("script", "summary"), rows(TABLE))
def test_announce(script: str, summary: str) -> None:
    """Each start and end is fired once, even if the history changes the rides afterwards."""
    known, over, riding = (read(part) for part in script.split(";"))
    rides = [Ride(it.start, it.end, 1.0) for it in over]
    under_way = [Ride(it.start, it.end, 1.0) for it in riding]
    after, events = announce(known, rides, next(iter(under_way), None))
    fired = list[str]()
    for kind, it in events:
        time = it.moved_at if kind == "ride_ended" else it.started_at
        fired.append(f"{kind.removeprefix('ride_')} {minute_of(time)}")
    found = f"{', '.join(map(written, after))}; {', '.join(fired)}"
    assert found.strip() == summary
