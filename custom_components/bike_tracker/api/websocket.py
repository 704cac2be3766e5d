"""Push messages over a websocket, as Traccar's own web page receives them.

The websocket is not in the documented interface. Credentials are sent only to
`POST /session`, and the session cookie only to the socket. Redirects are not followed, so
neither reaches another server.
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

from . import MAX_BYTES, TIMEOUT, TrackingClient, async_answer, async_refusal, errors
from .models import Device, Position, devices_of, positions_of

# Traccar sends a keep-alive every 55 seconds. After 57 seconds of silence, aiohttp
# sends a ping. If no pong arrives within another 28 seconds, aiohttp closes the
# connection.
_HEARTBEAT_SECONDS: Final = 57
# Number of messages to yield before other tasks may run: 2 ms of work.
_BATCH_SIZE: Final = 8
type Socket = aiohttp.ClientWebSocketResponse[bool]


class Message(NamedTuple):
    """Devices and positions of a push message, in the order of the message."""

    devices: list[Device]
    positions: list[Position]


async def async_messages(client: TrackingClient) -> AsyncGenerator[Message]:
    """Sign in and yield messages. Raise TrackingError when the connection ends.

    The caller must close the generator (`aclosing`), so that the websocket is closed.
    """
    socket = await async_answer(_async_open(client))
    try:
        # The first message comes right after connecting: the positions of all trackers.
        # So wait for it only as long as for a response.
        first = asyncio.wait_for(_async_next(socket), TIMEOUT.total)
        yield await async_answer(first)
        while True:
            # Let other tasks run between batches.
            await asyncio.sleep(0)
            for _ in range(_BATCH_SIZE):
                yield await _async_next(socket)
    finally:
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                await socket.close()


def parse_message(data: bytes) -> Message | None:
    """Parse a message. Return None for a keep-alive (`{}`) and for an unreadable message.

    Invalid devices and positions in a message are skipped.
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


async def _async_sign_in(client: TrackingClient) -> str:
    """Sign in and return the value of the `Cookie` header for the session."""
    url, headers = f"{client.url}/session", {hdrs.ACCEPT: "application/json"}
    form = {"email": client.email, "password": client.password}
    async with (
        client.session() as session,
        session.post(URL(url, encoded=True), data=form, headers=headers) as response,
    ):
        if response.status != HTTPStatus.OK:
            raise await async_refusal(response)
        cookies = response.cookies.values()
    if cookie := "; ".join(f"{item.key}={item.coded_value}" for item in cookies):
        return cookie
    raise errors.InvalidResponseError("no session")


async def _async_open(client: TrackingClient) -> Socket:
    cookie = await _async_sign_in(client)
    async with client.session() as session:
        return await session.ws_connect(
            URL(f"{client.url}/socket", encoded=True),
            headers={hdrs.COOKIE: cookie},
            # Do not wait for the server's close frame: during this wait, aiohttp would
            # start the heartbeat of the closing websocket again.
            timeout=aiohttp.ClientWSTimeout(ws_close=0),
            heartbeat=_HEARTBEAT_SECONDS,
            max_msg_size=MAX_BYTES,
            decode_text=False,
        )


async def _async_next(socket: Socket) -> Message:
    """Return the next message. Skip keep-alives and unreadable messages."""
    while True:
        data = await _async_receive(socket)
        if message := parse_message(data):
            return message
        await asyncio.sleep(0)


async def _async_receive(socket: Socket) -> bytes:
    """Return the next text frame. Raise TrackingError if the connection ended."""
    data: object = None
    with suppress(aiohttp.ClientError):
        data = (await socket.receive()).data
    if isinstance(data, bytes):
        # With `decode_text=False`, aiohttp returns text frames as bytes. Pings never
        # get here: aiohttp answers them itself.
        return data
    if isinstance(data, TimeoutError):
        raise errors.CannotConnectError("no keep-alive")
    if isinstance(data, aiohttp.WebSocketError):
        raise errors.InvalidResponseError("invalid message")
    raise errors.CannotConnectError("connection closed")
