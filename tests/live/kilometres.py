"""Kilometres of the weeks before the demo began, for its graph to show."""

from datetime import UTC, datetime, timedelta
from itertools import accumulate
from random import Random

from .client import HomeAssistantClient

WEEKS = 6
"""So many weeks back: more than the graph shows, as its first bar would show all before."""


async def add_kilometres(client: HomeAssistantClient) -> None:
    """Have trackers that count kilometres ride in the weeks before, as Home Assistant's statistics remember it."""
    for entity in await client.entities():
        if entity["unique_id"].endswith("_total_distance"):
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
                stats=_days(Random(entity["unique_id"])),  # noqa: S311 - rides, not secrets
            )


def _days(random: Random) -> list[dict[str, str | float]]:
    """Return what was ridden up to each day's noon, in km.

    It ends with 0, where Home Assistant begins to count.
    """
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
    days = [noon - timedelta(days=number) for number in range(WEEKS * 7, 0, -1)]
    ridden = list(accumulate(random.choice((0, 4, 6, 12, 25)) for _ in days))
    return [
        {
            "start": day.isoformat(),
            "state": kilometres - ridden[-1],
            "sum": kilometres - ridden[-1],
        }
        for day, kilometres in zip(days, ridden, strict=True)
    ]
