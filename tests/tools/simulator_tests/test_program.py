"""The simulator as a process of its own."""

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Awaitable, Callable
import json
import signal
import ssl
import sys
from typing import Any

from aiohttp import ClientSession
import pytest

from tests.tools.simulator import FAULTS, LIVE_FAULTS, SimulatorControl, authorization

type Start = Callable[..., Awaitable[Process]]

HEADERS = {
    "accept": "application/json",
    "Authorization": authorization("demo@example.com", "demo"),
}


@pytest.fixture
async def start() -> AsyncGenerator[Start]:
    """Start the program; whatever still runs in the end is killed."""
    started: list[Process] = []

    async def start(*arguments: str) -> Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.tools.simulator",
            *arguments,
            stdout=PIPE,
            stderr=PIPE,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def ready(process: Process) -> dict[str, str]:
    """Wait for the line of addresses."""
    assert process.stdout is not None
    async with asyncio.timeout(20):
        addresses: dict[str, str] = json.loads(await process.stdout.readline())
    return addresses


async def devices(session: ClientSession, url: str, **kwargs: Any) -> list[Any]:
    """Ask as the demo account."""
    async with session.get(f"{url}/devices", headers=HEADERS, **kwargs) as response:
        assert response.status == 200
        listed: list[Any] = await response.json()
        return listed


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_runs_until_told_to_end(
    start: Start, session: ClientSession, number: signal.Signals
) -> None:
    """It says where it is, serves, can be steered, and ends cleanly with a client connected."""
    process = await start("--port", "0", "--trackers", "3", "--still")
    addresses = await ready(process)
    assert len(await devices(session, addresses["url"])) == 3
    control = SimulatorControl(session, addresses["control"])
    await control.do("rename", unique_id="860000000000001", name="Renamed")
    assert "Renamed" in {d["name"] for d in await devices(session, addresses["url"])}
    async with session.get(f"{addresses['url']}/positions", headers=HEADERS) as answer:
        assert len(await answer.json()) == 3
    process.send_signal(number)
    async with asyncio.timeout(5):
        stdout, stderr = await process.communicate()
    assert (process.returncode, stdout, stderr) == (0, b"", b"")


async def test_options(start: Start, session: ClientSession) -> None:
    """Another account, another path, nothing undocumented, failing from the start."""
    process = await start(
        *("--port", "0", "--prefix", "/traccar", "--documented-only"),
        *("--email", "ann@example.com", "--password", "o ne:€"),
        *("--fault", "status-503"),
    )
    addresses = await ready(process)
    assert addresses["url"].endswith("/traccar/api")
    headers = HEADERS | {"Authorization": authorization("ann@example.com", "o ne:€")}

    async def status(path: str) -> int:
        async with session.get(f"{addresses['url']}/{path}", headers=headers) as answer:
            return answer.status

    assert await status("devices") == 503
    await SimulatorControl(session, addresses["control"]).fault(None)
    assert await status("devices") == 200
    assert await status("positions") == 404


async def test_the_fleet_moves_and_stands_still(
    start: Start, session: ClientSession
) -> None:
    """Time can run faster, or not at all."""
    moving = await ready(await start("--port", "0", "--speed", "60"))
    still = await ready(await start("--port", "0", "--still"))

    async def position_ids(url: str) -> set[int]:
        return {device["positionId"] for device in await devices(session, url)}

    before = await position_ids(still["url"])
    started = await position_ids(moving["url"])
    async with asyncio.timeout(10):
        while await position_ids(moving["url"]) == started:
            await asyncio.sleep(0.2)
    assert await position_ids(still["url"]) == before


async def test_tls(start: Start, session: ClientSession) -> None:
    """The authority comes with the addresses."""
    addresses = await ready(await start("--port", "0", "--tls"))
    trusting = ssl.create_default_context(cadata=addresses["ca"])
    assert addresses["url"].startswith("https://")
    assert await devices(session, addresses["url"], ssl=trusting)


async def test_port_in_use(start: Start) -> None:
    """One line says so."""
    first = await start("--port", "0", "--still")
    addresses = await ready(first)
    port = addresses["url"].rpartition(":")[2].removesuffix("/api")
    second = await start("--port", port)
    _, stderr = await second.communicate()
    assert second.returncode == 2
    assert stderr.decode() == f"Cannot start: port {port}: Address already in use\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fault", "flood"], "no fault flood"),
        (["--live-fault", "flood"], "no live fault flood"),
        (["--fault", "tls-expired"], "needs a simulator with TLS"),
    ],
)
async def test_a_fault_that_cannot_be(
    start: Start, arguments: list[str], message: str
) -> None:
    """It does not start."""
    process = await start("--port", "0", *arguments)
    _, stderr = await process.communicate()
    assert process.returncode == 2
    assert message in stderr.decode()
    assert stderr.count(b"\n") == 1


async def test_lists_its_faults(start: Start) -> None:
    """Each on a line with what it does."""
    process = await start("--list-faults")
    stdout, _ = await process.communicate()
    assert [line.split()[0] for line in stdout.decode().splitlines()] == [
        *FAULTS,
        *LIVE_FAULTS,
    ]
    assert process.returncode == 0
