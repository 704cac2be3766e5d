"""Requests of the client and answers of the server, over a real socket."""

import asyncio
from base64 import b64encode
from collections.abc import Callable, Iterator
from compression import zstd
from datetime import UTC, datetime, timedelta, timezone
import errno
from functools import partial
import gzip
import json
import os
from pathlib import Path
import time
import tracemalloc
from unittest.mock import AsyncMock, Mock

from aiohttp import ClientSession, web
from aiohttp.test_utils import RawTestServer
from freezegun.api import FrozenDateTimeFactory
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
from tests.tools.simulator import Simulator

from ..conftest import BLUE, EMAIL, RED
from .conftest import MakeClient, Serve

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
PASSWORDS = (
    *("", " padded ", "a:b:c", "Überraschung", "🚲", "line\nbreak\r\n", "\x00\x1f\x7f"),
    '"it\'s" \\ <b>&amp;',
)
EMAILS = (EMAIL, "änn@exämple.com", "ann@example.com\r\nX-Header")


@pytest.fixture
def far_away() -> Iterator[None]:
    """Set a time zone other than UTC, so that a test fails if the code reads a time in UTC as a local time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Asia/Kathmandu")
        time.tzset()
        yield
    time.tzset()


# Requests


@pytest.mark.parametrize("email", EMAILS)
@pytest.mark.parametrize("password", PASSWORDS)
async def test_request(
    simulator: Simulator, make_client: MakeClient, email: str, password: str
) -> None:
    """With any valid email and password, the request has exactly the expected path and headers."""
    simulator.add_account(email, password)
    client = make_client(email=email, password=password)
    assert await client.async_get_devices() == {}
    [request] = simulator.requests
    assert (request.method, request.path, request.query) == ("GET", "/api/devices", "")
    credentials = b64encode(f"{email}:{password}".encode()).decode()
    assert request.all_headers("authorization") == [f"Basic {credentials}"]
    assert request.all_headers("accept") == ["application/json"]
    names = {name.lower() for name, _ in request.headers}
    expected = {"accept", "accept-encoding", "authorization", "host", "user-agent"}
    assert names == expected


@pytest.mark.parametrize("path", ["/bikes", "/%7Ea/b", "/r%C3%A4der", "/a%2Fb", "/%25"])
async def test_path(make_client: MakeClient, path: str) -> None:
    """The path of the address is sent unchanged."""
    paths: list[str] = []

    async def respond(request: web.BaseRequest) -> web.StreamResponse:
        paths.append(request.raw_path)
        return web.json_response([])

    async with RawTestServer(respond) as server:
        await make_client(f"{server.make_url('')}{path}/api").async_get_devices()
    assert paths == [f"{path}/api/devices"]


@pytest.mark.parametrize("email", ["", ":", "ann:bob@example.com", "\ud800@x"])
def test_email_that_no_header_can_hold(make_client: MakeClient, email: str) -> None:
    """An email is refused if it is empty, is not valid text, or has a colon: for HTTP, the user name ends there."""
    with pytest.raises(TrackingError) as caught:
        make_client(email=email)
    assert caught.value.code == "invalid_email"
    assert len(email) < 2 or email not in str(caught.value)


def test_password_that_no_header_can_hold(make_client: MakeClient) -> None:
    """A password that cannot be encoded is refused like a wrong password, and the error does not contain it."""
    with pytest.raises(AuthenticationError) as caught:
        make_client(password="half \ud83d")
    assert "half" not in str(caught.value)


# Answers


def answer(status: int, body: bytes = b"[]", *headers: bytes) -> bytes:
    """Return the bytes of an HTTP answer with a status, a body and headers."""
    return b"\r\n".join([b"HTTP/1.1 %d Any" % status, *headers, b"", body])


async def test_devices_and_positions(
    simulator: Simulator, client: TrackingClient, serve: Serve
) -> None:
    """Devices are returned by `uniqueId`, positions by device ID. An unchanged list of devices gives the same object."""
    devices = await client.async_get_devices()
    assert [devices[RED].name, devices[BLUE].name] == ["Red bike", "Blue bike"]
    assert await client.async_get_devices() is devices
    red, blue = simulator.devices[RED].id, simulator.devices[BLUE].id
    positions = await client.async_get_positions({red, blue})
    assert positions.keys() == {red, blue}
    assert positions[red].id == devices[RED].position_id
    assert await client.async_get_positions({red}) == {red: positions[red]}
    # The position of a single device can be requested, too.
    assert await client.async_get_positions({red}, red) == {red: positions[red]}
    assert simulator.requests[-1].query == f"deviceId={red}"
    # If a server ignores `deviceId`, only the requested position is returned.
    body = json.dumps(simulator.listed("positions", EMAIL)).encode()
    client = await serve(answer(200, body))
    assert await client.async_get_positions({red}, red) == {red: positions[red]}


async def test_history(simulator: Simulator, client: TrackingClient) -> None:
    """The request has times in UTC, and the reports are in the order of their fixes."""
    device_id = simulator.devices[RED].id
    for minute in (0, 4, 2):
        moment = NOON + timedelta(minutes=minute)
        simulator.report(RED, latitude=48 + minute / 100, fix_time=moment)
    start = NOON.astimezone(timezone(timedelta(hours=5, minutes=45)))
    end = NOON + timedelta(seconds=300.5)
    reports = await client.async_get_history(device_id, start, end)
    assert [report.latitude for report in reports] == [48, 48.02, 48.04]
    assert {report.device_id for report in reports} == {device_id}
    assert await client.async_get_history(device_id, NOON, NOON) == reports[:1]
    request, _ = simulator.requests
    assert (request.method, request.path) == ("GET", "/api/positions")
    assert request.query == (
        f"deviceId={device_id}&from=2026-05-04T12:00:00.000Z&to=2026-05-04T12:05:00.500Z"
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        # The answer of a server that ignores the device ID in the query
        (b'[{"id": 1, "deviceId": 1}, {"id": 2, "deviceId": 2}]', "reports of another"),
        (b'[1, "a", null]', "no usable element in the list"),
    ],
)
async def test_no_history(serve: Serve, body: bytes, message: str) -> None:
    """If an answer has reports of other devices, or no usable report, it is an error and not an empty history."""
    client = await serve(answer(200, body))
    with pytest.raises(InvalidResponseError, match=message) as caught:
        await client.async_get_history(1, NOON, NOON)
    assert not caught.value.is_too_large


async def connection_error(client: TrackingClient) -> tuple[str, str, bool]:
    """Send a request that must fail. Return the error's text, its code, and whether http can be tried."""
    with pytest.raises(CannotConnectError) as caught:
        await client.async_get_devices()
    return str(caught.value), caught.value.code, caught.value.can_try_http


@pytest.mark.usefixtures("hurried")
@pytest.mark.parametrize(
    ("fault", "rate", "seconds"),
    [
        *(("no-answer", 1, 30), ("no-answer-mid-body", 1, 30)),
        *(("slow-body", 1, 30), ("slow-body", 10, 30)),
        # A server without TLS that waits for a line of HTTP does not answer the TLS
        # handshake.
        (None, 1, 15),
    ],
)
async def test_no_answer_in_time(
    simulator: Simulator,
    client: TrackingClient,
    serve: Serve,
    fault: str | None,
    rate: float,
    seconds: int,
) -> None:
    """The timeout of 30 seconds covers the whole answer, not only its start. Connecting has a timeout of 15 seconds."""
    simulator.fault(fault, rate=rate)
    if not fault:
        client = await serve(b"", scheme="https")
    clock = asyncio.get_running_loop()
    asked_at = clock.time()
    assert await connection_error(client) == ("no answer in time", "timeout", not fault)
    assert clock.time() - asked_at == pytest.approx(seconds, abs=2)


REFUSED = b"NullPointerException (SecurityRequestFilter:93)"
RECORDED = [
    answer(status, body.encode(), *(f"{it}: {headers[it]}".encode() for it in headers))
    for path in sorted(Path(__file__).parents[1].glob("traccar/*-auth-answers.json"))
    for answers in json.loads(path.read_text()).values()
    for status, headers, body in [answers["basic"]]
    if status != 200
]
MOVED = b"Location: /api/moved"
TOO_LONG = b"Content-Length: 3"
ELSEWHERE = (b"", b"//tracker.invalid/", b"http://[", b"javascript:1")


@pytest.mark.parametrize(
    ("error", "answers"),
    [
        # Real servers answer a wrong password with status 401, or with 400 and a class
        # name in the body.
        (AuthenticationError, RECORDED),
        (AuthenticationError, [answer(400, b"x" * 3_000 + REFUSED)]),
        # Any other 400 does not mean a wrong password. Only the start of its body is
        # read.
        (InvalidResponseError, [answer(400, b"x" * 5_000 + REFUSED)]),
        (InvalidResponseError, [answer(400, b""), answer(400, b"x", TOO_LONG)]),
        (InvalidResponseError, [answer(400, b"(DeviceResource:93 < ...)")]),
        (InvalidResponseError, [answer(400, b"x", b"Content-Encoding: gzip")]),
        (InvalidResponseError, [answer(404, REFUSED)]),
        # Every status except 200 is an error, even if the body contains a valid list.
        (InvalidResponseError, [*map(answer, (201, 206, 300, 402, 407, 499))]),
        (ServiceUnavailableError, [*map(answer, (500, 501, 599, 999))]),
        # Only a status from 300 to 399 with a new address is a redirect.
        (InvalidResponseError, [answer(it, b"[]", MOVED) for it in (201, 400, 404)]),
        (AuthenticationError, [answer(401, b"[]", MOVED)]),
        (ServiceUnavailableError, [answer(503, b"[]", MOVED)]),
        (RedirectedError, [answer(it, b"[]", MOVED) for it in (300, 399)]),
        (RedirectedError, [answer(302, b"", b"Location: " + to) for to in ELSEWHERE]),
    ],
)
async def test_status(
    serve: Serve, error: type[TrackingError], answers: list[bytes]
) -> None:
    """For each answer, the calls for devices and for positions raise the same expected error."""
    for sent in answers:
        client = await serve(sent)
        status = sent[len("HTTP/1.1 ") :][:3].decode()
        for call in (client.async_get_devices, partial(client.async_get_positions, ())):
            with pytest.raises(error) as caught:
                await call()
            assert type(caught.value) is error
            assert str(caught.value) == f"status {status}"


@pytest.mark.parametrize(
    "sent",
    [
        answer(200, b"[]", b"Content-Length: -1"),
        answer(200, b"[]", TOO_LONG),
        answer(200, b"[]", b"Content-Length: 2", TOO_LONG),
        answer(200, b"zz\r\n[]", b"Transfer-Encoding: chunked"),
        answer(200, b"[]", b"Content-Encoding: br"),
        answer(200, b"[]", b"X: a\x00b"),
        answer(99999),
        answer(200, b"[]", *(100_000 * [b"X: y"])),
        b"\x15\x03\x01\x00\x02\x02\x46",
        b"\r\n" * 1_000,
    ],
    ids=lambda sent: repr(sent[9:64]),
)
async def test_no_http(serve: Serve, sent: bytes) -> None:
    """An answer that is not valid HTTP is an error."""
    assert await connection_error(await serve(sent))


async def test_closed_session(client: TrackingClient, session: ClientSession) -> None:
    """If the session is closed, a call raises the same error as for an unreachable server."""
    await session.close()
    assert await connection_error(client) == ("connection closed", "", False)


async def test_own_bug(client: TrackingClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that is a bug in the code is raised unchanged. Only connection errors are translated."""
    monkeypatch.setattr(ClientSession, "get", Mock(side_effect=RuntimeError("a bug")))
    with pytest.raises(RuntimeError, match="a bug"):
        await client.async_get_devices()


@pytest.mark.parametrize(
    ("sent", "message", "can_try_http"),
    [
        (b"", "connection lost", True),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "no secure connection", True),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "no secure connection", True),
        # TLS alerts of the server: no common version, no common cipher
        (b"\x15\x03\x01\x00\x02\x02\x46", "no secure connection", False),
        (b"\x15\x03\x03\x00\x02\x02\x28", "no secure connection", False),
    ],
    ids=["nothing", "http", "ssh", "alert-version", "alert-cipher"],
)
async def test_no_tls(
    serve: Serve, sent: bytes, message: str, can_try_http: bool
) -> None:
    """If a server answers in TLS, even with a refusal, http is not tried. After any other answer, http can be tried."""
    client = await serve(sent, scheme="https", until=b"\x16")
    assert await connection_error(client) == (message, "", can_try_http)


async def test_port_is_closed(simulator: Simulator, client: TrackingClient) -> None:
    """If the port is closed, http can be tried."""
    simulator.fault("connection-refused")
    found = await connection_error(client)
    assert found == ("connection refused", "connection_refused", True)


async def test_name_not_found(make_client: MakeClient) -> None:
    """If the host name is not found, the error does not contain the name, and http is not tried."""
    client = make_client("https://tracker.invalid/api")
    assert await connection_error(client) == ("name not found", "unknown_host", False)


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.ETIMEDOUT, "timeout"), (errno.EHOSTUNREACH, ""), (errno.ENETUNREACH, "")],
)
async def test_network_is_cut(
    client: TrackingClient, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    """If the network fails, http can be tried. A mock raises the errors, because a local socket never does."""
    connect = AsyncMock(side_effect=OSError(number, "any text"))
    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", connect)
    text = os.strerror(number).lower()
    assert await connection_error(client) == (text, code, True)


NO_WAITS = (
    *(None, "-5", "1e3", "soon", "Fri, 99 Nov 2026 99:99:99 GMT"),
    *("Fri, 20 Nov 99999999999 06:02:00 GMT", "Fri, 20 Nov 2026 06:02:00 +999999999"),
)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *((odd, None) for odd in NO_WAITS),
        (" 120 ", 120),
        ("0", 0),
        ("9" * 5_000, 999_999_999),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Fri, 20 Nov 2026 06:02:00 GMT", 120),
        ("Friday, 20-Nov-26 06:02:00 GMT", 120),
        ("Fri Nov 20 06:02:00 2026", 120),
        ("Fri, 31 Dec 9999 23:59:59 GMT", pytest.approx(251_619_500_000, rel=0.01)),
    ],
    ids=lambda value: str(value)[:32],
)
@pytest.mark.usefixtures("far_away")
async def test_retry_after(
    simulator: Simulator,
    client: TrackingClient,
    freezer: FrozenDateTimeFactory,
    value: str | None,
    seconds: float | None,
) -> None:
    """`Retry-After` is read as seconds or as any HTTP date, with any local time zone. Other values are ignored."""
    freezer.move_to("2026-11-20T06:00:00Z")
    for status in ("status-429", "status-503"):
        simulator.fault(status, retry_after=value)
        with pytest.raises(ServiceUnavailableError) as caught:
            await client.async_get_devices()
        assert caught.value.retry_after == seconds


# Limits of an answer's size, and the memory that reading needs

MIB = 2**20
MAX_BYTES = 8 * MIB
# Reading may need three times the limit: for two copies of the body, and for the parts
# that aiohttp keeps.
MAX_MEMORY = 24 * MIB


@pytest.mark.parametrize(
    "name", ["huge-body", "huge-body-chunked", "gzip-bomb", "deflate-bomb"]
)
async def test_64_mib(simulator: Simulator, client: TrackingClient, name: str) -> None:
    """A valid list that is too large is refused before it is completely in memory."""
    simulator.fault(name)
    # Let the simulator create the large answer before the memory is measured.
    with pytest.raises(InvalidResponseError):
        await client.async_get_devices()
    tracemalloc.start()
    with pytest.raises(InvalidResponseError, match="more than 8 MiB") as caught:
        await client.async_get_devices()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MAX_MEMORY
    assert caught.value.is_too_large
    simulator.fault(None)
    assert len(await client.async_get_devices()) == 2


@pytest.mark.parametrize(
    ("encoding", "compress"),
    [("identity", bytes), ("gzip", gzip.compress), ("zstd", zstd.compress)],
)
async def test_8_mib_to_the_byte(
    make_client: MakeClient, encoding: str, compress: Callable[[bytes], bytes]
) -> None:
    """The limit is for the decompressed size: 8 MiB are accepted, one byte more is refused."""
    sizes = iter((MAX_BYTES, MAX_BYTES + 1))

    async def respond(_: web.BaseRequest) -> web.StreamResponse:
        body = compress(b'[{"uniqueId": "1"}]'.rjust(next(sizes)))
        return web.Response(body=body, headers={"Content-Encoding": encoding})

    async with RawTestServer(respond) as server:
        client = make_client(str(server.make_url("/api")))
        assert len(await client.async_get_devices()) == 1
        with pytest.raises(InvalidResponseError, match="more than 8 MiB"):
            await client.async_get_devices()
