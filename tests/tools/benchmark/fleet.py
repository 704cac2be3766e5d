"""The fleet, and each way it changes between two polls."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from time import monotonic_ns
from typing import Any

import orjson

from tests.tools.simulator import SimPosition, Simulator
from tests.tools.simulator.render import device_json
from tests.tools.simulator.world import Json

EMAIL = "rider@example.com"
PASSWORD = "demo"

# Of a position nothing but the place, so that each tracker has the same entities everywhere.
_LEFT_OUT = ("fixTime", "altitude", "speed", "course", "attributes")
# What real servers send besides, and nobody here reads: it makes rows as long as theirs, 450 and 780 bytes.
_DEVICE: dict[str, Json] = {
    "calendarId": 0,
    "phone": "+491701234567",
    "model": None,
    "contact": "Bicycle rental, 79098 Freiburg",
    "expirationTime": "2036-01-01T00:00:00.000+00:00",
}
_DEVICE_ATTRIBUTES: dict[str, Json] = {
    "speedLimit": 13.5,
    "web.reportColor": "#1f77b4",
    "note": "Behind the shed, the key is at the desk",
}
_NETWORK: dict[str, Json] = {
    "radioType": "gsm",
    "considerIp": False,
    "carrier": "Telekom.de",
}
_ATTRIBUTES: dict[str, Json] = {
    "priority": 0,
    "sat": 11,
    "event": 239,
    "hdop": 0.9,
    "pdop": 1.6,
    "rssi": 4,
    "ip": "100.64.17.203",
    "odometer": 4_183_221.0,
    "distance": 11.131949079325,
    "hours": 86_400_000,
    "operator": 26_201,
    "iccid": "8949020000000000000",
    "index": 4_711,
    "archive": False,
    **{f"io{number}": number % 7 for number in range(200, 218)},
}


_HISTORY = 1_440
"""Reports of the day before, of each tracker that reports everything: one a minute."""
_SOON = 0.1
"""Seconds until a report comes: whoever asks for it first has to listen."""


class Fleet:
    """The trackers of one account."""

    def __init__(
        self, simulator: Simulator, trackers: int, *, everything: bool
    ) -> None:
        """Assign so many trackers, all of which have reported, to a new account."""
        self._everything = everything
        self._simulator = simulator
        self._now = datetime.now(UTC) - timedelta(days=1)
        self._reported_at = 0
        simulator.add_account(EMAIL, PASSWORD)
        for number in range(trackers):
            self._add(number)
        self._next = cycle(list(simulator.devices))

    def do(self, command: str, trackers: int = 0) -> int:
        """Do something with so many trackers; return what is asked for, or else when trackers reported last."""
        match command:
            case "report":
                self._report(trackers)
            case "report_soon":
                asyncio.get_running_loop().call_later(_SOON, self._report, trackers)
            case "contact":
                self._contact(trackers)
            case "keep_order":
                self._keep_order()
            case "sockets":
                return len(self._simulator.live.sockets)
            case "requests":
                return self._simulator.record.counts.total()
        return self._reported_at

    def _add(self, number: int) -> None:
        unique_id = f"{860_000_000_000_000 + number}"
        device = self._simulator.add_device(
            unique_id,
            name=f"Bike {number:05}",
            email=EMAIL,
            last_update=self._now,
            longitude=7.8 + number / 100_000,
        )
        self._lengthen(unique_id)
        assert device.position is not None
        if self._everything:
            device.position.attributes |= _ATTRIBUTES
            self._simulator.reports[unique_id].extend(_history(device.position))
        else:
            for field in _LEFT_OUT:
                self._simulator.override_position(unique_id, field)
            self._simulator.override_position(unique_id, "attributes", _ATTRIBUTES)

    def _lengthen(self, unique_id: str) -> None:
        """Let a tracker's rows hold what real ones hold besides."""
        simulator = self._simulator
        simulator.set_attributes(unique_id, _DEVICE_ATTRIBUTES)
        for field, value in _DEVICE.items():
            simulator.override_field(unique_id, field, value)
        simulator.override_position(unique_id, "network", _NETWORK)

    def _report(self, trackers: int) -> None:
        """Have the next so many report: lastUpdate, position and status are others.

        Live, these are two messages each: of the device and of its position.
        """
        self._pass_a_minute()
        for unique_id in islice(self._next, trackers):
            device = self._simulator.devices[unique_id]
            assert device.position is not None
            # What is sent live of a device comes with the report, and not apart from it.
            device.status = "offline" if device.status == "online" else "online"
            self._simulator.report(
                unique_id,
                latitude=round(device.position.latitude + 0.0001, 6),
                last_update=self._now,
                **(_all_else(device.position) if self._everything else {}),
            )
            if self._everything:
                self._simulator.set_disabled(unique_id, not device.disabled)
        # Messages go out after this: making a hundred takes longer than showing them.
        self._reported_at = monotonic_ns()

    def _contact(self, trackers: int) -> None:
        """Change the next trackers' lastUpdate alone."""
        self._pass_a_minute()
        for unique_id in islice(self._next, trackers):
            self._simulator.set_last_update(unique_id, self._now)

    def _pass_a_minute(self) -> None:
        """Let time pass, and send lists in another order each time again."""
        self._now += timedelta(minutes=1)
        self._simulator.raw_devices(None)

    def _keep_order(self) -> None:
        """Send the very same list of trackers from now on."""
        devices = self._simulator.devices_of(EMAIL)
        rows = [device_json(device) for device in devices]
        self._simulator.raw_devices(orjson.dumps(rows))


def _all_else(before: SimPosition) -> dict[str, Any]:
    """Return all values besides the place, each another one than before."""
    return {
        "altitude": before.altitude + 1,
        "speed": (before.speed + 1) % 20,
        "course": (before.course + 1) % 360,
        "battery_level": 79 if before.attributes["batteryLevel"] == 80 else 80,
        "motion": not before.attributes["motion"],
    }


def _history(last: SimPosition) -> Iterator[SimPosition]:
    """Yield what was reported before: there and back, half an hour each."""
    for number in range(_HISTORY, 0, -1):
        time = last.fix_time - timedelta(minutes=number)
        yield replace(
            last,
            id=number,
            latitude=last.latitude + abs(number % 60 - 30) / 1000,
            fix_time=time,
            device_time=time,
            server_time=time,
        )
