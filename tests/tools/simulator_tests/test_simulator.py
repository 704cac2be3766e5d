"""The simulator's answers have the form of recorded answers, and it rejects undocumented requests."""

from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from datetime import UTC, datetime, timedelta
import re
from typing import Any, NamedTuple

from aiohttp import ClientSession
import orjson
import pytest
from yarl import URL

from tests.tools.simulator import Simulator, authorization
from tests.traccar import VERSIONS, recorded

EMAIL = "rider@example.com"
PASSWORD = "demo"
BIKE = "860000000000001"
SILENT = "860000000000002"
ALL = ["4.11", "5.12", "6.14.5"]

type Shape = dict[str, set[str]]
"""For each field, the types of its values. The type of a time is its notation (see `kind_of`)."""


class Answer(NamedTuple):
    """An answer to a request."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the body, parsed as JSON."""
        return orjson.loads(self.body)


type Ask = Callable[..., Coroutine[Any, Any, Answer]]


def shape(items: Iterable[dict[str, Any]]) -> Shape:
    """Return the types of the values that each field has in these objects."""
    found: Shape = {}
    for item in items:
        for name, value in item.items():
            found.setdefault(name, set()).add(kind_of(value))
    return found


def kind_of(value: object) -> str:
    """Return the type of a value. For a time, return its notation, with 9 in place of each digit."""
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value):
        return re.sub(r"\d", "9", value)
    return type(value).__name__


def fits(answered: Shape, real: Shape) -> bool:
    """Return whether answered objects have exactly the recorded fields, with values of recorded types only."""
    return answered.keys() == real.keys() and all(
        types <= real[name] for name, types in answered.items()
    )


def real_devices(version: str) -> list[dict[str, Any]]:
    """Return all devices that were recorded from this version."""
    cases = recorded(version, "osmand-cases").values()
    return [
        *recorded(version, "devices-never-reported"),
        *recorded(version, "devices-reported"),
        *recorded(version, "devices-unknown"),
        *recorded(version, "e-disabled"),
        *(device for case in cases for device in case.get("device", [])),
    ]


def real_positions(version: str) -> list[dict[str, Any]]:
    """Return all positions that were recorded from this version."""
    cases = recorded(version, "osmand-cases").values()
    return [
        *recorded(version, "position-never-a-fix"),
        *recorded(version, "position-h02-invalid"),
        *(position for case in cases for position in case["position"]),
    ]


@pytest.fixture(autouse=True)
def integration(socket_enabled: None) -> None:
    """Override the fixture that starts Home Assistant: these tests need only sockets."""


@pytest.fixture
async def server(request: pytest.FixtureRequest) -> AsyncIterator[Simulator]:
    """Yield a server of the requested kind. It has a tracker that has reported, and a tracker that has not."""
    async with Simulator(kind=getattr(request, "param", "service")) as server:
        server.add_account(EMAIL, PASSWORD)
        server.add_device(BIKE, email=EMAIL)
        server.add_device(SILENT, email=EMAIL, latitude=None)
        yield server


@pytest.fixture
async def ask(server: Simulator) -> AsyncIterator[Ask]:
    """Yield a function that sends a request, by default for the devices and with correct headers.

    The function follows no redirects.
    """
    async with ClientSession() as session:

        async def ask(
            path: str = "devices",
            *,
            method: str = "GET",
            authorization: str | None = authorization(EMAIL, PASSWORD),
        ) -> Answer:
            headers = {"accept": "application/json"}
            if authorization is not None:
                headers["Authorization"] = authorization
            url = URL(f"{server.url}/{path}", encoded=True)
            async with session.request(
                method, url, headers=headers, allow_redirects=False
            ) as response:
                body = await response.read()
                return Answer(response.status, dict(response.headers), body)

        yield ask


async def device(ask: Ask, unique_id: str) -> dict[str, Any]:
    """Request the list of devices, and return the tracker with this `uniqueId`."""
    listed = {device["uniqueId"]: device for device in (await ask()).json()}
    found: dict[str, Any] = listed[unique_id]
    return found


@pytest.mark.parametrize("server", VERSIONS, indirect=True)
async def test_devices(
    server: Simulator, ask: Ask, request: pytest.FixtureRequest
) -> None:
    """Listed devices have the recorded form, whether they reported, never reported, or have status `unknown`."""
    real = shape(real_devices(request.node.callspec.params["server"]))
    assert fits(shape((await ask()).json()), real)
    server.set_status(BIKE, "unknown")
    assert fits(shape((await ask()).json()), real)
    assert (await device(ask, BIKE))["status"] == "unknown"


@pytest.mark.parametrize("server", VERSIONS, indirect=True)
async def test_positions(
    server: Simulator, ask: Ask, request: pytest.FixtureRequest
) -> None:
    """Positions have the recorded form, whether their report has a fix or not."""
    real = shape(real_positions(request.node.callspec.params["server"]))
    assert fits(shape((await ask("positions")).json()), real)
    # Request the position by its device: on new servers, the fix is too old for the list.
    server.report_no_fix(BIKE)
    assert fits(shape((await ask(position_of(server, BIKE))).json()), real)


@pytest.mark.parametrize("server", ALL, indirect=True)
async def test_never_reported(server: Simulator, ask: Ask) -> None:
    """Until its first report, a tracker is offline, without a time or position. After the report, it is online."""
    silent = await device(ask, SILENT)
    assert (silent["status"], silent["lastUpdate"], silent["positionId"]) == (
        "offline",
        None,
        0,
    )
    server.report(SILENT)
    assert (await device(ask, SILENT))["status"] == "online"
    assert (await device(ask, SILENT))["lastUpdate"]


@pytest.mark.parametrize(
    ("server", "lists_disabled", "lists_old"),
    [("4.11", False, True), ("5.12", True, True), ("6.14.5", True, False)],
    indirect=["server"],
)
async def test_not_listed(
    server: Simulator, ask: Ask, lists_disabled: bool, lists_old: bool
) -> None:
    """Version 4.11 does not list disabled trackers.

    Version 6.14.5 does not list a fix of 100 days ago. But all versions send this fix in
    the answer to a request for the last position of its device.
    """
    old = datetime.now(UTC) - timedelta(days=100)
    position = server.report(BIKE, fix_time=old)
    listed = [p["id"] for p in (await ask("positions")).json()]
    assert listed == [position.id] * lists_old
    [found] = (await ask(position_of(server, BIKE))).json()
    assert (found["id"], found["latitude"]) == (position.id, position.latitude)
    server.set_disabled(BIKE, True)
    trackers = {
        device["uniqueId"]: device["disabled"] for device in (await ask()).json()
    }
    assert trackers == {SILENT: False} | ({BIKE: True} if lists_disabled else {})


@pytest.mark.parametrize("server", [*ALL, "service"], indirect=True)
async def test_position_of_a_device(server: Simulator, ask: Ask) -> None:
    """A request with a device's ID returns only this device's last position, or 400 if the account lacks the device."""
    server.report(BIKE)
    last = server.report(BIKE)
    server.report(SILENT)
    answer = (await ask(position_of(server, BIKE))).json()
    assert [position["id"] for position in answer] == [last.id]
    server.unassign(EMAIL, SILENT)
    assert (await ask(position_of(server, SILENT))).status == 400
    server.forget_position(BIKE)
    assert (await ask(position_of(server, BIKE))).json() == []


def position_of(server: Simulator, tracker: str) -> str:
    """Return the path that requests the last position of a device."""
    return f"positions?deviceId={server.devices[tracker].id}"


def _encoded(text: str, encoding: str = "utf-8") -> str:
    return b64encode(text.encode(encoding)).decode()


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        f"Basic  {_encoded(f'{EMAIL}:pät')}",
        f"basic {_encoded(f'{EMAIL}:pät')}",
        f"Basic {_encoded(f'{EMAIL}:pät')}=",
        f"Basic {_encoded(f'{EMAIL.upper()}:pät')}",
        f"Basic {_encoded(f'{EMAIL}:pät', 'latin-1')}",
        f"Bearer {_encoded(f'{EMAIL}:pät')}",
    ],
)
async def test_refuses_anything_else(
    server: Simulator, ask: Ask, value: str | None
) -> None:
    """If the Authorization header is missing, or is not exactly the correct header, the answer is 401."""
    server.set_password(EMAIL, "pät")
    answer = await ask(authorization=value)
    assert answer.status == 401
    assert server.requests[-1].account is None


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "devices/", 404),
        ("GET", "positions?id=1", 404),
        ("GET", "devices?all=true", 404),
        ("GET", "Devices", 404),
        ("GET", "", 404),
        ("GET", "../devices", 404),
        ("POST", "devices", 405),
        ("HEAD", "devices", 405),
    ],
)
async def test_serves_nothing_else(
    ask: Ask, method: str, path: str, status: int
) -> None:
    """Undocumented paths and parameters are answered with 404, and undocumented methods with 405."""
    assert (await ask(path, method=method)).status == status
