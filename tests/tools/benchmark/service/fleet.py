"""The fleet, and each way it changes between two polls."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from typing import Any

import orjson

from tests.tools.simulator import SimDevice, SimPosition, Simulator
from tests.tools.simulator.render import device_json
from tests.tools.simulator.world import Json

EMAIL = "rider@example.com"
PASSWORD = "demo"

# Of a position nothing but the place, so that each tracker has the same four entities everywhere. Full trackers have all
# that the usual way shows as well: without the time of their places there are no rides.
_LEFT_OUT = ("fixTime", "altitude", "speed", "course", "attributes")
_LEFT_OUT_OF_FULL = ("fixTime",)
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


def unique_id_of(number: int) -> str:
    """Return the `uniqueId` of a tracker, in the order in which they report."""
    return f"{860_000_000_000_000 + number}"


class Fleet:
    """The trackers of one account."""

    def __init__(
        self, simulator: Simulator, trackers: int, *, full: bool, timed: bool = False
    ) -> None:
        """Assign so many trackers, all of which have reported, to a new account."""
        self._full = full
        self._timed = timed
        self._simulator = simulator
        self._now = datetime.now(UTC) - timedelta(days=1)
        simulator.add_account(EMAIL, PASSWORD)
        for number in range(trackers):
            self._add(number)
        self._next = cycle(list(simulator.devices))

    @property
    def commands(self) -> dict[str, Callable[[int], None]]:
        """What can be asked for by name, each with a number of trackers."""
        return {
            "report": self._report,
            "touch": self._touch,
            "keep_order": self._keep_order,
            "shuffle": self._shuffle,
        }

    @property
    def devices(self) -> list[SimDevice]:
        """The trackers, always in the same order."""
        return self._simulator.devices_of(EMAIL)

    def _add(self, number: int) -> None:
        unique_id = unique_id_of(number)
        self._simulator.add_device(
            unique_id,
            name=f"Bike {number:05}",
            email=EMAIL,
            last_update=self._now,
            longitude=7.8 + number / 100_000,
        )
        left_out = _LEFT_OUT_OF_FULL if self._full else _LEFT_OUT
        for field in () if self._timed else left_out:
            self._simulator.override_position(unique_id, field)
        self._lengthen(unique_id)

    def _lengthen(self, unique_id: str) -> None:
        """Let a tracker's rows hold what real ones hold besides."""
        simulator = self._simulator
        simulator.set_attributes(unique_id, _DEVICE_ATTRIBUTES)
        for field, value in _DEVICE.items():
            simulator.override_field(unique_id, field, value)
        simulator.override_position(unique_id, "network", _NETWORK)
        position = simulator.devices[unique_id].position
        assert position is not None
        if self._full:
            position.attributes |= _ATTRIBUTES
        else:
            simulator.override_position(unique_id, "attributes", _ATTRIBUTES)

    def _report(self, trackers: int) -> None:
        """Have the next so many report: lastUpdate, position and status are others."""
        now = self._later()
        for unique_id in islice(self._next, trackers):
            device = self._simulator.devices[unique_id]
            assert device.position is not None
            latitude = round(device.position.latitude + 0.0001, 6)
            # What is said live of a device comes with the report, and not apart from it.
            device.status = "offline" if device.status == "online" else "online"
            self._simulator.report(
                unique_id,
                latitude=latitude,
                last_update=now,
                **(_all_else(device.position) if self._full else {}),
            )
            if self._full:
                self._simulator.set_disabled(unique_id, not device.disabled)

    def _touch(self, trackers: int) -> None:
        """Give the next so many a new lastUpdate and nothing else."""
        unique_ids = list(islice(self._next, trackers))
        self._simulator.touch(unique_ids, last_update=self._later())

    def _later(self) -> datetime:
        """Return a time that Home Assistant, which shows seconds, shows as another one."""
        if self._timed:
            return datetime.now(UTC)
        self._now += timedelta(minutes=1)
        return self._now

    def _keep_order(self, _trackers: int) -> None:
        """Send the very same list of trackers from now on."""
        rows = [device_json(device) for device in self.devices]
        self._simulator.raw_devices(orjson.dumps(rows))

    def _shuffle(self, _trackers: int) -> None:
        """Send the list in another order each time, as from the start."""
        self._simulator.raw_devices(None)


def _all_else(before: SimPosition) -> dict[str, Any]:
    """Return all values besides the place, each another one than before."""
    return {
        "altitude": before.altitude + 1,
        "speed": (before.speed + 1) % 20,
        "course": (before.course + 1) % 360,
        "battery_level": 79 if before.attributes["batteryLevel"] == 80 else 80,
        "motion": not before.attributes["motion"],
    }
