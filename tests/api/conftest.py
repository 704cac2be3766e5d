"""The service and a client that talks to it over a real socket."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
import contextlib
import time

from aiohttp import ClientSession, DummyCookieJar
import pytest

from custom_components.bike_tracker.api.client import TrackingClient
from tests.tools.simulator import Simulator

EMAIL = "ann@example.com"
PASSWORD = "correct horse"
RED = "860000000000011"
BLUE = "860000000000022"

type MakeClient = Callable[..., TrackingClient]
type Serve = Callable[..., Awaitable[Served]]


@pytest.fixture(autouse=True)
def integration(socket_enabled: None) -> None:
    """Reach the simulator; Home Assistant is not needed here."""


@pytest.fixture
async def hurried(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Let a tenth of a second pass with each turn of the event loop, however long that takes.

    What is sent has arrived by then, also where others keep the machine busy.
    """
    loop = asyncio.get_running_loop()
    now = loop.time()
    monkeypatch.setattr(loop, "time", lambda: now)

    async def _hurry() -> None:
        nonlocal now
        while True:
            now += 0.1
            time.sleep(0.0001)  # noqa: ASYNC251 - the system has its turn as well
            await asyncio.sleep(0)

    hurrying = asyncio.create_task(_hurry())
    yield
    hurrying.cancel()


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    """Return a session as the integration makes it."""
    async with ClientSession(cookie_jar=DummyCookieJar()) as session:
        yield session


@pytest.fixture
def make_client(simulator: Simulator, session: ClientSession) -> MakeClient:
    """Return a function that makes a client, of the account unless told."""

    def _make_client(
        url: str | None = None, email: str = EMAIL, password: str = PASSWORD
    ) -> TrackingClient:
        return TrackingClient(session, url or simulator.url, email, password)

    return _make_client


@pytest.fixture
def client(make_client: MakeClient) -> TrackingClient:
    """Return a client of the account."""
    return make_client()


def recorded_answer(status: int, headers: dict[str, str], body: str) -> bytes:
    """Return what a real server once answered, as it went over the wire."""
    lines = [f"HTTP/1.1 {status} x", *(f"{name}: {headers[name]}" for name in headers)]
    return "\r\n".join([*lines, "", body]).encode()


class Served:
    """A server that gives everybody the same bytes."""

    def __init__(self, answer: bytes, until: bytes) -> None:
        """Give these bytes, once those came that end the request."""
        self._answer = answer
        self._until = until
        self.requests: list[bytes] = []
        self.url = ""

    async def start(self) -> asyncio.Server:
        """Listen on any port."""
        server = await asyncio.start_server(self._respond, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/api"
        return server

    async def _respond(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            self.requests.append(await reader.readuntil(self._until))
        writer.write(self._answer)
        with contextlib.suppress(ConnectionError):
            await writer.drain()
        writer.close()


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Return a function that starts a server of these bytes."""
    servers: list[asyncio.Server] = []

    async def _serve(answer: bytes, *, until: bytes = b"\r\n\r\n") -> Served:
        served = Served(answer, until)
        servers.append(await served.start())
        return served

    yield _serve
    for server in servers:
        server.close()
        server.close_clients()
        await server.wait_closed()
