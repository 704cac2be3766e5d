"""Serve a fleet of some trackers: python -m tests.tools.benchmark.service TRACKERS [full] [short] [timed].

With `full` they report all there is, not just places; with `short` each request has a connection of its own, as it
has when a minute passes between two polls; with `timed` they tell the times of their places, which are those of the clock.

Prints the addresses, then takes lines with a command and a number on standard input, and answers each with a number: what
was asked for, or else that of the requests since the last one. Ends with its input.
"""

import asyncio
from collections.abc import Awaitable, Callable
import json
import sys

from aiohttp import web

from tests.tools.simulator import Simulator
from tests.tools.simulator.listener import HOST

from . import scorpiontrack, traccar_server
from .fleet import EMAIL, PASSWORD, Fleet
from .live import Live

type Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class StandIns:
    """The services of the peers, on one port."""

    def __init__(self, simulator: Simulator, fleet: Fleet, *, short: bool) -> None:
        """Serve this fleet in the words of each, with connections that last or not."""
        self._short = short
        self.requests = 0
        app = web.Application(middlewares=[self._count])
        app.add_routes(scorpiontrack.routes(fleet))
        app.add_routes(traccar_server.routes(simulator))
        self._runner = web.AppRunner(app, access_log=None)

    async def start(self) -> str:
        """Listen, and return the address."""
        await self._runner.setup()
        site = web.TCPSite(self._runner, HOST, 0)
        await site.start()
        _host, port = self._runner.addresses[0]
        return f"http://{HOST}:{port}"

    async def stop(self) -> None:
        """Close."""
        await self._runner.cleanup()

    @web.middleware
    async def _count(
        self, request: web.Request, handler: Handler
    ) -> web.StreamResponse:
        self.requests += 1
        response = await handler(request)
        if self._short:
            response.force_close()
        return response


def _say(value: object) -> None:
    print(json.dumps(value), flush=True)


async def _serve(trackers: int, *, full: bool, short: bool, timed: bool) -> None:
    async with Simulator(short=short) as simulator:
        fleet = Fleet(simulator, trackers, full=full, timed=timed)
        live = Live(simulator, fleet)
        stand_ins = StandIns(simulator, fleet, short=short)
        peers = await stand_ins.start()
        _say(
            {
                "url": simulator.url,
                "email": EMAIL,
                "password": PASSWORD,
                "peers": peers,
            }
        )
        while line := await asyncio.to_thread(sys.stdin.readline):
            command, number = line.split()
            if command in live.commands:
                _say(live.commands[command](int(number)))
                continue
            if command != "count":
                fleet.commands[command](int(number))
            _say(simulator.record.counts.total() + stand_ins.requests)
            simulator.record.clear()
            stand_ins.requests = 0
        await stand_ins.stop()


if __name__ == "__main__":
    asyncio.run(
        _serve(
            int(sys.argv[1]),
            full="full" in sys.argv,
            short="short" in sys.argv,
            timed="timed" in sys.argv,
        )
    )
