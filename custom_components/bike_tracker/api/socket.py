"""A socket, and whether anybody is there on its other side."""

import asyncio
from contextlib import suppress
import socket
from typing import Final

import aiohttp

from .errors import CannotConnectError, InvalidResponseError, NoAnswerError

# Traccar's sign of life comes every 55 seconds. After some more of silence it is asked
# for one, and after half of that again it is taken for dead: within a minute and a half.
_HEARTBEAT: Final = 57
_LONGEST_SEND: Final = 10
_LONGEST_GOODBYE: Final = 1
CLOSING: Final = aiohttp.ClientWSTimeout(ws_close=_LONGEST_GOODBYE)
"""For aiohttp, which waits for each frame anew, also where it closes by itself."""
_ENDS: Final = {
    aiohttp.WSMsgType.CLOSE,
    aiohttp.WSMsgType.CLOSING,
    aiohttp.WSMsgType.CLOSED,
}


class Socket:
    """A socket that ends when nobody is there any more.

    aiohttp's own heartbeat would leave a timer behind where it says goodbye, and with a
    timeout for each of them the messages of a storm cost a quarter more.
    """

    def __init__(self, web: aiohttp.ClientWebSocketResponse[bool]) -> None:
        """Watch an open socket, of which pings are left to us, until it is closed."""
        self._web = web
        self._line: socket.socket = web.get_extra_info("socket")
        self._heard_at = _now()
        # Why it ended, if that was noticed here.
        self._error: Exception | None = None
        self._watching = asyncio.create_task(self._async_watch())

    async def async_receive(self) -> bytes:
        """Return the next message, no bytes for what is none, such as a ping.

        Raises CannotConnectError, or NoAnswerError if there was no sign of life or our
        own is not taken, or InvalidResponseError.
        """
        message = await self._web.receive()
        self._heard_at = _now()
        if message.type is aiohttp.WSMsgType.TEXT:
            data: bytes = message.data
            return data
        if message.type is aiohttp.WSMsgType.ERROR:
            raise InvalidResponseError("no valid message")
        if message.type in _ENDS:
            raise self._error or CannotConnectError("connection closed")
        if message.type is aiohttp.WSMsgType.PING:
            await self._async_send(aiohttp.WSMsgType.PONG, message.data)
        return b""

    async def async_close(self) -> None:
        """Say goodbye, and wait for an answer no longer than a moment."""
        self._watching.cancel()
        # Their tracebacks hold this, and what holds this the cookie.
        del self._watching, self._error
        try:
            async with asyncio.timeout(_LONGEST_GOODBYE):
                await self._web.close()
        except TimeoutError:
            self._cut()

    async def _async_watch(self) -> None:
        try:
            await self._async_until_silent()
        except Exception as err:  # noqa: BLE001 - whatever it is, nobody watches any more
            self._error = err
            self._cut()

    async def _async_until_silent(self) -> None:
        """Ask for a sign of life after each long silence; raise if there comes none."""
        while True:
            asked_at = _now()
            silent_at = self._heard_at + _HEARTBEAT
            if silent_at > asked_at:
                await asyncio.sleep(silent_at - asked_at)
                continue
            await self._async_send(aiohttp.WSMsgType.PING)
            await asyncio.sleep(_HEARTBEAT / 2)
            if self._heard_at < asked_at:
                raise NoAnswerError("no sign of life")

    async def _async_send(self, kind: aiohttp.WSMsgType, data: bytes = b"") -> None:
        try:
            async with asyncio.timeout(_LONGEST_SEND):
                await self._web.send_frame(data, kind)
        except TimeoutError:
            raise NoAnswerError("nobody reads") from None
        except aiohttp.ClientError:
            raise CannotConnectError("connection closed") from None

    def _cut(self) -> None:
        """End it without a goodbye, whatever aiohttp waits for."""
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)


def _now() -> float:
    """Return the time by the clock that sleeps are timed by."""
    return asyncio.get_running_loop().time()
