"""The service in another process, so that its work is not the candidate's."""

import asyncio
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import NamedTuple, Self

from aiohttp import web
import orjson

from tests.tools.simulator import Simulator
from tests.tools.simulator.listener import HOST, Handler, Listener

from .fleet import EMAIL, Fleet


class Addresses(NamedTuple):
    """The addresses of the service for the candidates."""

    url: str
    """The documented service, ends in /api."""
    peer: str
    """The Traccar server for Home Assistant's own integration."""


class Service:
    """Starts the process, controls it, and ends it."""

    addresses: Addresses

    def __init__(self, trackers: int, *, everything: bool, live: bool) -> None:
        """Serve some trackers, which report everything or only their place."""
        context = get_context("spawn")
        self._pipe, self._theirs = context.Pipe()
        options = (self._theirs, trackers, everything, live)
        self._process = context.Process(target=_run, args=options)

    def __enter__(self) -> Self:
        """Wait until the service listens."""
        self._process.start()
        self._theirs.close()
        self.addresses = self._pipe.recv()
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join()

    def do(self, command: str, trackers: int = 0) -> int:
        """Give a command of `Fleet.do`, and return its result."""
        self._pipe.send((command, trackers))
        result: int = self._pipe.recv()
        return result


def _run(pipe: Connection, trackers: int, everything: bool, live: bool) -> None:
    asyncio.run(_serve(pipe, trackers, everything=everything, live=live))


async def _serve(
    pipe: Connection, trackers: int, *, everything: bool, live: bool
) -> None:
    async with Simulator() as simulator:
        fleet = Fleet(simulator, trackers, everything=everything)
        listener = Listener(_traccar(simulator, live=live))
        listener.open()
        pipe.send(Addresses(simulator.url, f"http://{HOST}:{listener.port}"))
        with suppress(EOFError):
            while True:
                command, number = await asyncio.to_thread(pipe.recv)
                pipe.send(fleet.do(command, number))
        await listener.stop()


def _traccar(simulator: Simulator, *, live: bool) -> Handler:
    """Return what answers the requests of pytraccar, with the same fleet."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
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
        # The integration subscribes always. Without a session only its polls count.
        return web.Response(status=503)

    return answer
