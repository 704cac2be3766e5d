"""The documented part: credentials, the list, and nothing else."""

from base64 import b64encode
import re
from typing import Any

from aiohttp import ClientConnectorError, ClientSession
import pytest

from tests.tools.simulator import Simulator, UnknownNameError, World, authorization

from .conftest import EMAIL, PASSWORD, Ask

PASSWORDS = [
    "demo",
    "two words",
    " padded ",
    "a:b:c",
    "Überraschung",
    "20 €",
    "x" * 300,
]


async def test_lists_the_documented_fields(ask: Ask) -> None:
    """Each of the eight fields has the documented type and shape."""
    devices = (await ask()).json()
    assert {device["uniqueId"] for device in devices} == {
        "860000000000001",
        "860000000000002",
    }
    for device in devices:
        assert isinstance(device["id"], int)
        assert isinstance(device["name"], str)
        assert device["status"] in {"online", "offline"}
        assert re.fullmatch(
            r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000", device["lastUpdate"]
        )
        assert isinstance(device["positionId"], int)
        assert isinstance(device["groupId"], int)
        assert device["disabled"] is False


@pytest.mark.parametrize("password", PASSWORDS)
async def test_accepts_the_exact_credentials(
    simulator: Simulator, ask: Ask, password: str
) -> None:
    """Any text is a password, encoded as UTF-8."""
    simulator.set_password(EMAIL, password)
    assert (await ask(authorization=authorization(EMAIL, password))).status == 200
    assert simulator.requests[-1].account == EMAIL


def _encoded(text: str, encoding: str = "utf-8") -> str:
    return b64encode(text.encode(encoding)).decode()


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "Basic",
        f"Basic  {_encoded(f'{EMAIL}:pät')}",
        f"basic {_encoded(f'{EMAIL}:pät')}",
        f"BASIC {_encoded(f'{EMAIL}:pät')}",
        f"Basic {_encoded(f'{EMAIL}:pät')}=",
        f"Basic {_encoded(f'{EMAIL}:pät').rstrip('=')}",
        f"Basic {_encoded(f'{EMAIL}:pät ')}",
        f"Basic {_encoded(f'{EMAIL}:pät\n')}",
        f"Basic {_encoded(f' {EMAIL}:pät')}",
        f"Basic {_encoded(f'{EMAIL.upper()}:pät')}",
        f"Basic {_encoded(f'{EMAIL}:PÄT')}",
        f"Basic {_encoded(f'{EMAIL}:pät', 'latin-1')}",
        f"Basic {_encoded(f'{EMAIL}:')}",
        f"Basic {EMAIL}:pät",
        f"Bearer {_encoded(f'{EMAIL}:pät')}",
    ],
)
async def test_refuses_anything_else(
    simulator: Simulator, ask: Ask, value: str | None
) -> None:
    """A header that differs in one character is a 401, and a missing one too."""
    simulator.set_password(EMAIL, "pät")
    answer = await ask(authorization=value)
    assert answer.status == 401
    assert simulator.requests[-1].account is None


async def test_padding_is_part_of_the_exact_value(
    simulator: Simulator, ask: Ask
) -> None:
    """The password of the test above does need padding."""
    simulator.set_password(EMAIL, "pät")
    value = authorization(EMAIL, "pät")
    assert value.endswith("=")
    assert (await ask(authorization=value)).status == 200


async def test_refuses_two_authorization_headers(
    simulator: Simulator, session: ClientSession
) -> None:
    """One header is documented."""
    value = authorization(EMAIL, PASSWORD)
    headers = [
        ("accept", "application/json"),
        ("Authorization", value),
        ("Authorization", value),
    ]
    async with session.get(f"{simulator.url}/devices", headers=headers) as response:
        assert response.status == 401


async def test_old_password_is_refused(simulator: Simulator, ask: Ask) -> None:
    """A changed password counts from the next request."""
    simulator.set_password(EMAIL, "another")
    assert (await ask()).status == 401
    assert (await ask(authorization=authorization(EMAIL, "another"))).status == 200


@pytest.mark.parametrize("accept", [None, "*/*", "text/html", "application/json, */*"])
async def test_wants_the_accept_header(ask: Ask, accept: str | None) -> None:
    """Requests carry `accept: application/json`."""
    assert (await ask(accept=accept)).status == 400


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "devices/", 404),
        ("GET", "devices?all=true", 404),
        ("GET", "Devices", 404),
        ("GET", "server", 404),
        ("GET", "", 404),
        ("GET", "../devices", 404),
        ("POST", "devices", 405),
        ("HEAD", "devices", 405),
        ("DELETE", "devices", 405),
    ],
)
async def test_serves_nothing_else(
    ask: Ask, method: str, path: str, status: int
) -> None:
    """Other paths, methods and parameters do not exist."""
    assert (await ask(path, method=method)).status == status


async def test_wants_no_body(simulator: Simulator, session: ClientSession) -> None:
    """None is documented."""
    headers = {
        "accept": "application/json",
        "Authorization": authorization(EMAIL, PASSWORD),
    }
    url = f"{simulator.url}/devices"
    async with session.get(url, headers=headers, data=b"{}") as response:
        assert response.status == 400


def test_unknown_names_are_told() -> None:
    """A mistake in a test does not pass for a change."""
    world = World()
    with pytest.raises(UnknownNameError, match="no account"):
        world.set_password("nobody@example.com", "x")
    with pytest.raises(UnknownNameError, match="no tracker"):
        world.rename("nothing", "x")


async def test_unknown_path_without_credentials_is_401(ask: Ask) -> None:
    """Every request must be authenticated, whatever it asks for."""
    assert (await ask("server", authorization=None)).status == 401


async def test_order_is_another_each_time(simulator: Simulator, ask: Ask) -> None:
    """No order may be relied on, so there is none."""
    for number in range(20):
        simulator.add_device(f"bike-{number}", email=EMAIL)
    orders = {tuple(d["uniqueId"] for d in (await ask()).json()) for _ in range(5)}
    assert len(orders) == 5
    assert len({frozenset(order) for order in orders}) == 1


async def test_same_body_without_shuffling(session: ClientSession) -> None:
    """With shuffling off an unchanged fleet is the same bytes, and a change shows."""
    async with Simulator(shuffle=False) as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        for number in range(20):
            simulator.add_device(f"bike-{number}", email=EMAIL)
        ask = Ask(simulator, session)
        first, second = await ask(), await ask()
        assert first.body == second.body
        simulator.rename("bike-3", "Tandem")
        assert "Tandem" in {device["name"] for device in (await ask()).json()}


async def test_lists_only_what_is_assigned(simulator: Simulator, ask: Ask) -> None:
    """Another account's trackers, and those of nobody, are not listed."""
    simulator.add_account("other@example.com", "other")
    simulator.add_device("860000000000003", email="other@example.com")
    simulator.add_device("860000000000004")
    simulator.unassign(EMAIL, "860000000000001")
    simulator.assign("other@example.com", "860000000000002")
    assert await unique_ids(ask) == {"860000000000002"}
    other = authorization("other@example.com", "other")
    assert {d["uniqueId"] for d in (await ask(authorization=other)).json()} == {
        "860000000000002",
        "860000000000003",
    }


async def unique_ids(ask: Ask) -> set[str]:
    """Return which trackers are listed."""
    return {device["uniqueId"] for device in (await ask()).json()}


async def test_steering_shows_in_the_next_answer(
    simulator: Simulator, ask: Ask
) -> None:
    """Each change changes its field and nothing else."""
    before = await device(ask, "860000000000001")

    async def changed() -> dict[str, Any]:
        nonlocal before
        now = await device(ask, "860000000000001")
        changes = {key: value for key, value in now.items() if before[key] != value}
        before = now
        return changes

    simulator.rename("860000000000001", "Red bike")
    assert await changed() == {"name": "Red bike"}
    simulator.set_status("860000000000001", "offline")
    assert await changed() == {"status": "offline"}
    simulator.set_disabled("860000000000001", True)
    assert await changed() == {"disabled": True}
    simulator.set_group("860000000000001", 7)
    assert await changed() == {"groupId": 7}
    internal_id = simulator.move_internal_id("860000000000001")
    assert await changed() == {"id": internal_id}
    simulator.set_attributes("860000000000001", {"bluetoothKey": "k3y"})
    assert await changed() == {"attributes": {"bluetoothKey": "k3y"}}
    simulator.override_field("860000000000001", "groupId", None)
    assert await changed() == {"groupId": None}
    simulator.clear_overrides("860000000000001")
    assert await changed() == {"groupId": 7}
    position = simulator.report("860000000000001")
    assert (await changed())["positionId"] == position.id


async def device(ask: Ask, unique_id: str) -> dict[str, Any]:
    """Return one tracker of the list."""
    return next(d for d in (await ask()).json() if d["uniqueId"] == unique_id)


async def test_a_field_can_be_left_out(simulator: Simulator, ask: Ask) -> None:
    """An override without a value is no field at all."""
    simulator.override_field("860000000000001", "name")
    assert "name" not in await device(ask, "860000000000001")


async def test_a_deleted_tracker_is_gone_from_every_account(
    simulator: Simulator, ask: Ask
) -> None:
    """Deleting also unassigns."""
    simulator.delete_device("860000000000001")
    assert await unique_ids(ask) == {"860000000000002"}


@pytest.mark.parametrize(
    ("answer", "body"), [(b"\xff", b"\xff"), ([1, None], b"[1,null]"), ([], b"[]")]
)
async def test_the_whole_answer_can_be_given(
    simulator: Simulator, ask: Ask, answer: Any, body: bytes
) -> None:
    """Bytes go out as they are, a list as JSON."""
    simulator.raw_devices(answer)
    assert (await ask()).body == body
    simulator.raw_devices(None)
    assert len((await ask()).json()) == 2


async def test_records_each_request_in_full(simulator: Simulator, ask: Ask) -> None:
    """What came in can be held against the interface."""
    await ask()
    await ask("devices?a=b", authorization=None)
    first, second = simulator.requests
    assert (first.method, first.path, first.query) == ("GET", "/api/devices", "")
    assert first.header("Accept") == "application/json"
    assert first.header("authorization") == authorization(EMAIL, PASSWORD)
    assert (first.account, second.account) == (EMAIL, None)
    assert second.query == "a=b"
    assert second.header("authorization") is None
    assert simulator.record.counts["/api/devices"] == 2
    simulator.record.clear()
    assert simulator.requests == []


async def test_serves_below_a_prefix(session: ClientSession) -> None:
    """The service may live at any path."""
    async with Simulator(prefix="/traccar") as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        assert simulator.url.endswith("/traccar/api")
        assert (await Ask(simulator, session)()).body == b"[]"
        root = simulator.url.removesuffix("/traccar/api")
        async with session.get(f"{root}/api/devices") as response:
            assert response.status == 404


async def test_comes_back_on_the_same_port(simulator: Simulator, ask: Ask) -> None:
    """A stopped simulator refuses connections; started again it has everything it had."""
    url = simulator.url
    await ask()
    await simulator.stop()
    with pytest.raises(ClientConnectorError):
        await ask()
    await simulator.start()
    assert simulator.url == url
    assert len((await ask()).json()) == 2


async def test_port_in_use(simulator: Simulator) -> None:
    """Two simulators do not share a port."""
    with pytest.raises(OSError, match="in use"):
        await Simulator(port=simulator.port).start()


@pytest.mark.parametrize("short", [False, True])
async def test_short_connections(session: ClientSession, short: bool) -> None:
    """They end with the first answer, of which the client is told; others last."""
    async with Simulator(short=short) as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        answer = await Ask(simulator, session)()
        assert answer.status == 200
        assert (answer.headers.get("Connection") == "close") is short


async def test_documented_only_serves_eight_fields_and_one_endpoint(
    session: ClientSession,
) -> None:
    """Nothing beyond the interface: no further fields, no positions."""
    async with Simulator(kind="documented") as simulator:
        simulator.add_account(EMAIL, PASSWORD)
        simulator.add_device("860000000000001", email=EMAIL)
        ask = Ask(simulator, session)
        assert set(await device(ask, "860000000000001")) == {
            "id",
            "name",
            "uniqueId",
            "status",
            "lastUpdate",
            "positionId",
            "groupId",
            "disabled",
        }
        assert (await ask("positions")).status == 404
