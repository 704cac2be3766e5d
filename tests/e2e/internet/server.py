"""A server that answers at one port for every host of the simulated internet."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from aiohttp import web
from cryptography import x509

from tests.tools.simulator.listener import Listener
from tests.tools.simulator.tls import Signer, server_context

type Site = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
"""Function that answers the requests to a host."""


class Internet:
    """Serves sites by host name over TLS. A request to an unknown host gets a 404."""

    def __init__(self, sites: Mapping[str, Site]) -> None:
        """Make a certificate for the hosts of these sites. The keys are the host names."""
        self._sites = sites
        self._folder = TemporaryDirectory(prefix="bike-tracker-internet-")
        authority, server = Signer("Authority"), Signer("Internet")
        self.authority = Path(self._folder.name, "authority.pem")
        """File with the certificate of the authority that signed the certificate of the sites."""
        self.authority.write_bytes(authority.sign(authority, [], authority=True))
        certificate = authority.sign(server, map(x509.DNSName, sites))
        tls = server_context(certificate + server.key_pem)
        self._listener = Listener(self._answer, tls=tls)

    async def __aenter__(self) -> Self:
        """Open a free port, and serve."""
        self._listener.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the port, and delete the certificate file."""
        await self._listener.stop()
        self._folder.cleanup()

    @property
    def port(self) -> int:
        """The port on 127.0.0.1, while the server runs."""
        return self._listener.port

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        site = self._sites.get(request.host)
        return web.Response(status=404) if site is None else await site(request)
