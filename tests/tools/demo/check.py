"""What Home Assistant shows of the trackers, held against what the service says, without the integration's own code."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from .client import CommandError, HomeAssistantClient, State
from .service import EMAIL, SimulatedService

_KNOT = 1.852
"""Kilometers per hour."""
# Nothing that is served at one moment says what these show.
_WHAT_HAPPENED = (
    "_address",
    "_alarm",
    "_ride",
    "_ride_distance",
    "_ride_duration",
    "_total_distance",
)
# The time of the last report follows in steps while reports keep coming.
_LATE = timedelta(minutes=5)
_LONGEST_WAIT = 120.0
_SECONDS_BETWEEN_TRIES = 0.5
# Home Assistant makes no two polls that are asked for within ten seconds.
_SECONDS_BETWEEN_POLLS = 11.0

DEVICE = "device"
"""In place of a domain: the device itself."""
DISABLED = "disabled"
MISSING = "missing"
WRITTEN = "written"

type Json = Mapping[str, Any]
type Key = tuple[str, str]
"""Domain and unique ID of an entity."""


class Row(NamedTuple):
    """One entity, the device or a file, of one tracker."""

    name: str
    state: str
    expected: str

    @property
    def right(self) -> bool:
        """Whether Home Assistant shows what is served."""
        return self.state in self.expected.split(" or ")


async def check(client: HomeAssistantClient, service: SimulatedService) -> list[Row]:
    """Return what is there once all of it is right, or else after two minutes."""
    start = last_poll = monotonic()
    while True:
        expected = _expected(service)
        rows = _compared(expected, await _shown(client))
        is_right = all(row.right for row in rows) and expected == _expected(service)
        if is_right or monotonic() - start > _LONGEST_WAIT:
            return rows
        await asyncio.sleep(_SECONDS_BETWEEN_TRIES)
        if monotonic() - last_poll > _SECONDS_BETWEEN_POLLS:
            # The bikes ride on: another poll shows where they are now.
            last_poll = monotonic()
            await client.poll()


async def check_files(client: HomeAssistantClient, media: Path) -> list[Row]:
    """Have the track and the rides of a bike written, and say whether they are in the media folder."""
    rows, now = [], datetime.now(UTC)
    times = {
        "start_date_time": (now - timedelta(hours=1)).isoformat(),
        "end_date_time": now.isoformat(),
    }
    device = next(iter((await client.devices()).values()))
    for action, name in (("get_track", "track.gpx"), ("get_rides", "rides.csv")):
        data = {"device_id": device["id"], "filename": name, **times}
        try:
            await client.answer(f"bike_tracker.{action}", data)
            state = WRITTEN if (media / name).exists() else MISSING
        except CommandError as err:
            state = str(err)
        rows.append(Row(name, state, WRITTEN))
    return rows


def table(rows: Iterable[Row]) -> str:
    """Return the rows as text for people."""
    return "\n".join(
        f"{row.name:50}  {row.state:42}  {'' if row.right else f'WRONG: {row.expected}'}"
        for row in rows
    )


def _expected(service: SimulatedService) -> dict[Key, str]:
    """Return all that there should be of what the service says now."""
    places = {
        position["deviceId"]: position
        for position in service.listed("positions", EMAIL)
    }
    expected: dict[Key, str] = {}
    for device in service.listed("devices", EMAIL):
        unique_id = str(device["uniqueId"])
        expected[DEVICE, unique_id] = f"{device['name']}, serial number {unique_id}"
        values = _of_device(device) | _of_position(places[device["id"]])
        for (domain, suffix), text in values.items():
            expected[domain, f"{unique_id}_{suffix}".removesuffix("_")] = text
    return expected


def _of_device(device: Json) -> dict[Key, str]:
    at = datetime.fromisoformat(device["lastUpdate"]).astimezone(UTC)
    return {
        ("binary_sensor", "online"): _on(device["status"] == "online"),
        ("binary_sensor", "disabled"): _on(device["disabled"]),
        ("sensor", "last_update"): at.isoformat(timespec="seconds"),
        ("sensor", "position_id"): DISABLED,
        ("sensor", "group_id"): DISABLED,
    }


def _of_position(position: Json) -> dict[Key, str]:
    attributes = position["attributes"]
    values = {
        ("device_tracker", ""): _place(*(position[key] for key in _COORDINATES)),
        ("alarm_control_panel", "guard"): "disarmed",
        ("sensor", "position_time"): DISABLED,
        ("sensor", "battery"): _number(attributes["batteryLevel"], "%"),
        ("binary_sensor", "motion"): _on(attributes["motion"]),
        ("sensor", "speed"): _number(position["speed"] * _KNOT, "km/h"),
        ("sensor", "altitude"): DISABLED,
        ("sensor", "course"): DISABLED,
        # On while a ride is under way, which starts seconds after the bike moves.
        ("calendar", "rides"): "off or on",
    }
    if "charge" in attributes:
        values["binary_sensor", "charging"] = _on(attributes["charge"])
    if "lock" in attributes:
        # On is open.
        values["binary_sensor", "lock"] = _on(not attributes["lock"])
    for key, attribute in (("battery_voltage", "battery"), ("power_voltage", "power")):
        if attribute in attributes:
            values["sensor", key] = DISABLED
    return values


async def _shown(client: HomeAssistantClient) -> dict[Key, str]:
    """Return all that Home Assistant has of the integration."""
    states = await client.states()
    shown = {
        (
            DEVICE,
            unique_id,
        ): f"{device['name']}, serial number {device['serial_number']}"
        for unique_id, device in (await client.devices()).items()
    }
    for entity in await client.entities():
        if not entity["unique_id"].endswith(_WHAT_HAPPENED):
            entity_id = entity["entity_id"]
            key = entity_id.partition(".")[0], entity["unique_id"]
            is_disabled = entity["disabled_by"] is not None
            shown[key] = DISABLED if is_disabled else _text(states.get(entity_id))
    return shown


def _compared(expected: Mapping[Key, str], shown: Mapping[Key, str]) -> list[Row]:
    def rows() -> Iterator[Row]:
        for key in sorted(expected.keys() | shown.keys()):
            state, wanted = shown.get(key, MISSING), expected.get(key, MISSING)
            if key[1].endswith("_last_update") and _is_late(state, wanted):
                wanted = state
            yield Row(" ".join(key), state, wanted)

    return list(rows())


def _is_late(shown: str, expected: str) -> bool:
    """Return whether the time of the last report is that of a moment before."""
    try:
        late = datetime.fromisoformat(expected) - datetime.fromisoformat(shown)
    except ValueError:
        return False
    return timedelta() <= late <= _LATE


_COORDINATES = ("latitude", "longitude", "accuracy")


def _text(state: State | None) -> str:
    if state is None:
        return MISSING
    at = state.attributes
    if "latitude" in at:
        return _place(at["latitude"], at["longitude"], at["gps_accuracy"])
    unit = at.get("unit_of_measurement")
    try:
        return _number(float(state.state), unit) if unit else state.state
    except ValueError:
        return state.state


def _place(latitude: float, longitude: float, accuracy: float) -> str:
    return f"{latitude:.6f}, {longitude:.6f}, {accuracy:g} m"


def _number(value: float, unit: str) -> str:
    return f"{round(value, 3):g} {unit}"


def _on(value: object) -> str:
    return "on" if value is True else "off"
