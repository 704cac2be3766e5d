"""A theft in three steps: a night guard with the phone of the demo, and the buttons of the first page."""

from .client import HomeAssistantClient
from .dashboard import Card, button

_BIKE = 2
"""The bike that the tricks steal; in a smaller fleet another one."""
_SCRIPT = "park_and_guard"
_GUARD = "_guard"


async def add_night_guard(client: HomeAssistantClient, entry_id: str) -> None:
    """Have the phone of the demo ring for every guard that a person arms; no night begins by itself."""
    path = "/api/config/config_entries/subentries/flow"
    form = await client.post(path, {"handler": [entry_id, "night_guard"]})
    settings = {"away_distance": 200, "critical": True, "follow": True}
    phones = [
        device["id"]
        for device in await client.call("config/device_registry/list")
        if "mobile_app" in dict(device["identifiers"])
    ]
    await client.post(
        f"{path}/{form['flow_id']}",
        {"name": "Night guard", "phones": phones, **settings},
    )


async def story(client: HomeAssistantClient, phone: Card) -> list[Card]:
    """Return the three sections of the story, and add its script; none without a bike that has a guard."""
    guards = [
        entity
        for entity in await client.entities()
        if entity["unique_id"].endswith(_GUARD) and not entity["disabled_by"]
    ]
    if not guards:
        return []
    guards.sort(key=lambda entity: entity["unique_id"])
    guard = guards[_BIKE % len(guards)]
    names = {
        device["id"]: device["name"] for device in (await client.devices()).values()
    }
    bike = names[guard["device_id"]]
    arm = {
        "action": "alarm_control_panel.alarm_arm_away",
        "target": {"entity_id": guard["entity_id"]},
    }
    script = {"alias": "Park and guard", "icon": "mdi:shield-lock", "sequence": [arm]}
    await client.post(f"/api/config/script/config/{_SCRIPT}", script)
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
        phone
        | {
            "cards": [
                {**phone["cards"][0], "heading": "3 Your phone"},
                *phone["cards"][1:],
            ]
        },
    ]
