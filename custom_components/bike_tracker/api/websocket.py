"""Push messages over a websocket: what Traccar's own web page uses.

Not in the documented interface. Credentials go out in the form of the sign-in alone, and
the cookie that came of it to the socket alone: both to the given address, as redirects
are not followed.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from http import HTTPStatus
from typing import Final, NamedTuple

import aiohttp
from aiohttp import hdrs
import orjson
from yarl import URL

from . import errors
from .client import MAX_BYTES, TIMEOUT, TrackingClient, async_answer, async_refusal
from .lists import devices_of, positions_of
from .models import Device, Position

# Traccar sends a sign of life every 55 seconds. aiohttp pings after a longer silence, and
# closes after half of that again: within a minute and a half.
_HEARTBEAT: Final = 57
# Of messages that came together: 2 ms of work.
_AT_ONCE: Final = 8
type Socket = aiohttp.ClientWebSocketResponse[bool]


class Message(NamedTuple):
    """Trackers and positions of a push message, in its order."""

    devices: list[Device]
    positions: list[Position]


async def async_messages(client: TrackingClient) -> AsyncGenerator[Message]:
    """Sign in and yield messages until the connection ends, which raises TrackingError.

    To be closed by whoever reads no further.
    """
    async with client.new_session() as session:
        socket = await async_answer(_async_open(session, client))
        try:
            # The first comes at once: it says where all trackers are.
            first = asyncio.wait_for(_async_next(socket), TIMEOUT.total)
            yield await async_answer(first)
            while True:
                # However much comes at once, others have their turn.
                await asyncio.sleep(0)
                for _ in range(_AT_ONCE):
                    yield await _async_next(socket)
        finally:
            await _async_close(socket)


async def _async_close(socket: Socket) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(1):
            await socket.close()


def parse_message(data: bytes) -> Message | None:
    """Return a message; None for a sign of life, `{}`, or nothing that can be read.

    What is not as it should be within a message costs only itself.
    """
    value = None
    with suppress(orjson.JSONDecodeError):
        value = orjson.loads(data)
    fields = value.items() if type(value) is dict else ()
    lists = {name: rows for name, rows in fields if type(rows) is list}
    devices, positions = lists.get("devices"), lists.get("positions")
    if devices is None and positions is None:
        return None
    return Message(devices_of(devices or []), positions_of(positions or []))


async def _async_sign_in(session: aiohttp.ClientSession, client: TrackingClient) -> str:
    """Return the cookie of a new session."""
    async with session.post(
        URL(f"{client.url}/session", encoded=True),
        data={"email": client.email, "password": client.password},
        headers={hdrs.ACCEPT: "application/json"},
    ) as response:
        if response.status != HTTPStatus.OK:
            raise await async_refusal(response)
        cookies = response.cookies.values()
    if cookie := "; ".join(f"{item.key}={item.coded_value}" for item in cookies):
        return cookie
    raise errors.InvalidResponseError("no session")


async def _async_open(session: aiohttp.ClientSession, client: TrackingClient) -> Socket:
    cookie = await _async_sign_in(session, client)
    return await session.ws_connect(
        URL(f"{client.url}/socket", encoded=True),
        headers={hdrs.COOKIE: cookie},
        # An answer to the goodbye would begin aiohttp's heartbeat anew.
        timeout=aiohttp.ClientWSTimeout(ws_close=0),
        heartbeat=_HEARTBEAT,
        max_msg_size=MAX_BYTES,
        decode_text=False,
    )


async def _async_next(socket: Socket) -> Message:
    """Return the next message: signs of life, and what is nonsense, are none."""
    while True:
        data = await _async_receive(socket)
        if message := parse_message(data):
            return message
        await asyncio.sleep(0)


async def _async_receive(socket: Socket) -> bytes:
    """Return the next text, or raise how the connection ended."""
    data: object = None
    with suppress(aiohttp.ClientError):
        data = (await socket.receive()).data
    if isinstance(data, bytes):
        # A text: aiohttp answers pings itself.
        return data
    if isinstance(data, TimeoutError):
        raise errors.CannotConnectError("no sign of life")
    if isinstance(data, aiohttp.WebSocketError):
        raise errors.InvalidResponseError("no valid message")
    raise errors.CannotConnectError("connection closed")
