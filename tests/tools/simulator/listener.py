"""A port of this machine that answers HTTP. It can be closed and opened again at any time."""

import asyncio
from collections.abc import Awaitable, Callable
import contextlib
import socket
import ssl
from typing import Any, override

from aiohttp import web

HOST = "127.0.0.1"

type Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


def _keep(task: asyncio.Task[Any], running: set[asyncio.Task[Any]]) -> None:
    running.add(task)
    task.add_done_callback(running.discard)


class _TlsDoor(asyncio.Protocol):
    """Makes the TLS handshake with a client before the client is served.

    If asyncio's own server made the handshake, the event loop's exception handler would
    be called for each client that rejects the certificate, and the test would fail.
    """

    def __init__(
        self,
        factory: Callable[[], asyncio.Protocol],
        tls: ssl.SSLContext,
        running: set[asyncio.Task[Any]],
    ) -> None:
        self._factory = factory
        self._tls = tls
        self._running = running

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        # Do not read the client's bytes here: the TLS handshake needs them.
        transport.pause_reading()
        _keep(asyncio.create_task(self._shake_hands(transport)), self._running)

    async def _shake_hands(self, transport: asyncio.Transport) -> None:
        protocol = self._factory()
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):
            secure = await loop.start_tls(
                transport, protocol, self._tls, server_side=True
            )
            if secure is not None:
                protocol.connection_made(secure)


class Listener:
    """Serves a request handler on a port of 127.0.0.1."""

    def __init__(
        self,
        handler: Handler,
        *,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Use this port. For port 0, the first `open` chooses a free port, which then stays the same."""
        self.port = port
        self._handler = handler
        self._tls = tls
        self._web: web.Server | None = None
        self._server: asyncio.Server | None = None
        self._opening: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[Any]] = set()

    def open(self) -> None:
        """Accept connections from now on, if not open yet. Raise OSError if another program uses the port."""
        if self._opening is not None:
            return
        sock = self._listen()
        self._web = self._web or web.Server(
            self._handle, handler_cancellation=True, access_log=None
        )
        factory = self._web if self._tls is None else self._door
        self._opening = asyncio.create_task(
            self._serve(factory, sock), eager_start=True
        )

    def close(self) -> None:
        """Close all connections, and refuse new connections."""
        if self._opening is not None:
            self._opening.cancel()
            self._opening = None
        if self._server is not None:
            self._server.close()
            self._server.abort_clients()
            self._server = None

    def drop_connections(self) -> None:
        """Close all connections, but accept new connections."""
        if self._server is not None:
            self._server.abort_clients()

    async def stop(self) -> None:
        """Close all connections, refuse new connections, and wait until no handler runs any more."""
        server, opening = self._server, self._opening
        self.close()
        if opening is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await opening
        if server is not None:
            await server.wait_closed()
        if self._web is not None:
            await self._web.shutdown(timeout=1)
            self._web = None
        await asyncio.gather(*self._running, return_exceptions=True)

    def _listen(self) -> socket.socket:
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((HOST, self.port))
            sock.listen(128)
        except OSError as err:
            sock.close()
            raise OSError(err.errno, f"port {self.port}: {err.strerror}") from err
        self.port = sock.getsockname()[1]
        return sock

    def _door(self) -> _TlsDoor:
        assert self._tls is not None
        assert self._web is not None
        return _TlsDoor(self._web, self._tls, self._running)

    async def _serve(
        self, factory: Callable[[], asyncio.Protocol], sock: socket.socket
    ) -> None:
        loop = asyncio.get_running_loop()
        # Do not accept connections yet: until `create_server` returns the server, `close`
        # could not close them.
        self._server = await loop.create_server(factory, sock=sock, start_serving=False)
        await self._server.start_serving()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        task = asyncio.current_task()
        assert task is not None
        _keep(task, self._running)
        return await self._handler(request)
