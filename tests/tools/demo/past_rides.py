"""Rides of the weeks before the demo began, for its calendars to show."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

from tests.tools.simulator.fleet import TOWN
from tests.tools.simulator.streets import HOME, JUNCTIONS, Point, Route, street_at

from .config_folder import store
from .home_assistant import HomeAssistantProcess

_WEEKS = 6
"""So many weeks back: more than the graph of kilometres shows, as its first bar would show all before."""


async def add_rides(home_assistant: HomeAssistantProcess, entry_id: str) -> None:
    """Have all trackers ride in the weeks before, as the ride book remembers it.

    It is read when Home Assistant starts, which it does again.
    """
    trackers = sorted(await home_assistant.client.devices())
    await home_assistant.stop()
    rides = [ride for tracker in trackers for ride in past_rides(tracker)]
    store(home_assistant.folder, f"bike_tracker.{entry_id}.rides", 1, {"rides": rides})
    await home_assistant.start()


def past_rides(tracker: str) -> Iterator[dict[str, Any]]:
    """Yield some rides on most days, from home and back, as the ride book remembers them."""
    random = Random(tracker)  # noqa: S311 - rides, not secrets
    now = datetime.now(UTC)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for days in range(_WEEKS * 7, -1, -1):
        stops = random.sample(JUNCTIONS, random.choice((0, 1, 2, 4)))
        time = today - timedelta(days=days) + timedelta(hours=random.uniform(6, 9))
        for start, end in pairwise([HOME, *stops, HOME] if stops else []):
            if start == end:
                continue
            if time > now - timedelta(hours=1):
                break
            metres, speed = Route(start, end).length, random.uniform(3.5, 7)
            ended_at = time + timedelta(seconds=metres / speed)
            yield {
                "tracker": tracker,
                "ride": {
                    "started_at": time.isoformat(),
                    "moved_at": ended_at.isoformat(),
                    "distance": metres / 1_000,
                    "maximum_speed": speed * 3.6 * 1.3,
                    "start": _fix(time, start),
                    "end": _fix(ended_at, end),
                },
            }
            time = ended_at + timedelta(hours=random.uniform(0.3, 3))


def _fix(time: datetime, point: Point) -> dict[str, Any]:
    return {
        "time": time.isoformat(),
        "latitude": point[0],
        "longitude": point[1],
        "address": f"{street_at(point)}, {TOWN}",
    }
