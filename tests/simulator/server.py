"""The documented service over HTTP, strict about everything the interface says."""

from base64 import b64encode
from random import Random
from typing import Self, cast, get_args

from aiohttp import web

from .listener import HOST, Listener
from .record import Record, RecordedRequest
from .render import Endpoint, Renderer
from .world import World

ENDPOINTS: tuple[str, ...] = get_args(Endpoint.__value__)


def authorization(email: str, password: str) -> str:
    """Return the one value of the Authorization header that section 5 allows."""
    return f"Basic {b64encode(f'{email}:{password}'.encode()).decode()}"


class Simulator(World):
    """A world that is served at `url`; start and stop it, or use it as an async context manager."""

    def __init__(
        self,
        *,
        port: int = 0,
        prefix: str = "",
        documented_only: bool = False,
        shuffle: bool = True,
        seed: int | None = None,
    ) -> None:
        """Serve below `{prefix}/api`, and nothing but the documented interface if so asked."""
        super().__init__()
        self.record = Record()
        self._path = f"{prefix}/api/"
        self._documented_only = documented_only
        self._renderer = Renderer(
            self,
            documented_only=documented_only,
            shuffle=Random(seed) if shuffle else None,  # noqa: S311 - an order, not a secret
        )
        self._listener = Listener(self._answer, port=port)

    async def __aenter__(self) -> Self:
        """Start."""
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        await self.stop()

    async def start(self) -> None:
        """Listen; after a stop on the same port as before. Raises OSError when the port is in use."""
        self._listener.open()

    async def stop(self) -> None:
        """Drop all connections, refuse new ones and leave nothing running."""
        await self._listener.stop()

    @property
    def port(self) -> int:
        """The port it listens on, once started."""
        return self._listener.port

    @property
    def url(self) -> str:
        """The base address, which ends in `/api`."""
        return f"http://{HOST}:{self.port}{self._path.removesuffix('/')}"

    @property
    def requests(self) -> list[RecordedRequest]:
        """The last requests, oldest first."""
        return list(self.record.requests)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        email = self._authenticated(request)
        self.record.add(request, email)
        if not request.path.startswith(self._path):
            return web.Response(status=404)
        if email is None:
            return web.Response(
                status=401, headers={"WWW-Authenticate": 'Basic realm="api"'}
            )
        endpoint = self._endpoint(request)
        if endpoint is None:
            return web.Response(status=404)
        if request.method != "GET":
            return web.Response(status=405, headers={"Allow": "GET"})
        if request.headers.getall("accept", []) != ["application/json"]:
            return web.Response(status=400, text="accept: application/json is missing")
        if request.can_read_body:
            return web.Response(status=400, text="a body was sent")
        return web.Response(
            body=self._renderer.body(endpoint, email), content_type="application/json"
        )

    def _authenticated(self, request: web.BaseRequest) -> str | None:
        """Return the account whose exact header came, and came once."""
        values = request.headers.getall("Authorization", [])
        if len(values) != 1:
            return None
        for account in self.accounts.values():
            if values[0] == authorization(account.email, account.password):
                return account.email
        return None

    def _endpoint(self, request: web.BaseRequest) -> Endpoint | None:
        """Return what is asked for; no query parameters are documented, so none are served."""
        name = request.path.removeprefix(self._path)
        if request.query_string or name not in ENDPOINTS:
            return None
        if name == "positions" and self._documented_only:
            return None
        return cast(Endpoint, name)
