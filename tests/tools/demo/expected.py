"""What Home Assistant should show of what the simulator serves, by the interface and without the integration's own code."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, Self

from homeassistant.util.location import distance

from . import words
from .client import State
from .simulator import EMAIL, SimulatorProcess

_KNOT = 1.852
"""Kilometres per hour."""

type Json = Mapping[str, Any]
type Key = tuple[str, str]
"""Domain and unique ID of an entity."""

DEVICE = "device"
"""In place of a domain: the device itself."""


@dataclass(frozen=True, slots=True)
class Served:
    """What the demo's account is served at one moment; positions by the internal ID of their device."""

    devices: list[Json]
    positions: Mapping[int, Json]

    @classmethod
    async def now(cls, simulator: SimulatorProcess) -> Self:
        """Look at what the simulator serves now."""
        account = (await simulator.control.state())["accounts"][EMAIL]
        positions = [] if simulator.documented_only else account["positions"]
        return cls(
            sorted(account["devices"], key=lambda device: device["uniqueId"]),
            {position["deviceId"]: position for position in positions},
        )


class Expected(NamedTuple):
    """One entity, or the device, of one tracker."""

    tracker: str
    key: Key
    text: str


def expected(served: Served, zones: Iterable[State]) -> Iterator[Expected]:
    """Yield all that there should be."""
    for device in served.devices:
        position = served.positions.get(device["id"])
        name, unique_id = device["name"], device["uniqueId"]
        yield Expected(name, (DEVICE, unique_id), words.device(name, unique_id))
        place = words.UNKNOWN if position is None else _place(position, zones)
        yield Expected(name, ("device_tracker", unique_id), place)
        values = _of_device(device)
        if position is not None:
            values |= _of_position(position)
        for (domain, suffix), text in values.items():
            yield Expected(name, (domain, f"{unique_id}_{suffix}"), text)


def _of_device(device: Json) -> dict[Key, str]:
    return {
        ("binary_sensor", "online"): words.yes_or_no(device["status"] == "online"),
        ("binary_sensor", "disabled"): words.yes_or_no(device["disabled"]),
        ("sensor", "last_update"): _time(device["lastUpdate"]),
        ("sensor", "position_id"): words.DISABLED,
        ("sensor", "group_id"): words.DISABLED,
    }


def _of_position(position: Json) -> dict[Key, str]:
    attributes = position["attributes"]
    values = {
        ("alarm_control_panel", "guard"): "disarmed",
        ("sensor", "position_time"): words.DISABLED,
        ("sensor", "battery"): words.number(attributes["batteryLevel"], "%"),
        ("binary_sensor", "motion"): words.yes_or_no(attributes["motion"]),
        ("sensor", "speed"): words.number(position["speed"] * _KNOT, "km/h"),
        ("sensor", "altitude"): words.DISABLED,
        ("sensor", "course"): words.DISABLED,
        # On while a ride is under way, which starts seconds after the bike moves.
        ("calendar", "rides"): "off or on",
    }
    if "charge" in attributes:
        values["binary_sensor", "charging"] = words.yes_or_no(attributes["charge"])
    if "lock" in attributes:
        # On is open.
        values["binary_sensor", "lock"] = words.yes_or_no(not attributes["lock"])
    for key, attribute in (("battery_voltage", "battery"), ("power_voltage", "power")):
        if attribute in attributes:
            values["sensor", key] = words.DISABLED
    return values


def _time(text: str) -> str:
    return datetime.fromisoformat(text).astimezone(UTC).isoformat(timespec="seconds")


def _place(position: Json, zones: Iterable[State]) -> str:
    latitude, longitude = position["latitude"], position["longitude"]
    accuracy = position["accuracy"]
    zone = min(
        (zone for zone in zones if _reaches(zone, latitude, longitude, accuracy)),
        key=lambda zone: float(zone.attributes["radius"]),
        default=None,
    )
    return words.place(_state_in(zone), latitude, longitude, accuracy)


def _state_in(zone: State | None) -> str:
    if zone is None:
        return "not_home"
    if zone.entity_id == "zone.home":
        return "home"
    return str(zone.attributes["friendly_name"])


def _reaches(zone: State, latitude: float, longitude: float, accuracy: float) -> bool:
    at = zone.attributes
    metres = distance(latitude, longitude, at["latitude"], at["longitude"])
    return metres is not None and metres - at["radius"] < accuracy
