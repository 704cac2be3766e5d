"""Compare the states of entities with the service's answers, without using the integration's code."""

import asyncio
from collections.abc import Mapping
from time import monotonic
from typing import Any

from .client import HomeAssistantClient, State
from .fleet import EMAIL, SimulatedService

_LONGEST_WAIT = 120.0
_SECONDS_BETWEEN_TRIES = 0.5
_KNOT = 1.852
"""One knot in kilometers per hour."""
# Ends of unique IDs. Leave out these entities: their states depend on earlier answers
# of the service, too.
_NOT_COMPARED = ("_address", "_alarm", "_ride", "_distance", "_duration")
_ANY = "any state"

type Json = Mapping[str, Any]
type Key = tuple[str, str]
"""Domain and unique ID of an entity."""


async def differences(
    client: HomeAssistantClient, service: SimulatedService
) -> list[str]:
    """Wait at most two minutes until all states are as expected. Return a line for each entity that is still wrong."""
    end = monotonic() + _LONGEST_WAIT
    while True:
        expected, shown = _expected(service), await _shown(client)
        wrong = [
            f"{' '.join(key)}: {shown.get(key)}, expected {expected.get(key)}"
            for key in sorted(expected.keys() | shown.keys())
            if shown.get(key) != expected.get(key)
            and not (key in shown and expected.get(key) == _ANY)
        ]
        if not wrong or monotonic() > end:
            return wrong
        await asyncio.sleep(_SECONDS_BETWEEN_TRIES)


def _expected(service: SimulatedService) -> dict[Key, str]:
    """Return the expected state of each entity, which follows from the service's current answers."""
    positions = service.listed("positions", EMAIL)
    places = {position["deviceId"]: position for position in positions}
    return {
        (domain, f"{device['uniqueId']}_{suffix}".removesuffix("_")): text
        for device in service.listed("devices", EMAIL)
        for (domain, suffix), text in _of(device, places[device["id"]]).items()
    }


def _of(device: Json, position: Json) -> dict[Key, str]:
    attributes = position["attributes"]
    return {
        ("alarm_control_panel", "guard"): "disarmed",
        ("binary_sensor", "charging"): _on(attributes["charge"]),
        ("binary_sensor", "disabled"): _on(device["disabled"]),
        # The state *on* of a lock means open.
        ("binary_sensor", "lock"): _on(not attributes["lock"]),
        ("binary_sensor", "motion"): _on(attributes["motion"]),
        ("binary_sensor", "online"): _on(device["status"] == "online"),
        # A ride starts and ends later than the motion, so both states may be right.
        ("calendar", "rides"): _ANY,
        ("device_tracker", ""): _place(position, "accuracy"),
        ("sensor", "battery"): _number(attributes["batteryLevel"]),
        # This state changes in steps of five minutes, so it may be older than the answer.
        ("sensor", "last_update"): _ANY,
        ("sensor", "speed"): _number(position["speed"] * _KNOT),
    }


async def _shown(client: HomeAssistantClient) -> dict[Key, str]:
    """Return the states of the integration's enabled entities, except entities in `_NOT_COMPARED`."""
    states = await client.states()
    return {
        (entity_id.partition(".")[0], entity["unique_id"]): _text(states.get(entity_id))
        for entity in await client.entities()
        if not entity["disabled_by"]
        and not entity["unique_id"].endswith(_NOT_COMPARED)
        and (entity_id := entity["entity_id"])
    }


def _text(state: State | None) -> str:
    if state is None:
        return "missing"
    if "latitude" in state.attributes:
        return _place(state.attributes, "gps_accuracy")
    try:
        return _number(float(state.state))
    except ValueError:
        return state.state


def _place(at: Json, accuracy: str) -> str:
    return f"{at['latitude']:.6f}, {at['longitude']:.6f}, {at[accuracy]:g} m"


def _number(value: float) -> str:
    return f"{round(value, 3):g}"


def _on(value: object) -> str:
    return "on" if value is True else "off"
