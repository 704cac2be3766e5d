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

    aiohttp's own heartbeat would leave a timer behind where it says goodbye, and a
    timeout for each of them would make the messages of a storm a tenth dearer.
    """

    def __init__(self, web: aiohttp.ClientWebSocketResponse[bool]) -> None:
        """Watch an open socket, of which pings are left to us, until it is closed."""
        self._web = web
        self._heard_at = _now()
        self._watching = asyncio.create_task(
            self._async_watch(web.get_extra_info("socket"))
        )

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
            if self._watching.done():
                raise self._watching.result()
            raise CannotConnectError("connection closed")
        if message.type is aiohttp.WSMsgType.PING:
            await self._async_send(aiohttp.WSMsgType.PONG, message.data)
        return b""

    async def async_close(self) -> None:
        """Say goodbye, and wait for an answer no longer than a moment."""
        line = self._web.get_extra_info("socket")
        self._watching.cancel()
        # What it returned has a traceback that holds this, and so the cookie.
        del self._watching
        try:
            async with asyncio.timeout(_LONGEST_GOODBYE):
                await self._web.close()
        except TimeoutError:
            _cut(line)

    async def _async_watch(self, line: socket.socket) -> Exception:
        """Ask for a sign of life after each long silence; cut it if there comes none."""
        try:
            while True:
                while (left := self._heard_at + _HEARTBEAT - _now()) > 0:
                    await asyncio.sleep(left)
                asked_at = _now()
                await self._async_send(aiohttp.WSMsgType.PING)
                await asyncio.sleep(_HEARTBEAT / 2)
                if self._heard_at < asked_at:
                    _cut(line)
                    return NoAnswerError("no sign of life")
        except Exception as err:  # noqa: BLE001 - whatever it is, nobody watches any more
            _cut(line)
            return err

    async def _async_send(self, kind: aiohttp.WSMsgType, data: bytes = b"") -> None:
        try:
            async with asyncio.timeout(_LONGEST_SEND):
                await self._web.send_frame(data, kind)
        except TimeoutError:
            raise NoAnswerError("nobody reads") from None
        except aiohttp.ClientError:
            raise CannotConnectError("connection closed") from None


def _cut(line: socket.socket) -> None:
    """End it without a goodbye, whatever aiohttp waits for."""
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)


def _now() -> float:
    """Return the time by the clock that sleeps are timed by."""
    return asyncio.get_running_loop().time()
