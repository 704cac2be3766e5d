"""Serve a fleet of some trackers: python -m tests.tools.benchmark.service TRACKERS [everything].

Prints the addresses, then takes lines with a command and a number on standard input, and answers each with a number: what
was asked for, or else that of the requests since the last one. Ends with its input.
"""

import asyncio
import json
import sys

from aiohttp import web

from tests.tools.simulator import Simulator
from tests.tools.simulator.listener import HOST

from .fleet import EMAIL, PASSWORD, Fleet
from .traccar_server import routes


async def _listen(app: web.Application) -> tuple[web.AppRunner, str]:
    """Serve on any port; return what does, and the address."""
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, HOST, 0).start()
    _host, port = runner.addresses[0]
    return runner, f"http://{HOST}:{port}"


def _print(value: object) -> None:
    print(json.dumps(value), flush=True)


async def _serve(trackers: int, *, everything: bool) -> None:
    async with Simulator() as simulator:
        fleet = Fleet(simulator, trackers, everything=everything)
        app = web.Application()
        app.add_routes(routes(simulator))
        runner, peer = await _listen(app)
        account = {"email": EMAIL, "password": PASSWORD}
        _print({"url": simulator.url, "peer": peer, **account})
        while line := await asyncio.to_thread(sys.stdin.readline):
            command, number = line.split()
            answer = fleet.commands[command](int(number))
            _print(simulator.record.counts.total() if answer is None else answer)
            if answer is None:
                simulator.record.clear()
        await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), everything="everything" in sys.argv))
