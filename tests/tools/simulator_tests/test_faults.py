"""Each fault does on the wire what its name says."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
import json
from typing import Any, Literal
import zlib

from aiohttp import (
    ClientConnectorCertificateError,
    ClientConnectorError,
    ClientError,
    ClientSession,
)
import pytest

from tests.tools.simulator import (
    FAULTS,
    MISSING,
    Simulator,
    authorization,
    client_context,
)
from tests.tools.simulator.render import DEVICE_FIELDS, Endpoint

from .conftest import EMAIL, PASSWORD, Answer, Ask

REQUEST = (
    "GET /api/devices HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\naccept: application/json\r\n"
    f"Authorization: {authorization(EMAIL, PASSWORD)}\r\n\r\n"
).encode()


@dataclass(frozen=True)
class Wire:
    """What came over a connection, and how it ended within the time given."""

    data: bytes
    end: Literal["closed", "reset", "open"]

    @property
    def head(self) -> bytes:
        """Status line and headers."""
        return self.data.partition(b"\r\n\r\n")[0]

    @property
    def body(self) -> bytes:
        """What follows the headers."""
        return self.data.partition(b"\r\n\r\n")[2]

    @property
    def length(self) -> int:
        """The announced length of the body."""
        return int(self.head.lower().partition(b"content-length: ")[2].split()[0])


type Exchange = Callable[..., Awaitable[Wire]]


@pytest.fixture
def exchange(simulator: Simulator) -> Exchange:
    """Send one request on a connection of its own, and take what comes."""

    async def exchange(seconds: float = 10) -> Wire:
        reader, writer = await asyncio.open_connection("127.0.0.1", simulator.port)
        writer.write(REQUEST)
        data = b""
        try:
            async with asyncio.timeout(seconds):
                while chunk := await reader.read(2**20):
                    data += chunk
            return Wire(data, "closed")
        except ConnectionResetError:
            return Wire(data, "reset")
        except TimeoutError:
            return Wire(data, "open")
        finally:
            writer.close()

    return exchange


def names(prefix: str) -> list[str]:
    """Return the faults whose names start so."""
    return [name for name in FAULTS if name.startswith(prefix)]


# Faults as such


@pytest.mark.parametrize(
    "name", [name for name, fault in FAULTS.items() if fault.respond]
)
async def test_a_fault_that_is_over_leaves_nothing_behind(
    simulator: Simulator, ask: Ask, name: str
) -> None:
    """The next call after any fault is answered well, over whatever connection is left."""
    simulator.fault(name, times=1, size=2**20, seconds=0, rate=10_000)
    with contextlib.suppress(ClientError, TimeoutError):
        async with asyncio.timeout(1):
            await ask()
    assert simulator.faults == {}
    answer = await once_back(ask)
    assert {device["name"] for device in answer.json()} == {"City bike", "Cargo bike"}


async def once_back(ask: Ask) -> Answer:
    """Ask until the server takes connections again."""
    async with asyncio.timeout(10):
        while True:
            with contextlib.suppress(ClientConnectorError):
                return await ask()
            await asyncio.sleep(0.02)


async def test_lasts_as_many_calls_as_asked_for(simulator: Simulator, ask: Ask) -> None:
    """Calls are counted over both endpoints, and not those the fault does not strike."""
    simulator.fault("status-500", times=2)
    statuses = [(await ask(path)).status for path in ("devices", "positions") * 2]
    assert statuses == [500, 500, 200, 200]
    simulator.fault("status-500", times=1, path="positions")
    statuses = [(await ask(path)).status for path in ("devices", "positions") * 2]
    assert statuses == [200, 500, 200, 200]
    simulator.fault("status-401-once")
    assert [(await ask()).status for _ in range(3)] == [401, 200, 200]


async def test_each_call_can_have_its_own_fault(simulator: Simulator, ask: Ask) -> None:
    """One for the devices, one for the positions, ended one by one."""
    simulator.fault("status-500", path="devices")
    simulator.fault("status-404", path="positions")
    assert simulator.faults == {"devices": "status-500", "positions": "status-404"}
    assert (await ask()).status == 500
    assert (await ask("positions")).status == 404
    simulator.fault(None, path="devices")
    assert (await ask()).status == 200
    assert (await ask("positions")).status == 404
    simulator.fault("status-503")
    assert simulator.faults == dict.fromkeys(
        ("devices", "positions", "history"), "status-503"
    )
    simulator.fault(None)
    assert (await ask("positions")).status == 200


@pytest.mark.parametrize(
    ("name", "path", "message"),
    [
        ("no-such-fault", None, "no fault"),
        ("tls-expired", None, "TLS"),
        ("connection-refused", "devices", "alone"),
        ("field-name-null", "positions", "alone"),
    ],
)
async def test_what_cannot_strike_is_refused(
    simulator: Simulator, name: str, path: Any, message: str
) -> None:
    """A fault that would do nothing says so, and the one before stays."""
    simulator.fault("status-500")
    with pytest.raises(ValueError, match=message):
        simulator.fault(name, path=path)
    assert set(simulator.faults.values()) == {"status-500"}


async def test_struck_calls_are_recorded(simulator: Simulator, ask: Ask) -> None:
    """A request counts whatever became of it."""
    simulator.fault("status-500")
    await ask()
    assert simulator.record.counts["/api/devices"] == 1


async def test_wrong_credentials_are_still_a_401(
    simulator: Simulator, ask: Ask
) -> None:
    """A fault is for those who would be answered well."""
    simulator.fault("json-null")
    assert (await ask(authorization=None)).status == 401


# Connections


async def test_connection_refused(simulator: Simulator, ask: Ask) -> None:
    """Connections there are end, new ones are refused, and later taken again."""
    await ask()
    simulator.fault("connection-refused")
    with pytest.raises(ClientConnectorError, match="Connect call failed"):
        await ask()
    simulator.fault(None)
    assert (await ask()).status == 200


async def test_connection_refused_on_and_off(simulator: Simulator, ask: Ask) -> None:
    """It can be switched faster than the event loop turns."""
    for _ in range(3):
        simulator.fault("connection-refused")
        simulator.fault(None)
    assert (await ask()).status == 200


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("close-before-headers", "closed"),
        ("reset-before-headers", "reset"),
        ("no-answer", "open"),
    ],
)
async def test_no_answer_at_all(
    simulator: Simulator, exchange: Exchange, name: str, end: str
) -> None:
    """Not a byte comes."""
    simulator.fault(name)
    wire = await exchange(0.3 if end == "open" else 10)
    assert (wire.data, wire.end) == (b"", end)


@pytest.mark.parametrize(
    ("name", "end", "share"),
    [
        ("reset-before-body", "reset", 0),
        ("reset-mid-body", "reset", 0.5),
        ("no-answer-mid-body", "open", 0.5),
        ("length-too-short", "closed", 2),
    ],
)
async def test_part_of_the_body(
    simulator: Simulator, exchange: Exchange, name: str, end: str, share: float
) -> None:
    """So much of the announced length comes."""
    simulator.fault(name)
    wire = await exchange(0.3 if end == "open" else 10)
    assert wire.end == end
    assert wire.head.startswith(b"HTTP/1.1 200 OK")
    assert len(wire.body) == pytest.approx(wire.length * share, abs=1)


async def test_length_too_long(simulator: Simulator, exchange: Exchange) -> None:
    """All of it comes, and less than announced."""
    simulator.fault("length-too-long")
    wire = await exchange()
    assert len(json.loads(wire.body)) == 2
    assert wire.length == len(wire.body) + 100
    assert wire.end == "closed"


async def test_slow_body(simulator: Simulator, exchange: Exchange) -> None:
    """The body comes at the rate asked for."""
    simulator.fault("slow-body", rate=20)
    wire = await exchange(0.5)
    assert wire.end == "open"
    assert 1 <= len(wire.body) <= 11
    assert len(wire.body) < wire.length


@pytest.mark.usefixtures("freezer")
async def test_slow_body_while_time_stands_still(
    simulator: Simulator, exchange: Exchange
) -> None:
    """A test that freezes the clock gets its bytes too."""
    simulator.fault("slow-body", rate=5_000)
    wire = await exchange()
    assert wire.end == "closed"
    assert len(wire.body) == wire.length


async def test_not_http(simulator: Simulator, exchange: Exchange) -> None:
    """Another protocol's greeting."""
    simulator.fault("not-http")
    assert (await exchange()).data.startswith(b"SSH-2.0")


async def test_headers_too_long(simulator: Simulator, exchange: Exchange) -> None:
    """A megabyte before the body begins."""
    simulator.fault("headers-too-long")
    assert len((await exchange()).head) > 2**20


async def test_restart(simulator: Simulator, ask: Ask) -> None:
    """The call in flight is lost, the next ones are refused, then all is as before."""
    simulator.fault("restart", seconds=0.2)
    with pytest.raises(ClientError):
        await ask()
    with pytest.raises(ClientConnectorError, match="Connect call failed"):
        await ask()
    assert (await once_back(ask)).status == 200


async def test_restart_while_it_is_away(simulator: Simulator, ask: Ask) -> None:
    """Of two restarts the last one counts, and stopping waits for neither."""
    tasks = asyncio.all_tasks()
    for _ in range(2):
        simulator.fault("restart", seconds=30)
        with pytest.raises(ClientError):
            await ask()
        simulator.fault(None)
    await simulator.stop()
    assert asyncio.all_tasks() <= tasks


# Bodies


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("empty-body", b""),
        ("json-object", b"{}"),
        ("json-null", b"null"),
        ("json-string", b'"devices"'),
        ("json-number", b"0"),
        ("json-mixed", b'[1, "a", null, []]'),
        ("json-deep-arrays", b"[" * 100_000 + b"]" * 100_000),
        ("json-deep-objects", b'{"a":' * 100_000 + b"0" + b"}" * 100_000),
    ],
)
async def test_another_body(
    simulator: Simulator, ask: Ask, name: str, body: bytes
) -> None:
    """A 200 that claims to be JSON, with this body."""
    simulator.fault(name)
    answer = await ask()
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.body == body


async def test_truncated_json(simulator: Simulator, ask: Ask) -> None:
    """A whole answer with half of the JSON."""
    simulator.fault("json-truncated")
    with pytest.raises(json.JSONDecodeError):
        (await ask()).json()


async def test_invalid_utf8(simulator: Simulator, ask: Ask) -> None:
    """JSON but for one byte."""
    simulator.fault("invalid-utf8")
    body = (await ask()).body
    with pytest.raises(UnicodeDecodeError):
        body.decode()
    assert len(json.loads(body.replace(b"\xff", b""))) == 2


@pytest.mark.parametrize(
    ("name", "content_type"),
    [("html", "text/html; charset=utf-8"), ("html-as-json", "application/json")],
)
async def test_a_web_page(
    simulator: Simulator, ask: Ask, name: str, content_type: str
) -> None:
    """HTML, which may claim to be JSON."""
    simulator.fault(name)
    answer = await ask()
    assert answer.status == 200
    assert answer.headers["Content-Type"] == content_type
    assert answer.body.startswith(b"<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("name", "content_type"),
    [("json-as-text", "text/plain"), ("json-as-nothing", None)],
)
async def test_content_types(
    simulator: Simulator, ask: Ask, name: str, content_type: str | None
) -> None:
    """The right JSON under another name."""
    simulator.fault(name)
    answer = await ask()
    assert answer.headers.get("Content-Type") == content_type
    assert len(answer.json()) == 2


@pytest.mark.parametrize(
    ("name", "length"), [("huge-body", str(64 * 2**20)), ("huge-body-chunked", None)]
)
async def test_huge_body(
    simulator: Simulator, session: ClientSession, name: str, length: str | None
) -> None:
    """64 MB of good JSON, announced or not."""
    simulator.fault(name)
    size = 0
    async with session.get(
        f"{simulator.url}/devices",
        headers={
            "accept": "application/json",
            "Authorization": authorization(EMAIL, PASSWORD),
        },
    ) as response:
        assert response.headers.get("Content-Length") == length
        async for chunk in response.content.iter_any():
            size += len(chunk)
    assert size == 64 * 2**20


@pytest.mark.parametrize(
    ("name", "encoding", "wbits"),
    [
        ("gzip-bomb", "gzip", 16 + zlib.MAX_WBITS),
        ("deflate-bomb", "deflate", zlib.MAX_WBITS),
    ],
)
async def test_compression_bomb(
    simulator: Simulator, exchange: Exchange, name: str, encoding: str, wbits: int
) -> None:
    """Few bytes on the wire, 64 MB of good JSON behind them."""
    simulator.fault(name)
    wire = await exchange()
    assert f"Content-Encoding: {encoding}".encode() in wire.head
    assert len(wire.body) < 100_000
    body = zlib.decompress(wire.body, wbits)
    assert len(body) == 64 * 2**20
    assert len(json.loads(body)) == 2


async def test_broken_gzip(simulator: Simulator, ask: Ask) -> None:
    """What is called gzip is none."""
    simulator.fault("gzip-broken")
    with pytest.raises(ClientError, match="gzip"):
        await ask()


# Statuses


@pytest.mark.parametrize("name", [n for n in names("status-") if n.count("-") == 1])
async def test_statuses(simulator: Simulator, ask: Ask, name: str) -> None:
    """The status of its name, for good."""
    simulator.fault(name)
    for _ in range(3):
        answer = await ask()
        assert answer.status == int(name.removeprefix("status-"))
        assert "Retry-After" not in answer.headers


async def test_no_content_has_no_body(simulator: Simulator, ask: Ask) -> None:
    """A 204 is headers alone."""
    simulator.fault("status-204")
    assert (await ask()).body == b""


async def test_bad_request_shows_a_stack_trace(simulator: Simulator, ask: Ask) -> None:
    """As such servers answer what they did not expect."""
    simulator.fault("status-400", path="positions")
    assert b"\n\tat " in (await ask("positions")).body
    assert (await ask()).status == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("status-429-seconds", "120"),
        ("status-429-nonsense", "soon"),
        ("status-429-negative", "-5"),
    ],
)
async def test_retry_after(
    simulator: Simulator, ask: Ask, name: str, value: str
) -> None:
    """Each kind of Retry-After."""
    simulator.fault(name)
    answer = await ask()
    assert answer.status == 429
    assert answer.headers["Retry-After"] == value


async def test_retry_after_as_a_date(simulator: Simulator, ask: Ask) -> None:
    """Two minutes from now."""
    simulator.fault("status-429-date")
    date = parsedate_to_datetime((await ask()).headers["Retry-After"])
    assert abs(date - datetime.now(UTC) - timedelta(minutes=2)) < timedelta(seconds=5)


async def test_retry_after_of_ones_own(simulator: Simulator, ask: Ask) -> None:
    """Any value with any status."""
    simulator.fault("status-503", retry_after="7")
    assert (await ask()).headers["Retry-After"] == "7"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirect_within_the_origin(
    simulator: Simulator, ask: Ask, status: int
) -> None:
    """The devices are at the other path as long as the fault lasts."""
    simulator.fault(f"redirect-{status}-same")
    answer = await ask()
    assert answer.status == status
    assert answer.headers["Location"] == f"{simulator.url}/moved/devices"
    assert len((await ask("moved/devices")).json()) == 2
    assert (await ask("moved/devices", authorization=None)).status == 401
    simulator.fault(None)
    assert (await ask("moved/devices")).status == 404


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirect_to_another_origin(
    simulator: Simulator, session: ClientSession, ask: Ask, status: int
) -> None:
    """The other origin takes anything and notes what it was given."""
    simulator.fault(f"redirect-{status}-other")
    answer = await ask()
    assert answer.status == status
    assert answer.headers["Location"] == f"{simulator.other_url}/moved/devices"
    assert not simulator.other_url.startswith(simulator.url.removesuffix("/api"))
    assert simulator.other_requests == []
    headers = {"Authorization": "Basic c3RvbGVu", "X-More": "1"}
    async with session.get(answer.headers["Location"], headers=headers) as response:
        assert len(await response.json()) == 2
    [request] = simulator.other_requests
    assert request.path == "/api/moved/devices"
    assert request.header("authorization") == "Basic c3RvbGVu"
    assert request.header("x-more") == "1"


# Values


@dataclass(frozen=True)
class Pair:
    """The same tracker, answered well and as the fault has it."""

    good: dict[str, Any]
    bad: dict[str, Any]


async def pairs(
    simulator: Simulator, ask: Ask, name: str, path: Endpoint = "devices"
) -> list[Pair]:
    """Ask without and with the fault."""
    good = sorted((await ask(path)).json(), key=lambda item: int(item["id"]))
    simulator.fault(name)
    bad = json.loads((await ask(path)).body)
    assert len(good) == len(bad) == 2
    return [Pair(*pair) for pair in zip(good, bad, strict=True)]


def changed(pair: Pair) -> set[str]:
    """Return the names of the fields that differ."""
    return {
        name
        for name in pair.good.keys() | pair.bad.keys()
        if pair.good.get(name, MISSING) != pair.bad.get(name, MISSING)
    }


@pytest.mark.parametrize("field", DEVICE_FIELDS)
async def test_a_field_is_missing(simulator: Simulator, ask: Ask, field: str) -> None:
    """Everything but this field comes."""
    for pair in await pairs(simulator, ask, f"field-{field}-missing"):
        assert changed(pair) == {field}
        assert field not in pair.bad


@pytest.mark.parametrize("field", DEVICE_FIELDS)
async def test_a_field_is_null(simulator: Simulator, ask: Ask, field: str) -> None:
    """This field alone is null."""
    for pair in await pairs(simulator, ask, f"field-{field}-null"):
        assert changed(pair) == {field}
        assert pair.bad[field] is None


@pytest.mark.parametrize("field", DEVICE_FIELDS)
async def test_a_field_has_another_type(
    simulator: Simulator, ask: Ask, field: str
) -> None:
    """This field alone is of a type that is not documented for it."""
    for pair in await pairs(simulator, ask, f"field-{field}-type"):
        assert changed(pair) == {field}
        assert type(pair.bad[field]) is not type(pair.good[field])


async def test_unknown_fields(simulator: Simulator, ask: Ask) -> None:
    """The known ones are as ever."""
    for pair in await pairs(simulator, ask, "fields-unknown"):
        assert changed(pair) == pair.bad.keys() - pair.good.keys() != set()


@pytest.mark.parametrize("name", names("time-"))
async def test_timestamps(simulator: Simulator, ask: Ask, name: str) -> None:
    """The timestamp alone is written otherwise, in devices and positions."""
    for pair in await pairs(simulator, ask, name):
        assert changed(pair) == {"lastUpdate"}
    simulator.fault(None)
    for pair in await pairs(simulator, ask, name, "positions"):
        assert changed(pair) == {"fixTime", "deviceTime", "serverTime"}


@pytest.mark.parametrize(
    "name", ["time-colon", "time-z", "time-micros", "time-nanos", "time-padded"]
)
async def test_timestamps_that_mean_the_same(
    simulator: Simulator, ask: Ask, name: str
) -> None:
    """Another way to write it is no other time."""
    for pair in await pairs(simulator, ask, name):
        good = datetime.fromisoformat(pair.good["lastUpdate"])
        assert datetime.fromisoformat(pair.bad["lastUpdate"].strip()) == good


@pytest.mark.parametrize("name", names("number-"))
async def test_numbers(simulator: Simulator, ask: Ask, name: str) -> None:
    """Ids, groups and coordinates are such numbers."""
    good = (await ask()).body
    simulator.fault(name)
    bad = (await ask()).body
    assert len(bad) > 0
    assert bad != good
    assert b'"@"' not in bad
    literal = bad.partition(b'"id": ')[2].partition(b",")[0]
    assert bad.count(literal) >= 6
    assert literal in (await ask("positions")).body


@pytest.mark.parametrize("name", names("name-"))
async def test_names(simulator: Simulator, ask: Ask, name: str) -> None:
    """The name alone is such a text."""
    for pair in await pairs(simulator, ask, name):
        assert changed(pair) == {"name"}
        assert isinstance(pair.bad["name"], str)


async def test_long_name(simulator: Simulator, ask: Ask) -> None:
    """10,000 characters."""
    assert len((await pairs(simulator, ask, "name-10000"))[0].bad["name"]) == 10_000


async def test_duplicate_unique_id(simulator: Simulator, ask: Ask) -> None:
    """Each tracker twice, the older one first or last."""
    good = {device["uniqueId"]: device for device in (await ask()).json()}
    simulator.fault("duplicate-unique-id")
    bad = (await ask()).json()
    assert len(bad) == 4
    assert len({device["id"] for device in bad}) == 4
    firsts = set()
    for unique_id, device in good.items():
        twins = [twin for twin in bad if twin["uniqueId"] == unique_id]
        assert len(twins) == 2
        assert max(twins, key=lambda twin: str(twin["lastUpdate"])) == device
        firsts.add(twins[0] == device)
    assert firsts == {False, True}


async def test_duplicate_id(simulator: Simulator, ask: Ask) -> None:
    """One internal id for all, and each its own uniqueId."""
    simulator.fault("duplicate-id")
    bad = (await ask()).json()
    assert len({device["id"] for device in bad}) == 1
    assert len({device["uniqueId"] for device in bad}) == 2


async def test_duplicate_everything(simulator: Simulator, ask: Ask) -> None:
    """The same objects twice."""
    simulator.fault("duplicate-all")
    for path in ("devices", "positions"):
        bad = (await ask(path)).json()
        assert len(bad) == 4
        assert bad[:2] == bad[2:]


# TLS


@pytest.fixture
async def secure() -> AsyncGenerator[Simulator]:
    """A simulator with TLS."""
    async with Simulator(tls=True) as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        yield simulator


async def shake_hands(simulator: Simulator, session: ClientSession) -> int:
    """Ask for the devices as a client that trusts the simulator's authority."""
    async with session.get(
        f"{simulator.url}/devices",
        headers={
            "accept": "application/json",
            "Authorization": authorization(EMAIL, PASSWORD),
        },
        ssl=client_context(),
    ) as response:
        return response.status


async def test_good_certificate(secure: Simulator, session: ClientSession) -> None:
    """Who trusts the authority gets an answer, and nobody else."""
    assert secure.url.startswith("https://127.0.0.1:")
    assert await shake_hands(secure, session) == 200
    with pytest.raises(ClientConnectorCertificateError, match="unable to get"):
        await session.get(f"{secure.url}/devices")


# Home Assistant's test fixture fails on what the event loop reports, such as a handshake that went wrong.
@pytest.mark.usefixtures("hass")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("tls-expired", "certificate has expired"),
        ("tls-self-signed", "self-signed certificate"),
        ("tls-other-host", "IP address mismatch"),
    ],
)
async def test_bad_certificates(
    secure: Simulator, session: ClientSession, name: str, reason: str
) -> None:
    """Refused for the reason of its name, also after a good one; no request comes through."""
    assert await shake_hands(secure, session) == 200
    secure.fault(name)
    with pytest.raises(ClientConnectorCertificateError, match=reason):
        await shake_hands(secure, session)
    assert len(secure.requests) == 1
    secure.fault(None)
    assert await shake_hands(secure, session) == 200


@pytest.mark.usefixtures("freezer")
async def test_certificates_while_time_stands_still(session: ClientSession) -> None:
    """A test that freezes the clock can make a simulator with TLS too."""
    async with Simulator(tls=True) as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        assert await shake_hands(simulator, session) == 200


# Stopping


@pytest.mark.parametrize(
    "name", ["no-answer", "no-answer-mid-body", "slow-body", "huge-body", "restart"]
)
@pytest.mark.parametrize("clock", ["runs", "stands still"])
async def test_stops_at_once_and_leaves_nothing(
    simulator: Simulator, request: pytest.FixtureRequest, name: str, clock: str
) -> None:
    """Whatever a client waits for, and however long, the simulator is gone."""
    if clock == "stands still":
        request.getfixturevalue("freezer")
    tasks = asyncio.all_tasks()
    simulator.fault(name, seconds=3600)
    reader, writer = await asyncio.open_connection("127.0.0.1", simulator.port)
    writer.write(REQUEST)
    while not simulator.requests:
        await asyncio.sleep(0)
    await simulator.stop()
    assert asyncio.all_tasks() == tasks
    with contextlib.suppress(ConnectionResetError):
        await reader.read()
    writer.close()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", simulator.port)


async def test_faults_are_over_after_a_stop(simulator: Simulator, ask: Ask) -> None:
    """Started again, it is well."""
    simulator.fault("connection-refused")
    await simulator.stop()
    await simulator.start()
    assert (await ask()).status == 200


# How often and how late


async def test_strikes_every_so_many_th_call(simulator: Simulator, ask: Ask) -> None:
    """Counted over both calls, or over one of them."""
    simulator.fault("status-500", every=2)
    statuses = [(await ask(path)).status for path in ("devices", "positions") * 2]
    assert statuses == [200, 500, 200, 500]
    simulator.fault(None)
    simulator.fault("status-500", every=3, path="positions", times=1)
    statuses = [(await ask(path)).status for path in ("positions", "devices") * 4]
    assert statuses == [200, 200, 200, 200, 500, 200, 200, 200]


async def test_late_answer(simulator: Simulator, ask: Ask) -> None:
    """All of it comes, and the simulator knows that it took long."""
    simulator.fault("late-answer", late=0.1)
    so_long = asyncio.create_task(asyncio.sleep(0.1))
    assert len((await ask()).json()) == 2
    assert so_long.done()
    assert list(simulator.slow_answers) == [0.1]
