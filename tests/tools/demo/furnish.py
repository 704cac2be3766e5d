"""Add weeks of rides, and a night guard, to a Home Assistant that has an account."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import pairwise
import json
from random import Random
import sqlite3

from custom_components.bike_tracker.tracking.routes import encode
from tests.tools.simulator.streets import HOME, JUNCTIONS, Point, Route, street_at

from .client import HomeAssistantClient
from .fleet import TOWN
from .home_assistant import HomeAssistantProcess

_WEEKS = 8
"""Number of weeks with rides. The dashboard has a bar for each of these weeks."""
_ADD = """
INSERT INTO ride
    (tracker, start, "end", distance, maximum_speed, start_place, end_place, route)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""

type Row = tuple[object, ...]


async def add_rides(home_assistant: HomeAssistantProcess, entry_id: str) -> None:
    """Stop Home Assistant, write past rides of all trackers into the database, and start it again."""
    trackers = sorted(await home_assistant.client.devices())
    await home_assistant.stop()
    file = home_assistant.folder / ".storage" / "bike_tracker" / f"{entry_id}.db"
    address = f"{file.as_uri()}?mode=rw"
    with closing(sqlite3.connect(address, uri=True)) as database, database:
        for tracker in trackers:
            database.executemany(_ADD, _past_rides(tracker))
    await home_assistant.start()


async def add_night_guard(client: HomeAssistantClient, entry_id: str) -> None:
    """Add a night guard without a start and end of the night: it arms no guard, but sends messages about armed guards."""
    path = "/api/config/config_entries/subentries/flow"
    form = await client.post(path, {"handler": [entry_id, "night_guard"]})
    phones = [
        device["id"]
        for device in await client.call("config/device_registry/list")
        if "mobile_app" in dict(device["identifiers"])
    ]
    settings = {"away_distance": 200, "critical": True, "follow": True}
    typed = {"name": "Night guard", "phones": phones, **settings}
    await client.post(f"{path}/{form['flow_id']}", typed)


def _past_rides(tracker: str) -> Iterator[Row]:
    """Yield rides as rows of the database: on most days, the tracker visits some places and returns home."""
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
            way, speed = Route(start, end), random.uniform(3.5, 7)
            ended_at = time + timedelta(seconds=way.length / speed)
            yield (
                tracker,
                _microseconds(time),
                _microseconds(ended_at),
                way.length / 1_000,
                speed * 3.6 * 1.3,
                _place(time, start),
                _place(ended_at, end),
                encode(way.points),
            )
            time = ended_at + timedelta(hours=random.uniform(0.3, 3))


def _microseconds(time: datetime) -> int:
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _place(time: datetime, point: Point) -> str:
    place = {"time": time.isoformat(), "address": f"{street_at(point)}, {TOWN}"}
    return json.dumps({**place, "latitude": point[0], "longitude": point[1]})
