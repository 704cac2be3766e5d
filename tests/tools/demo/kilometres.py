"""Kilometres of the weeks before the demo began, for its graph to show."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from .client import HomeAssistantClient
from .past_rides import past_rides

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


def _hours(tracker: str) -> Iterator[dict[str, str | float]]:
    """Yield what was ridden up to each hour in which a ride ended, in km.

    It ends with 0, where Home Assistant begins to count.
    """
    ridden = {datetime.now(UTC) - _LONG_AGO: 0.0}
    total = 0.0
    for book in past_rides(tracker):
        total += book["ride"]["distance"]
        ridden[datetime.fromisoformat(book["ride"]["moved_at"])] = total
    hours = {
        time.replace(minute=0, second=0, microsecond=0): round(so_far - total, 3)
        for time, so_far in ridden.items()
    }
    for hour, number in hours.items():
        yield {"start": hour.isoformat(), "state": number, "sum": number}
