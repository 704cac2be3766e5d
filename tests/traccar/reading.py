"""The trackers in each recorded file, and what Home Assistant shows of them."""

from collections.abc import Callable, Iterator
import json
from typing import Any

from homeassistant.const import ATTR_LATITUDE, ATTR_LONGITUDE, Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er

from custom_components.bike_tracker.const import DOMAIN

from . import recorded

type Values = dict[str, Any]
type Answer = tuple[list[Any], list[Any]]
"""Devices and positions."""

# Those that a recorded position belongs to, where none was recorded.
_DEVICE = {"name": "Bike", "status": "online", "groupId": 0, "disabled": False}


def answers(version: str, what: str) -> Iterator[tuple[str, Answer]]:
    """Yield what a file holds, each with a name for it."""
    content = recorded(version, what)
    yield from _READERS.get(what, _devices)(content)


def shown(hass: HomeAssistant) -> dict[str, Values]:
    """Return what a person reads of each tracker, by its `uniqueId`."""
    devices = dr.async_get(hass)
    values: dict[str, Values] = {}
    for entity in er.async_get(hass).entities.values():
        state = hass.states.get(entity.entity_id)
        if entity.platform != DOMAIN or state is None:
            continue
        assert entity.device_id
        device = devices.async_get(entity.device_id)
        assert isinstance(device, dr.DeviceEntry)
        assert device.serial_number
        of_tracker = values.setdefault(device.serial_number, {"name": device.name})
        if entity.domain == Platform.DEVICE_TRACKER:
            latitude = state.attributes.get(ATTR_LATITUDE)
            of_tracker["place"] = latitude and [
                latitude,
                state.attributes[ATTR_LONGITUDE],
            ]
        else:
            key = entity.unique_id.removeprefix(f"{device.serial_number}_")
            of_tracker[key] = state.attributes.get("event_type", state.state)
        if device.model:
            of_tracker["model"] = device.model
    return values


def _devices(content: list[Values]) -> Iterator[tuple[str, Answer]]:
    yield "devices", (content, [])


def _cases(content: Values) -> Iterator[tuple[str, Answer]]:
    for name, case in content.items():
        [position] = case["position"]
        [device] = case.get("device") or content["full"]["device"]
        yield name, ([device | {"positionId": position["id"]}], [position])


def _positions(content: list[Values]) -> Iterator[tuple[str, Answer]]:
    devices = [
        _DEVICE
        | {
            "id": position["deviceId"],
            "uniqueId": str(position["deviceId"]),
            "lastUpdate": position["serverTime"],
            "positionId": position["id"],
        }
        for position in content
    ]
    yield "positions", (devices, content)


def _old(content: Values) -> Iterator[tuple[str, Answer]]:
    for question in content.keys() - {"device"}:
        yield question, (content["device"], content[question])


def _messages(content: list[tuple[float, str]]) -> Iterator[tuple[str, Answer]]:
    positions = {
        position["deviceId"]: position
        for _, text in content
        for position in json.loads(text).get("positions", ())
    }
    yield from _positions(list(positions.values()))


_READERS: dict[str, Callable[[Any], Iterator[tuple[str, Answer]]]] = {
    "osmand-cases": _cases,
    "position-never-a-fix": _positions,
    "position-h02-invalid": _positions,
    "fix-100-days-old": _old,
    "websocket-messages": _messages,
}
