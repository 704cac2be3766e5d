"""The service in another process: python -m tests.tools.benchmark.service TRACKERS [everything] [live].

The process prints its addresses, reads lines with a command and a number, and answers each line with a number: the
result of the command, or else the number of requests since the last command without a result.
"""

import asyncio
from dataclasses import dataclass
import json
import subprocess
import sys
from typing import Self

from aiohttp import web
import orjson

from tests.tools.simulator import Simulator
from tests.tools.simulator.listener import HOST
from tests.tools.simulator.render import Endpoint

from .fleet import EMAIL, Fleet


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of the service for the candidates."""

    url: str
    """The documented service, ends in /api."""
    peer: str
    """The Traccar server for Home Assistant's own integration."""


class Service:
    """Starts the process, controls it, and ends it."""

    def __init__(self, trackers: int, *options: str) -> None:
        """Serve some trackers. The options are those of the program."""
        command = ["-m", "tests.tools.benchmark.service", str(trackers), *options]
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        """Wait until the service listens."""
        self.addresses = Addresses(**json.loads(self._read()))
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()

    def do(self, command: str, trackers: int = 0) -> int:
        """Send a command of `Fleet.commands`, and return its result."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{command} {trackers}\n")
        self._process.stdin.flush()
        return int(self._read())

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the service ended")
        return line


def _traccar(simulator: Simulator, *, live: bool) -> web.Application:
    """Return the endpoints that pytraccar requests, with the same fleet."""

    def listed(endpoint: Endpoint) -> web.Response:
        return web.json_response(body=orjson.dumps(simulator.listed(endpoint, EMAIL)))

    async def devices(_: web.Request) -> web.Response:
        return listed("devices")

    async def positions(_: web.Request) -> web.Response:
        return listed("positions")

    async def geofences(_: web.Request) -> web.Response:
        return web.json_response([])

    async def session(_: web.Request) -> web.Response:
        # The integration subscribes always. Without a session only its polls count.
        return simulator.live.session(EMAIL) if live else web.Response(status=503)

    async def sign_out(_: web.Request) -> web.Response:
        return web.Response(status=204)

    async def socket(request: web.Request) -> web.StreamResponse:
        email = simulator.live.account(request)
        if email is None:
            return web.Response(status=503)
        first = simulator.listed("positions", email)
        return await simulator.live.serve(request, email, first)

    app = web.Application()
    app.add_routes(
        [
            web.get("/api/devices", devices),
            web.get("/api/positions", positions),
            web.get("/api/geofences", geofences),
            web.get("/api/session", session),
            web.delete("/api/session", sign_out),
            web.get("/api/socket", socket),
        ]
    )
    return app


def _print(value: object) -> None:
    print(json.dumps(value), flush=True)


async def _serve(trackers: int, options: list[str]) -> None:
    async with Simulator() as simulator:
        fleet = Fleet(simulator, trackers, everything="everything" in options)
        app = _traccar(simulator, live="live" in options)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, HOST, 0).start()
        peer = f"http://{HOST}:{runner.addresses[0][1]}"
        _print({"url": simulator.url, "peer": peer})
        while line := await asyncio.to_thread(sys.stdin.readline):
            command, number = line.split()
            answer = fleet.commands[command](int(number))
            _print(simulator.record.counts.total() if answer is None else answer)
            if answer is None:
                simulator.record.clear()
        await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), sys.argv[2:]))
