"""Kilometres of the weeks before the demo began, for its graph to show."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from .client import HomeAssistantClient
from .past_rides import past_rides

_STATISTICS = "recorder/statistics_during_period"
_SUFFIX = "_total_distance"
_LONG_AGO = timedelta(days=3650)
"""No graph goes back so far: what it begins with would be a bar of its own there."""


async def add_kilometres(client: HomeAssistantClient) -> None:
    """Have Home Assistant's statistics know the past rides of trackers that count kilometres."""
    for entity in await client.entities():
        if entity["unique_id"].endswith(_SUFFIX):
            await client.call(
                "recorder/import_statistics",
                metadata={
                    "statistic_id": entity["entity_id"],
                    "source": "recorder",
                    "name": None,
                    "has_sum": True,
                    "mean_type": 0,
                    "unit_of_measurement": "km",
                    "unit_class": "distance",
                },
                stats=list(_hours(entity["unique_id"].removesuffix(_SUFFIX))),
            )
            await _wait_until_written(client, entity["entity_id"])


async def _wait_until_written(client: HomeAssistantClient, entity_id: str) -> None:
    """Wait until the statistics have it: Home Assistant answers before."""
    start = datetime.now(UTC) - 2 * _LONG_AGO
    asked = {"start_time": start.isoformat(), "statistic_ids": [entity_id]}
    async with asyncio.timeout(60):
        while not await client.call(_STATISTICS, **asked, period="month"):
            await asyncio.sleep(0.1)


def _hours(tracker: str) -> Iterator[dict[str, str | float]]:
    """Yield what was ridden up to each hour in which a ride ended, in km.

    It ends with 0, where Home Assistant begins to count.
    """
    ridden = {datetime.now(UTC) - _LONG_AGO: 0.0}
    total = 0.0
    for ride in past_rides(tracker):
        total += ride.kilometers
        ridden[ride.ended_at] = total
    hours = {
        time.replace(minute=0, second=0, microsecond=0): round(so_far - total, 3)
        for time, so_far in ridden.items()
    }
    for hour, number in hours.items():
        yield {"start": hour.isoformat(), "state": number, "sum": number}
