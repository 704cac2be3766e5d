"""The websocket over real sockets, without Home Assistant."""

import asyncio
from contextlib import aclosing
from itertools import product

import aiohttp
import pytest

from custom_components.bike_tracker.api import TrackingClient
from custom_components.bike_tracker.api.errors import (
    AuthenticationError,
    CannotConnectError,
    InvalidResponseError,
    RedirectedError,
    ServiceUnavailableError,
    TrackingError,
)
from custom_components.bike_tracker.api.websocket import (
    Message,
    async_messages,
    parse_message,
)
from tests.tools.simulator import Simulator
from tests.tools.simulator.streets import HOME

from ..conftest import EMAIL, RED

ODD_EMAIL = "ann+1@example.com"
ODD_PASSWORD = "pä:ss wörd & more=1%"


@pytest.fixture
def expected_lingering_timers() -> bool:
    """Allow a timer after the test: a close frame without an answer leaves aiohttp's heartbeat running."""
    return True


async def error_of(client: TrackingClient) -> TrackingError:
    """Ignore all messages, and return the error that ends the connection."""
    try:
        async with aclosing(async_messages(client)) as messages:
            async for _ in messages:
                pass
    except TrackingError as err:
        return err
    raise AssertionError("it ended without a reason")


async def test_messages(client: TrackingClient, simulator: Simulator) -> None:
    """The first message contains all positions. A report leads to two messages: the device, then its position."""
    async with aclosing(async_messages(client)) as messages:
        first = await anext(messages)
        assert [position.latitude for position in first.positions] == [HOME[0]] * 2
        assert first.devices == []
        # The message with the device still has the ID of the old position.
        simulator.report(RED, latitude=48.0, battery_level=5)
        before, after = [await anext(messages) for _ in range(2)]
        assert [device.name for device in before.devices] == ["Red bike"]
        assert before.devices[0].position_id == first.positions[0].id
        assert (before.positions, after.devices) == ([], [])
        assert [(item.latitude, item.battery_level) for item in after.positions] == [
            (48.0, 5)
        ]


async def test_many_messages(client: TrackingClient, simulator: Simulator) -> None:
    """If many messages arrive together, other tasks run while the client reads them. Keep-alives are skipped."""
    async with aclosing(async_messages(client)) as messages:
        await anext(messages)
        for _ in range(20):
            simulator.report(RED)
        # Wait until all messages have arrived.
        await asyncio.sleep(0.2)
        others = asyncio.Event()
        asyncio.get_running_loop().call_soon(others.set)
        found = [await anext(messages) for _ in range(40)]
        assert others.is_set()
        for _ in range(20):
            simulator.live.tell([EMAIL], {})
            simulator.report(RED)
        async with asyncio.timeout(5):
            found += [await anext(messages) for _ in range(40)]
    assert sum(len(message.positions) for message in found) == 40


async def test_sent(simulator: Simulator, session: aiohttp.ClientSession) -> None:
    """Only the sign-in has the password, and only the websocket has the new cookie. The client never signs out."""
    simulator.add_account(ODD_EMAIL, ODD_PASSWORD)
    client = TrackingClient(session, simulator.url, ODD_EMAIL, ODD_PASSWORD)
    for _ in range(2):
        async with aclosing(async_messages(client)) as messages:
            await anext(messages)
    sign_in, socket, again, other = simulator.requests
    assert [(item.method, item.path) for item in simulator.requests] == 2 * [
        ("POST", "/api/session"),
        ("GET", "/api/socket"),
    ]
    for request in (sign_in, again):
        assert request.account == ODD_EMAIL
        assert request.header("Cookie") is None
        assert request.header("Content-Type") == "application/x-www-form-urlencoded"
        assert request.header("Accept") == "application/json"
    for request in simulator.requests:
        assert request.query == ""
        assert request.header("Authorization") is None
        assert request.header("User-Agent") == "Home"
    assert socket.header("Cookie") != other.header("Cookie")
    assert "older" not in (socket.header("Cookie") or "")
    while simulator.live.sockets:
        await asyncio.sleep(0.01)
    assert simulator.live.goodbyes == 2


async def test_goodbye_unanswered(client: TrackingClient, simulator: Simulator) -> None:
    """If the server does not answer the close frame, the client still closes the connection within seconds."""
    listening = asyncio.create_task(error_of(client))
    while not simulator.live.sockets:
        await asyncio.sleep(0.01)
    simulator.live_fault("talks-on")
    await asyncio.sleep(0.1)
    listening.cancel()
    async with asyncio.timeout(5):
        await asyncio.wait([listening])
        while simulator.live.sockets:
            await asyncio.sleep(0.01)


REFUSALS = [
    ("400", InvalidResponseError, "status 400"),
    ("401", AuthenticationError, "status 401"),
    ("404", InvalidResponseError, "status 404"),
    ("429", ServiceUnavailableError, "status 429"),
    ("503", ServiceUnavailableError, "status 503"),
    ("redirect-same", RedirectedError, "status 307"),
    ("redirect-other", RedirectedError, "status 307"),
    ("reset", CannotConnectError, "connection reset by peer"),
]


@pytest.mark.parametrize(
    ("fault", "kind", "text"),
    [
        *(
            (f"{at}-{fault}", *error)
            for at, (fault, *error) in product(("session", "socket"), REFUSALS)
        ),
        ("session-html", InvalidResponseError, "no session"),
        ("session-huge", InvalidResponseError, "no session"),
        ("session-no-cookie", InvalidResponseError, "no session"),
        ("session-400-sign-in", AuthenticationError, "status 400"),
        ("cookie-refused", ServiceUnavailableError, "status 503"),
        ("socket-html", InvalidResponseError, "status 200"),
        ("socket-huge", InvalidResponseError, "status 200"),
        ("socket-wrong-accept", InvalidResponseError, "status 101"),
        ("ends", CannotConnectError, "connection closed"),
        ("huge-message", InvalidResponseError, "invalid message"),
    ],
)
async def test_fault(
    client: TrackingClient,
    simulator: Simulator,
    fault: str,
    kind: type[TrackingError],
    text: str,
) -> None:
    """Each fault raises the expected error. Redirects are not followed."""
    simulator.live_fault(fault)
    error = await error_of(client)
    assert type(error) is kind
    assert str(error) == text
    assert error.__context__ is None
    assert simulator.other_requests == []
    paths = {request.path for request in simulator.requests}
    assert paths <= {"/api/session", "/api/socket"}


@pytest.mark.parametrize(
    "fault", ["session-no-answer", "socket-no-answer", "says-nothing", "floods-odd"]
)
@pytest.mark.usefixtures("hurried")
async def test_no_answer(
    client: TrackingClient, simulator: Simulator, fault: str
) -> None:
    """If the server does not answer or sends no readable first message, the client stops with a timeout."""
    simulator.live_fault(fault)
    assert (await error_of(client)).code == "timeout"


@pytest.mark.usefixtures("hurried")
async def test_dead_peer(client: TrackingClient, simulator: Simulator) -> None:
    """A dead connection is noticed within 90 seconds, but not before the server's own keep-alive is due."""
    clock = asyncio.get_running_loop()
    async with aclosing(async_messages(client)) as messages:
        await anext(messages)
        received_at = clock.time()
        simulator.live_fault("dies")
        with pytest.raises(CannotConnectError, match="no keep-alive"):
            await anext(messages)
    assert 55 < clock.time() - received_at < 90


async def test_pings(client: TrackingClient, simulator: Simulator) -> None:
    """The client answers pings, and still receives messages."""
    async with aclosing(async_messages(client)) as messages:
        await anext(messages)
        [socket] = simulator.live.sockets
        reader = asyncio.ensure_future(anext(messages))
        await socket.web.ping(b"there?")
        while not simulator.live.pongs:
            await asyncio.sleep(0.01)
        simulator.touch([RED])
        assert (await reader).devices
    assert simulator.live.pongs == [b"there?"]


@pytest.mark.usefixtures("hurried")
async def test_lost_while_a_sign_of_life_is_sent(
    client: TrackingClient, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the client cannot send the answer to a ping, the connection counts as lost."""

    async def lose(*_: object) -> None:
        raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")

    async with aclosing(async_messages(client)) as messages:
        await anext(messages)
        await simulator.live.sockets[0].web.ping()
        monkeypatch.setattr("aiohttp.client_ws.WebSocketWriter.send_frame", lose)
        with pytest.raises(CannotConnectError, match="connection closed"):
            await anext(messages)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"{}", None),
        (b"", None),
        (b"[]", None),
        (b"null", None),
        (b"\xff", None),
        (b'{"events": []}', None),
        (b'{"devices": 5, "positions": {}}', None),
        (b'{"positions": []}', Message([], [])),
        (b'{"devices": [], "positions": null}', Message([], [])),
        (b'{"devices": [5, null, [], {}], "positions": [{}, "x"]}', Message([], [])),
    ],
)
def test_odd_messages(text: bytes, expected: Message | None) -> None:
    """Invalid elements of a message are left out. A message without a list of devices or positions is ignored."""
    assert parse_message(text) == expected
