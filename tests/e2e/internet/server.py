"""One port that answers for every host there is."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
import ssl
from tempfile import TemporaryDirectory
from typing import Self

from aiohttp import web

from tests.tools.simulator.listener import Listener

from .certificates import certificates

type Site = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
"""What answers for a host."""


class Internet:
    """Serves sites by the name they are asked for, over TLS; all other names answer with 404."""

    def __init__(self, sites: Mapping[str, Site]) -> None:
        """Have these sites, by host."""
        self.asked: list[str] = []
        """The addresses that were asked for, oldest first."""
        self._sites = sites
        self._folder = TemporaryDirectory(prefix="bike-tracker-internet-")
        authority, server = certificates(sites)
        self.authority = Path(self._folder.name, "authority.pem")
        """The file that a client needs to trust the sites."""
        self.authority.write_bytes(authority)
        self._listener = Listener(self._answer, tls=self._context(server))

    async def __aenter__(self) -> Self:
        """Go online."""
        self._listener.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Go offline."""
        await self._listener.stop()
        self._folder.cleanup()

    @property
    def port(self) -> int:
        """The port on 127.0.0.1, once online."""
        return self._listener.port

    def _context(self, certificate: bytes) -> ssl.SSLContext:
        path = Path(self._folder.name, "server.pem")
        path.write_bytes(certificate)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append(f"{request.host}{request.path_qs}")
        site = self._sites.get(request.host)
        return web.Response(status=404) if site is None else await site(request)
