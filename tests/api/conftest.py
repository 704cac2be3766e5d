"""Fixtures: a client, and servers to which it connects over real sockets."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, suppress
import time

from aiohttp import ClientSession, CookieJar
import pytest

from custom_components.bike_tracker.api import TrackingClient
from tests.tools.simulator import Simulator

from ..conftest import EMAIL, PASSWORD

type MakeClient = Callable[..., TrackingClient]
type Serve = Callable[..., Awaitable[TrackingClient]]


@pytest.fixture(autouse=True)
def integration(socket_enabled: None) -> None:
    """Replace the fixture that loads the integration: these tests need only sockets, not Home Assistant."""


@pytest.fixture
async def hurried(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Move the clock of the event loop by a tenth of a second in each turn, so that timeouts pass quickly."""
    loop = asyncio.get_running_loop()
    now = loop.time()
    monkeypatch.setattr(loop, "time", lambda: now)

    async def _hurry() -> None:
        nonlocal now
        while True:
            now += 0.1
            time.sleep(0.0001)  # noqa: ASYNC251 - data that was sent needs time to arrive
            await asyncio.sleep(0)

    hurrying = asyncio.create_task(_hurry())
    yield
    hurrying.cancel()


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    """Return a session that would follow redirects and send another account's cookie. The client must prevent both."""
    jar = CookieJar(unsafe=True)
    jar.update_cookies({"JSESSIONID": "older"})
    async with ClientSession(headers={"User-Agent": "Home"}, cookie_jar=jar) as session:
        yield session


@pytest.fixture
def make_client(simulator: Simulator, session: ClientSession) -> MakeClient:
    """Return a function that makes a client, by default for the simulator and with the credentials of its account."""

    def _make_client(
        url: str | None = None, email: str = EMAIL, password: str = PASSWORD
    ) -> TrackingClient:
        return TrackingClient(session, url or simulator.url, email, password)

    return _make_client


@pytest.fixture
async def client(make_client: MakeClient) -> TrackingClient:
    """Return a client for the simulator, with the credentials of its account."""
    return make_client()


@pytest.fixture
async def serve(make_client: MakeClient) -> AsyncIterator[Serve]:
    """Return a function that starts a server and returns a client for it. The server reads up to `until`, then answers."""
    async with AsyncExitStack() as servers:

        async def _serve(
            answer: bytes, *, scheme: str = "http", until: bytes = b"\r\n\r\n"
        ) -> TrackingClient:
            async def respond(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter
            ) -> None:
                with suppress(asyncio.IncompleteReadError):
                    await reader.readuntil(until)
                writer.write(answer)
                with suppress(ConnectionError):
                    await writer.drain()
                writer.close()

            server = await asyncio.start_server(respond, "127.0.0.1", 0)
            await servers.enter_async_context(server)
            servers.callback(server.close_clients)
            port = server.sockets[0].getsockname()[1]
            return make_client(f"{scheme}://127.0.0.1:{port}/api")

        yield _serve
