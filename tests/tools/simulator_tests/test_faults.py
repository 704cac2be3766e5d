"""Each fault strikes, and leaves nothing behind."""

import asyncio
import contextlib

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
