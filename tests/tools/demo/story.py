"""A theft in three steps: a night guard with the phone of the demo, and the buttons of the first page."""

from .client import HomeAssistantClient
from .dashboard import Card, button
from .message import phone
from .service import SimulatedService

_BIKE = 2
"""The bike that the tricks steal."""
_SCRIPT = "park_and_guard"


async def add_night_guard(client: HomeAssistantClient, entry_id: str) -> None:
    """Have the phone of the demo ring for every guard that a person arms; no night begins by itself."""
    path = "/api/config/config_entries/subentries/flow"
    form = await client.post(path, {"handler": [entry_id, "night_guard"]})
    phones = [
        device["id"]
        for device in await client.call("config/device_registry/list")
        if "mobile_app" in dict(device["identifiers"])
    ]
    settings = {"away_distance": 200, "critical": True, "follow": True}
    await client.post(
        f"{path}/{form['flow_id']}",
        {"name": "Night guard", "phones": phones, **settings},
    )


async def story(client: HomeAssistantClient, service: SimulatedService) -> list[Card]:
    """Return the three sections of the story, and add its script; none without a bike that has a guard."""
    if not service.fleet.unique_ids:
        return []
    unique_id = service.tricks.bike(_BIKE)
    try:
        guard = await client.entity_id("alarm_control_panel", f"{unique_id}_guard")
    except LookupError:
        return []
    bike = (await client.devices())[unique_id]["name"]
    arm = {
        "action": "alarm_control_panel.alarm_arm_away",
        "target": {"entity_id": guard},
    }
    await client.save_script(_SCRIPT, "Park and guard", "shield-lock", arm)
    return [
        button(
            f"script.{_SCRIPT}",
            "1 Park and guard",
            f"**{bike}** stops where it is and is guarded, as if you had tapped **Guard** below.",
        ),
        button(
            "script.try_stolen",
            "2 A thief comes",
            f"Somebody rides off with {bike}. Within half a minute it is **Being moved**, with its way on the map.",
        ),
        phone("3 Your phone"),
    ]
