"""Steering from another process does what steering in this one does."""

from collections.abc import AsyncGenerator

from aiohttp import ClientSession
import pytest

from tests.tools.simulator import (
    ControlError,
    ControlServer,
    Simulator,
    SimulatorControl,
)
from tests.tools.simulator.control import ACTIONS

from .conftest import EMAIL, PASSWORD, Ask

BIKE = "860000000000001"


@pytest.fixture
async def server(simulator: Simulator) -> AsyncGenerator[ControlServer]:
    """The control address of the simulator."""
    async with ControlServer(simulator) as server:
        yield server


@pytest.fixture
def control(server: ControlServer, session: ClientSession) -> SimulatorControl:
    """A client of it."""
    return SimulatorControl(session, server.url)


async def test_state_is_what_the_service_lists(
    simulator: Simulator, control: SimulatorControl, ask: Ask
) -> None:
    """Devices and positions of each account, requests so far, faults."""
    simulator.add_account("other@example.com", "other")
    devices, positions = (await ask()).json(), (await ask("positions")).json()
    simulator.fault("status-500", path="positions")
    state = await control.state()
    assert state["url"] == simulator.url
    assert state["accounts"]["other@example.com"] == {"devices": [], "positions": []}
    listed = state["accounts"][EMAIL]
    assert sorted(listed["devices"], key=lambda d: int(d["id"])) == sorted(
        devices, key=lambda d: int(d["id"])
    )
    assert sorted(listed["positions"], key=lambda p: int(p["id"])) == sorted(
        positions, key=lambda p: int(p["id"])
    )
    assert state["requests"] == {"/api/devices": 1, "/api/positions": 1}
    assert state["faults"] == {"positions": "status-500"}


async def test_each_action_is_a_method(
    simulator: Simulator, control: SimulatorControl
) -> None:
    """Same names, same arguments."""
    await control.do("add_account", email="new@example.com", password="new")
    await control.do("add_device", unique_id="new", name="New", email="new@example.com")
    await control.do("set_status", unique_id="new", status="offline")
    position = await control.do("report", unique_id="new", latitude=1.5, longitude=2.5)
    [device] = simulator.devices_of("new@example.com")
    assert (device.name, device.status) == ("New", "offline")
    assert device.position is not None
    assert (device.position.latitude, device.position.longitude) == (1.5, 2.5)
    assert position["id"] == device.position_id


async def test_times_are_text(simulator: Simulator, control: SimulatorControl) -> None:
    """As ISO 8601."""
    await control.do(
        "set_last_update", unique_id=BIKE, last_update="2026-05-04T03:02:01+00:00"
    )
    assert (
        simulator.devices[BIKE].last_update.isoformat() == "2026-05-04T03:02:01+00:00"
    )


async def test_a_field_can_be_left_out(control: SimulatorControl, ask: Ask) -> None:
    """An override without a value, here too."""
    await control.do("override_field", unique_id=BIKE, field="groupId")
    assert sorted("groupId" in device for device in (await ask()).json()) == [
        False,
        True,
    ]


async def test_raw_answers_are_text(control: SimulatorControl, ask: Ask) -> None:
    """Text goes out as it is."""
    await control.do("raw_devices", answer="not json")
    assert (await ask()).body == b"not json"
    await control.do("raw_devices", answer=None)
    assert len((await ask()).json()) == 2


async def test_faults(control: SimulatorControl, ask: Ask) -> None:
    """With their options, and over again."""
    await control.fault("status-429", retry_after="9", times=1)
    answer = await ask()
    assert (answer.status, answer.headers["Retry-After"]) == (429, "9")
    assert (await ask()).status == 200
    await control.fault("status-500")
    assert (await ask()).status == 500
    await control.fault(None)
    assert (await ask()).status == 200


async def test_requests(
    simulator: Simulator, control: SimulatorControl, ask: Ask
) -> None:
    """The same records, and none after clearing."""
    await ask()
    await ask(authorization=None)
    assert await control.requests() == simulator.requests
    await control.clear_requests()
    assert await control.requests() == []


async def test_mistakes_are_told(control: SimulatorControl) -> None:
    """A wrong name or argument changes nothing and says why."""
    with pytest.raises(ControlError, match="no action fly"):
        await control.do("fly")
    with pytest.raises(ControlError, match="no tracker nobody"):
        await control.do("rename", unique_id="nobody", name="x")
    with pytest.raises(ControlError, match="unexpected keyword"):
        await control.do("rename", unique_id=BIKE, colour="red")
    with pytest.raises(ControlError, match="no fault"):
        await control.fault("flood")
    with pytest.raises(ControlError, match="no action"):
        await control.do("__init__")


async def test_nothing_else_is_there(
    server: ControlServer, session: ClientSession
) -> None:
    """Other paths and methods do not exist."""
    for method, path in (("GET", "/do"), ("POST", "/state"), ("GET", "/")):
        async with session.request(method, server.url + path) as response:
            assert response.status == 404


def test_every_way_to_steer_is_an_action() -> None:
    """What a test can do in its own process it can do from another."""
    assert {"assign", "unassign", "rename", "set_password", "touch"} <= ACTIONS.keys()
    assert "devices_of" not in ACTIONS
    assert not [name for name in ACTIONS if name.startswith("_")]


async def test_control_stays_when_the_service_is_away(
    simulator: Simulator, control: SimulatorControl, ask: Ask
) -> None:
    """A refused connection can be ended from outside."""
    await control.fault("connection-refused")
    assert (await control.state())["faults"]["devices"] == "connection-refused"
    await control.fault(None)
    assert (await ask(authorization=None)).status == 401
    assert PASSWORD not in str(await control.state())
    with pytest.raises(ControlError, match="nothing to try"):
        await control.try_("rides")


async def test_what_is_done_is_answered(control: SimulatorControl) -> None:
    """Not with nothing, nor with null."""
    assert await control.do("rename", unique_id=BIKE, name="x") == {"done": True}
