"""The places that the simulated bikes ride between, as Home Assistant's home and zones, and who rides them."""

from tests.tools.simulator.streets import HOME, WERDERPLATZ, Point

from .client import HomeAssistantClient

PHONE = "device_tracker.phone"
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


async def add_rider(client: HomeAssistantClient) -> None:
    """Give the one person there is a phone, which is at home."""
    [person] = (await client.call("person/list"))["storage"]
    await client.call("person/update", person_id=person["id"], device_trackers=[PHONE])
    await move_rider(client, is_home=True)


async def move_rider(client: HomeAssistantClient, *, is_home: bool) -> None:
    """Have the rider come home, or be some kilometers away."""
    place = HOME if is_home else (HOME[0] + 0.1, HOME[1])
    await client.set_state(
        PHONE,
        "home" if is_home else "not_home",
        {
            "friendly_name": "Phone",
            "source_type": "gps",
            "gps_accuracy": 10,
            **_coordinates(place),
        },
    )


def _coordinates(point: Point) -> dict[str, float]:
    return {"latitude": point[0], "longitude": point[1]}
