"""The simulated service with the fleet. It runs in another process, so that its work is not measured."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import cycle, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any, Final

from aiohttp import web
import orjson

from tests.tools.simulator import SimPosition, Simulator
from tests.tools.simulator.listener import Listener
from tests.tools.simulator.world import MISSING, Json

EMAIL: Final = "rider@example.com"
PASSWORD: Final = "demo"

# With these fields of positions, trackers would have more than five enabled entities.
_LEFT_OUT = ("fixTime", "altitude", "speed", "course")
# Further fields of real servers: with them, a device has about 450 bytes, and a
# position about 750.
_DEVICE: dict[str, Json] = {
    "calendarId": 0,
    "phone": "+491701234567",
    "model": None,
    "contact": "Bicycle rental, Am Bach 3, 79098 Freiburg, 9 to 18 o'clock",
    "expirationTime": "2036-01-01T00:00:00.000+00:00",
    "attributes": {"note": "Behind the shed, the key is at the desk of the inn"},
}
_NETWORK: dict[str, Json] = {"radioType": "gsm", "carrier": "Telekom.de"}
_ATTRIBUTES: dict[str, Json] = {f"io{it}": 10 * it for it in range(200, 233)}
_HISTORY = 1_440
"""Number of earlier reports of each tracker that reports everything: one a minute for a day."""
_SOON = 0.1
"""Seconds until `report_soon` sends reports. Before that, the benchmark begins to measure."""


class Fleet:
    """The trackers of an account, and their changes between two polls."""

    def __init__(
        self, simulator: Simulator, trackers: int, *, everything: bool
    ) -> None:
        """Create an account with this number of trackers. All of them have reported."""
        self.simulator, self._everything = simulator, everything
        self._now = datetime.now(UTC) - timedelta(days=1)
        self.reported_at = 0.0
        """When the last reports were sent, by the monotonic clock."""
        simulator.add_account(EMAIL, PASSWORD)
        for number in range(trackers):
            self._add(number)
        self._next = cycle(list(simulator.devices))

    def _add(self, number: int) -> None:
        unique_id = f"{860_000_000_000_000 + number}"
        device = self.simulator.add_device(
            unique_id,
            name=f"Bike {number:05}",
            email=EMAIL,
            last_update=self._now,
            longitude=7.8 + number / 100_000,
        )
        device.overrides |= _DEVICE
        device.position_overrides["network"] = _NETWORK
        assert device.position is not None
        if self._everything:
            device.position.attributes |= _ATTRIBUTES
            self.simulator.reports[unique_id].extend(_history(device.position))
        else:
            left_out = dict.fromkeys(_LEFT_OUT, MISSING)
            device.position_overrides |= {"attributes": _ATTRIBUTES, **left_out}

    def report(self, trackers: int) -> None:
        """Let the next trackers report a new time, place and status. If `everything`, all other fields change, too."""
        self._pass_a_minute()
        for unique_id in islice(self._next, trackers):
            device = self.simulator.devices[unique_id]
            assert device.position is not None
            # The status belongs to the device. So the live connection sends two messages: one
            # with the device, one with the position.
            device.status = "offline" if device.status == "online" else "online"
            self.simulator.report(
                unique_id,
                latitude=round(device.position.latitude + 0.0001, 6),
                last_update=self._now,
                **(_all_else(device.position) if self._everything else {}),
            )
            if self._everything:
                self.simulator.set_disabled(unique_id, not device.disabled)
        # Creating a hundred messages is slower than showing them, so measure the time from here.
        self.reported_at = monotonic()

    def report_soon(self, trackers: int) -> None:
        """Let the next trackers report after `_SOON` seconds."""
        asyncio.get_running_loop().call_later(_SOON, self.report, trackers)

    def contact(self, trackers: int) -> None:
        """Let the next trackers report only a new time of the last contact."""
        self._pass_a_minute()
        self.simulator.touch(islice(self._next, trackers), last_update=self._now)

    def keep_order(self) -> None:
        """From now on, send exactly the same device list, until trackers report or have contact again."""
        self.simulator.raw_devices(list(self.simulator.listed("devices", EMAIL)))

    def _pass_a_minute(self) -> None:
        """Move the fleet's clock by a minute. End `keep_order`: each list has a random order again."""
        self._now += timedelta(minutes=1)
        self.simulator.raw_devices(None)


def _all_else(before: SimPosition) -> dict[str, Any]:
    """Return new values for the fields of a position, except time and place."""
    return {
        "altitude": before.altitude + 1,
        "speed": (before.speed + 1) % 20,
        "course": (before.course + 1) % 360,
        "battery_level": 79 if before.attributes["batteryLevel"] == 80 else 80,
        "motion": not before.attributes["motion"],
    }


def _history(last: SimPosition) -> Iterator[SimPosition]:
    """Yield the earlier reports of a tracker: rides there and back of half an hour each."""
    for number in range(_HISTORY, 0, -1):
        time = last.fix_time - timedelta(minutes=number)
        times: Any = dict.fromkeys(("fix_time", "device_time", "server_time"), time)
        latitude = last.latitude + abs(number % 60 - 30) / 1000
        yield replace(last, id=number, latitude=latitude, **times)


class Service:
    """The process in which the service runs."""

    def __init__(self, trackers: int, *, everything: bool, live: bool) -> None:
        """Start the service, and wait until it listens. Without `live`, it refuses live connections."""
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        options = theirs, trackers, everything, live
        self._process = context.Process(target=_run, args=options)
        self._process.start()
        theirs.close()
        # The URL for this integration and for `Floor`, and the port for `traccar_server`.
        self.url, self.peer_port = self._pipe.recv()

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join()

    def do[*Args, T](self, work: Callable[[Fleet, *Args], T], *args: *Args) -> T:
        """Call a method of the fleet in the other process, and return its result."""
        self._pipe.send((work, args))
        result: T = self._pipe.recv()
        return result


def _run(pipe: Connection, *options: Any) -> None:
    asyncio.run(_serve(pipe, *options))


async def _serve(pipe: Connection, trackers: int, everything: bool, live: bool) -> None:
    async with Simulator() as simulator:
        fleet = Fleet(simulator, trackers, everything=everything)
        listener = Listener(partial(_answer, simulator, live))
        listener.open()
        pipe.send((simulator.url, listener.port))
        with suppress(EOFError):
            while True:
                work, args = await asyncio.to_thread(pipe.recv)
                pipe.send(work(fleet, *args))
        await listener.stop()


async def _answer(
    simulator: Simulator, live: bool, request: web.BaseRequest
) -> web.StreamResponse:
    """Answer the requests of pytraccar, the client of `traccar_server`, from the same fleet."""
    match request.method, request.path.removeprefix("/api/"):
        case "GET", ("devices" | "positions") as endpoint:
            body = orjson.dumps(simulator.listed(endpoint, EMAIL))
            return web.json_response(body=body)
        case "GET", "geofences":
            return web.json_response([])
        case "DELETE", "session":
            return web.Response(status=204)
        case "GET", "session" if live:
            return simulator.live.session(EMAIL)
        case "GET", "socket" if email := simulator.live.account(request):
            first = simulator.listed("positions", email)
            return await simulator.live.serve(request, email, first)
    # If its live connection is refused, `traccar_server` only polls.
    return web.Response(status=503)
