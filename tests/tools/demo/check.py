"""What Home Assistant shows of the trackers, held against what the simulator serves."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any

from . import words
from .client import CommandError, HomeAssistantClient, State
from .expected import DEVICE, Key, Served, expected
from .simulator import SimulatorProcess

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


@dataclass(frozen=True, slots=True)
class Row:
    """One entity, or the device or the track, of one tracker."""

    tracker: str
    entity: str
    state: str
    expected: str

    @property
    def right(self) -> bool:
        """Whether Home Assistant shows what is served."""
        return self.state in self.expected.split(" or ")


async def check(client: HomeAssistantClient, simulator: SimulatorProcess) -> list[Row]:
    """Return what is there once all of it is right, or else after two minutes."""
    start = last_poll = monotonic()
    while True:
        served = await Served.now(simulator)
        rows = await compare(client, served)
        if all(row.right for row in rows) and served == await Served.now(simulator):
            return rows
        if monotonic() - start > _LONGEST_WAIT:
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
            state = words.WRITTEN if (media / name).exists() else words.MISSING
        except CommandError as err:
            state = str(err)
        rows.append(Row(device["name"], name, state, words.WRITTEN))
    return rows


async def compare(client: HomeAssistantClient, served: Served) -> list[Row]:
    """Hold all that Home Assistant has of the integration against what is served."""
    states = await client.states()
    zones = [state for state in states.values() if state.entity_id.startswith("zone.")]
    devices = await client.devices()
    entities = {
        (entity["entity_id"].partition(".")[0], entity["unique_id"]): entity
        for entity in await client.entities()
        if not entity["unique_id"].endswith(_WHAT_HAPPENED)
    }
    rows = []
    for tracker, key, text in expected(served, zones):
        if key[0] == DEVICE:
            rows.append(Row(tracker, DEVICE, _device(devices.pop(key[1], None)), text))
        else:
            entity = entities.pop(key, None)
            name = entity["entity_id"] if entity else " ".join(key)
            state = _state(entity, states)
            rows.append(Row(tracker, name, state, _in_time(key, state, text)))
    rows += [
        Row("", entity["entity_id"], _state(entity, states), words.NOTHING)
        for entity in entities.values()
    ]
    return rows + [
        Row("", DEVICE, _device(device), words.NOTHING) for device in devices.values()
    ]


def table(rows: Iterable[Row]) -> str:
    """Return the rows as text for people."""
    lines = [("tracker", "entity", "state", "expected", "")] + [
        (row.tracker, row.entity, row.state, row.expected, "" if row.right else "WRONG")
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            text.ljust(width) for text, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def _in_time(key: Key, shown: str, text: str) -> str:
    """Return what is expected: of the time of the last report what was shown before, for a while."""
    if not key[1].endswith("_last_update") or shown in words.NO_VALUE:
        return text
    late = datetime.fromisoformat(text) - datetime.fromisoformat(shown)
    return shown if timedelta() <= late <= _LATE else text


def _device(device: Mapping[str, Any] | None) -> str:
    if device is None:
        return words.MISSING
    return words.device(device["name"], device["serial_number"])


def _state(entity: Mapping[str, Any] | None, states: Mapping[str, State]) -> str:
    if entity is None:
        return words.MISSING
    if entity["disabled_by"] is not None:
        return words.DISABLED
    state = states.get(entity["entity_id"])
    if state is None:
        return words.MISSING
    at = state.attributes
    if "latitude" in at:
        return words.place(
            state.state, at["latitude"], at["longitude"], at["gps_accuracy"]
        )
    unit = at.get("unit_of_measurement")
    if unit is None or not _is_number(state.state):
        return state.state
    return words.number(float(state.state), unit)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
