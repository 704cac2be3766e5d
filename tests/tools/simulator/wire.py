"""Wrong, slow and huge answers. Most are written directly to the socket, without aiohttp's checks."""

import asyncio
from collections.abc import Iterable
from http import HTTPStatus
from math import inf
import socket
import struct
import threading
from typing import override

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

JSON = "application/json"


async def pause(seconds: float) -> None:
    """Wait in real time, even if a test has frozen the clock of the event loop."""
    over = threading.Event()
    try:
        await asyncio.to_thread(over.wait, seconds)
    finally:
        over.set()


def head(
    length: int | None, *, status: int = 200, content_type: str | None = JSON
) -> bytes:
    """Return the status line and the headers. Without a length, the body ends when the connection is closed."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    if content_type is not None:
        lines.append(f"Content-Type: {content_type}")
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join([*lines, "", ""]).encode()


class Raw(web.StreamResponse):
    """Sends bytes unchanged, and then closes the connection."""

    takes = 0.0
    """Minimum duration of the answer in seconds."""

    def __init__(self, data: bytes = b"") -> None:
        super().__init__()
        self._data = data

    @override
    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter:
        transport = request.transport
        if transport is not None:
            transport.write(self._data)
            await self._end(transport)
        # After this error, aiohttp closes the connection and logs nothing, as if the
        # client had left.
        raise ConnectionResetError

    async def _end(self, transport: asyncio.Transport) -> None:
        """Do nothing more. A subclass can send more bytes, or end the connection in another way."""


class Reset(Raw):
    """Sends bytes unchanged, and then resets the connection (RST in place of FIN)."""

    @override
    async def _end(self, transport: asyncio.Transport) -> None:
        sock: socket.socket = transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()


class Silence(Raw):
    """Sends bytes unchanged, and then nothing until the client closes the connection."""

    takes = inf

    @override
    async def _end(self, transport: asyncio.Transport) -> None:
        await asyncio.get_running_loop().create_future()


class Trickle(Raw):
    """Sends some bytes at once, then further bytes one by one, and then closes the connection."""

    def __init__(self, data: bytes, slowly: bytes, *, per_second: float) -> None:
        super().__init__(data)
        self._slowly = slowly
        self._pause = 1 / per_second
        self.takes = len(slowly) / per_second

    @override
    async def _end(self, transport: asyncio.Transport) -> None:
        for byte in self._slowly:
            await pause(self._pause)
            transport.write(bytes([byte]))


class Late(Raw):
    """Sends bytes after some seconds of the event loop's clock, which a test can move forward."""

    def __init__(self, data: bytes, seconds: float) -> None:
        super().__init__()
        self._late = data
        self.takes = seconds

    @override
    async def _end(self, transport: asyncio.Transport) -> None:
        await asyncio.sleep(self.takes)
        transport.write(self._late)


class Streamed(web.StreamResponse):
    """Sends a long JSON body as fast as the client reads it."""

    def __init__(self, chunks: Iterable[bytes], *, length: int | None = None) -> None:
        super().__init__(headers={"Content-Type": JSON})
        self.content_length = length
        self._chunks = chunks

    @override
    async def write_eof(self, data: bytes = b"") -> None:
        for chunk in self._chunks:
            await self.write(chunk)
        await super().write_eof(data)
