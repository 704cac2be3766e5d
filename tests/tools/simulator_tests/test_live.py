"""The simulated live connection: strict about who may listen, and in the order of real servers."""

import asyncio
from collections.abc import AsyncIterator
import json
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, DummyCookieJar
import pytest

from tests.tools.simulator import KINDS, Simulator, authorization

EMAIL = "ann@example.com"
PASSWORD = "correct horse"
RED = "860000000000011"
FORM = {"email": EMAIL, "password": PASSWORD}


@pytest.fixture
async def session() -> AsyncIterator[ClientSession]:
    """Return a session that keeps no cookies."""
    async with ClientSession(cookie_jar=DummyCookieJar()) as session:
        yield session


def serve(kind: str = "service") -> Simulator:
    """Return a service with one account of one tracker."""
    simulator = Simulator(kind=kind)
    simulator.add_account(EMAIL, PASSWORD)
    simulator.add_device(RED, name="Red bike", email=EMAIL)
    return simulator


async def sign_in(session: ClientSession, simulator: Simulator) -> dict[str, str]:
    """Return the header with the cookie of a new session."""
    async with session.post(f"{simulator.url}/session", data=FORM) as response:
        assert response.status == 200
        [cookie] = response.cookies.values()
        return {"Cookie": f"{cookie.key}={cookie.value}"}


async def said(socket: ClientWebSocketResponse) -> dict[str, Any]:
    """Return the next message."""
    async with asyncio.timeout(5):
        message: dict[str, Any] = json.loads(await socket.receive_str())
        return message


async def test_messages(session: ClientSession) -> None:
    """All positions, then the device as it was, then its position."""
    async with serve() as simulator:
        cookie = await sign_in(session, simulator)
        socket = await session.ws_connect(f"{simulator.url}/socket", headers=cookie)
        first = await said(socket)
        assert first == {"positions": simulator.listed("positions", EMAIL)}

        position = simulator.report(RED, latitude=48.0)
        told, came = await said(socket), await said(socket)
        [device], [row] = told["devices"], came["positions"]
        assert device["positionId"] == first["positions"][0]["id"]
        assert device["lastUpdate"] == row["serverTime"]
        assert (row["id"], row["latitude"]) == (position.id, 48.0)
        assert simulator.listed("devices", EMAIL) == [
            device | {"positionId": position.id}
        ]

        simulator.rename(RED, "Blue bike")
        simulator.set_status(RED, "offline")
        [device] = (await said(socket))["devices"]
        assert (device["name"], device["status"]) == ("Blue bike", "offline")
        simulator.live.keep_alive()
        assert await said(socket) == {}
        await socket.close()


async def test_one_message(session: ClientSession) -> None:
    """What is told meanwhile goes out together, a late report too."""
    async with (
        serve() as simulator,
        session.ws_connect(
            f"{simulator.url}/socket", headers=await sign_in(session, simulator)
        ) as socket,
    ):
        await socket.receive()
        with simulator.live.in_one_message():
            newest = simulator.report(RED, latitude=48.5)
            late = simulator.report(RED, latitude=48.4, is_late=True)
        message = json.loads((await socket.receive()).data)
        assert [row["id"] for row in message["positions"]] == [newest.id, late.id]
        assert len(message["devices"]) == 2
        [row] = simulator.listed("devices", EMAIL)
        assert row["positionId"] == newest.id


async def test_order_of_traccar_6(
    session: ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Devices come at once, positions seconds later."""
    assert KINDS["6.14.5"].position_delay == 3
    async with serve("6.14.5") as simulator:
        cookie = await sign_in(session, simulator)
        socket = await session.ws_connect(f"{simulator.url}/socket", headers=cookie)
        await said(socket)
        loop = asyncio.get_running_loop()
        call_later = loop.call_later
        monkeypatch.setattr(
            loop,
            "call_later",
            lambda wait, *args, **kwargs: call_later(
                0.05 if wait == 3 else wait, *args, **kwargs
            ),
        )
        simulator.report(RED)
        simulator.report(RED)
        found = [await said(socket) for _ in range(4)]
        assert [*map(list, found)] == [
            *(["devices"], ["devices"]),
            *(["positions"], ["positions"]),
        ]
        await socket.close()


async def test_other_peoples_news(session: ClientSession) -> None:
    """Who has no such tracker hears nothing of it."""
    async with serve() as simulator:
        simulator.add_device("860000000000022", name="Not Ann's")
        cookie = await sign_in(session, simulator)
        socket = await session.ws_connect(f"{simulator.url}/socket", headers=cookie)
        await said(socket)
        simulator.report("860000000000022")
        simulator.touch([RED])
        [device] = (await said(socket))["devices"]
        assert device["uniqueId"] == RED
        await socket.close()


@pytest.mark.parametrize(("kind", "status"), [("4.11", 503), ("6.14.5", 404)])
@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": authorization(EMAIL, PASSWORD)}]
)
async def test_refused_socket(
    session: ClientSession, kind: str, status: int, headers: dict[str, str]
) -> None:
    """Without the cookie of a session there is none, with a password neither."""
    async with (
        serve(kind) as simulator,
        session.get(f"{simulator.url}/socket", headers=headers) as response,
    ):
        assert response.status == status
