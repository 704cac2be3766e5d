"""Each fault strikes, and leaves nothing behind."""

import asyncio
import contextlib
from typing import Any

from aiohttp import ClientConnectorError, ClientError
import pytest

from tests.tools.simulator import FAULTS, Simulator

from .conftest import Answer, Ask


async def once_back(ask: Ask) -> Answer:
    """Ask until the server takes connections again."""
    async with asyncio.timeout(10):
        while True:
            with contextlib.suppress(ClientConnectorError):
                return await ask()
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    "name", [name for name, fault in FAULTS.items() if fault.respond]
)
async def test_a_fault_that_is_over_leaves_nothing_behind(
    simulator: Simulator, ask: Ask, name: str
) -> None:
    """The next call after any fault is answered well, over whatever connection is left."""
    good = {device["uniqueId"]: device for device in (await ask()).json()}
    simulator.fault(name, times=1, size=2**20, seconds=0, rate=10_000)
    with contextlib.suppress(ClientError, TimeoutError):
        async with asyncio.timeout(1):
            await ask()
    assert simulator.faults == {}
    answer = await once_back(ask)
    assert {device["uniqueId"]: device for device in answer.json()} == good


@pytest.mark.parametrize(
    "name", [name for name in FAULTS if name[7:].isdigit() and name[:7] == "status-"]
)
async def test_statuses(simulator: Simulator, ask: Ask, name: str) -> None:
    """The status of its name, until it ends."""
    simulator.fault(name)
    for _ in range(2):
        assert (await ask()).status == int(name.removeprefix("status-"))


async def test_lasts_as_many_calls_as_asked_for(simulator: Simulator, ask: Ask) -> None:
    """Calls are counted over both endpoints, or over one of them, or every so many."""

    async def statuses() -> list[int]:
        return [(await ask(path)).status for path in ("devices", "positions") * 2]

    simulator.fault("status-500", times=2)
    assert await statuses() == [500, 500, 200, 200]
    simulator.fault("status-500", times=1, path="positions")
    assert await statuses() == [200, 500, 200, 200]
    simulator.fault("status-500", every=2)
    assert await statuses() == [200, 500, 200, 500]


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


@pytest.mark.parametrize("name", ["no-answer", "slow-body", "restart"])
async def test_stops_at_once(simulator: Simulator, ask: Ask, name: str) -> None:
    """Whatever a client waits for, and however long, the simulator is gone."""
    tasks = asyncio.all_tasks()
    simulator.fault(name, seconds=3600)
    call = asyncio.create_task(ask())
    while not simulator.requests:
        await asyncio.sleep(0)
    await simulator.stop()
    with contextlib.suppress(ClientError):
        await call
    assert asyncio.all_tasks() == tasks
