"""The places that the simulated bikes ride between, as Home Assistant's home and zones."""

from tests.tools.simulator.streets import HOME, WERDERPLATZ, Point

from .client import HomeAssistantClient

_RADIUS = 100


async def settle(client: HomeAssistantClient) -> None:
    """Give Home Assistant a home in the simulated town, and an office."""
    await client.call(
        "config/core/update",
        location_name="Home",
        country="DE",
        currency="EUR",
        time_zone="Europe/Berlin",
        unit_system="metric",
        elevation=115,
        radius=_RADIUS,
        **_coordinates(HOME),
    )
    await client.call(
        "zone/create",
        name="Office",
        icon="mdi:briefcase",
        radius=_RADIUS,
        **_coordinates(WERDERPLATZ),
    )


def _coordinates(point: Point) -> dict[str, float]:
    return {"latitude": point[0], "longitude": point[1]}
