"""A dashboard with the trackers on a map and what is known of each."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from .client import HomeAssistantClient

_PATH = "bike-tracker"
_TITLE = "Bikes"
_ICON = "mdi:bicycle"

_COLUMNS = 4
_ZONES = ("zone.home", "zone.office")

_SHOWN = {
    "": "Place",
    "online": "Connectivity",
    "motion": "Moving",
    "speed": "Speed",
    "battery": "Battery",
    "charging": "Charging",
    "lock": "Lock",
    "ride_distance": "Last ride",
    "ride_duration": "Last ride took",
    "last_update": "Last update",
}
"""What a tracker's section shows, with its title."""

type Card = dict[str, Any]
type EntityIds = Mapping[str, str]
"""The enabled entities of a tracker, by what follows the tracker in their unique ID; the device tracker has ""."""


async def add_dashboard(client: HomeAssistantClient, *pages: Card) -> None:
    """Add the dashboard, with further pages, and make it the one that opens first."""
    await client.call(
        "lovelace/dashboards/create", url_path=_PATH, title=_TITLE, icon=_ICON
    )
    await renew_dashboard(client, *pages)
    await client.call(
        "frontend/set_system_data", key="core", value={"default_panel": _PATH}
    )


async def renew_dashboard(client: HomeAssistantClient, *pages: Card) -> None:
    """Show the trackers that there are now."""
    views = [await bikes_page(client), *pages]
    await client.call("lovelace/config/save", url_path=_PATH, config={"views": views})


async def bikes_page(client: HomeAssistantClient) -> Card:
    """Return a page with a map and a section for each tracker."""
    return _page(await _trackers(client))


def button(script: str, title: str, watch: str) -> Card:
    """Return a section with a button that runs a script, and what to watch then."""
    run = {
        "action": "perform-action",
        "perform_action": "script.turn_on",
        "target": {"entity_id": script},
    }
    tile = {
        "type": "tile",
        "entity": script,
        "name": title,
        "color": "primary",
        "hide_state": True,
        "tap_action": run,
        "icon_tap_action": run,
        "grid_options": {"columns": "full"},
    }
    text = {"type": "markdown", "content": watch, "text_only": True}
    return {"type": "grid", "cards": [tile, text]}


async def _trackers(client: HomeAssistantClient) -> dict[str, EntityIds]:
    """Return the entities of each tracker by its name."""
    trackers: dict[str, dict[str, str]] = defaultdict(dict)
    # A bike may come in between: its entities wait for the next time.
    entities, devices = await client.entities(), await client.devices()
    names = {device["id"]: device["name"] for device in devices.values()}
    serials = {device["id"]: serial for serial, device in devices.items()}
    for entity in entities:
        device_id = entity["device_id"]
        if entity["disabled_by"] is None and device_id in names:
            key = entity["unique_id"].removeprefix(serials[device_id]).lstrip("_")
            trackers[names[device_id]][key] = entity["entity_id"]
    return dict(sorted(trackers.items()))


def _page(trackers: Mapping[str, EntityIds]) -> Card:
    return {
        "title": _TITLE,
        "type": "sections",
        "max_columns": _COLUMNS,
        "sections": [
            _map(trackers),
            *_kilometres(trackers),
            *(_section(name, ids) for name, ids in trackers.items()),
        ],
    }


def _map(trackers: Mapping[str, EntityIds]) -> Card:
    return {
        "type": "grid",
        "column_span": _COLUMNS,
        "cards": [
            {
                "type": "map",
                "entities": [*(ids[""] for ids in trackers.values()), *_ZONES],
                "default_zoom": 16,
                "hours_to_show": 1,
                "grid_options": {"columns": "full", "rows": 7},
            }
        ],
    }


def _kilometres(trackers: Mapping[str, EntityIds]) -> list[Card]:
    """Return the kilometres of each week, once there are trackers that count them."""
    entities = [
        {"entity": ids["total_distance"], "name": name}
        for name, ids in trackers.items()
        if "total_distance" in ids
    ]
    graph = {
        "type": "statistics-graph",
        "title": "Kilometers per week",
        "entities": entities,
        "period": "week",
        "days_to_show": 28,
        "stat_types": ["change"],
        "chart_type": "bar",
        "grid_options": {"columns": "full"},
    }
    grid = {"type": "grid", "column_span": _COLUMNS, "cards": [graph]}
    return [grid] if entities else []


def _alarm(ids: EntityIds) -> list[Card]:
    """Return the last alarm, from the first one on: before it there is none."""
    if "alarm" not in ids:
        return []
    return [
        {
            "type": "tile",
            "entity": ids["alarm"],
            "name": "Last alarm",
            "state_content": ["event_type", "state"],
            "grid_options": {"columns": "full"},
        }
    ]


def _guard(ids: EntityIds) -> list[Card]:
    """Return the guard with its buttons, of a tracker that was anywhere."""
    if "guard" not in ids:
        return []
    modes = {"type": "alarm-modes", "modes": ["armed_away", "disarmed"]}
    return [
        {
            "type": "tile",
            "entity": ids["guard"],
            "name": "Guard",
            "state_content": ["state", "cause"],
            "features": [modes],
            "grid_options": {"columns": "full"},
        }
    ]


def _section(name: str, ids: EntityIds) -> Card:
    return {
        "type": "grid",
        "cards": [
            {"type": "heading", "heading": name, "icon": _ICON},
            *(
                {"type": "tile", "entity": ids[key], "name": title}
                for key, title in _SHOWN.items()
                if key in ids
            ),
            *_alarm(ids),
            *_guard(ids),
        ],
    }
