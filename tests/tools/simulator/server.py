"""The documented service over HTTP. It rejects every request that the interface does not document.

The interface does not define how to reject such a request. The simulator answers with 404
to unknown paths and query parameters, with 405 to other methods, and with 400 to a body or a
missing `accept: application/json`. If the simulated kind of server has positions, clients can
request all positions, the position of a tracker (`?deviceId=1`; for an unknown tracker, the
answer is 400), or a tracker's positions in a time range (`?deviceId=1&from=…&to=…`).
"""

import asyncio
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Collection, Mapping
import contextlib
from datetime import datetime
from typing import Any, Self, override

from aiohttp import web
import orjson

from .faults import Call, FaultOptions, Switchboard
from .kinds import KINDS, SERVICE, Kind
from .listener import HOST, Listener
from .live import LiveServer
from .record import KEPT, Record, RecordedRequest
from .render import Endpoint, Renderer, device_json, position_json
from .tls import Certificates
from .wire import JSON, Raw, pause
from .world import Json, SimDevice, SimPosition, World

ENDPOINTS: tuple[Endpoint, ...] = ("devices", "positions")
"""The endpoints that return lists."""
_IN_TIME = ["deviceId", "from", "to"]
MOVED = "moved/"


def authorization(email: str, password: str) -> str:
    """Return the Authorization header that this account must send (section 5 of the service's interface)."""
    return f"Basic {b64encode(f'{email}:{password}'.encode()).decode()}"


class Simulator(World):
    """A world that is served at `url`. Start and stop it, or use it as an async context manager."""

    def __init__(
        self,
        *,
        port: int = 0,
        prefix: str = "",
        kind: str = SERVICE.name,
        tls: bool = False,
    ) -> None:
        """Prepare to serve at `{prefix}/api`, as this kind of server does. Raise ValueError if the kind is unknown."""
        super().__init__()
        self.record = Record()
        self.other_record = Record()
        self.slow_answers: deque[float] = deque(maxlen=KEPT)
        """The minimum duration in seconds of each slow answer, in the order of the requests."""
        self.certificates = Certificates() if tls else None
        self._path = f"{prefix}/api/"
        self._kind = _kind(kind)
        self._renderer = Renderer(self, self._kind)
        self._listener = Listener(
            self._answer,
            port=port,
            tls=self.certificates.context if self.certificates else None,
        )
        self._other_listener = Listener(self._answer_elsewhere)
        self._switchboard = Switchboard()
        self.live = LiveServer()
        self._started = False
        self._restarting: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Start to serve."""
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop serving, and end all faults."""
        await self.stop()

    async def start(self) -> None:
        """Start to serve. After a stop, use the same port again. Raise OSError if the port is in use."""
        self._started = True
        self._apply_faults()
        self._other_listener.open()

    async def stop(self) -> None:
        """Close all connections, refuse new connections, and end all faults."""
        self._started = False
        self._switchboard.clear()
        self.live.strike(None)
        self._apply_faults()
        if self._restarting is not None:
            self._restarting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._restarting
        await self._listener.stop()
        await self._other_listener.stop()

    @property
    def port(self) -> int:
        """The port of the service. Without a chosen port, it is 0 before the first start."""
        return self._listener.port

    @property
    def url(self) -> str:
        """The base URL of the service. It ends in `/api`."""
        scheme = "http" if self.certificates is None else "https"
        return f"{scheme}://{HOST}:{self.port}{self._path.removesuffix('/')}"

    @property
    def other_url(self) -> str:
        """The base URL at another origin, to which some redirects lead. Requests need no credentials there."""
        return (
            f"http://{HOST}:{self._other_listener.port}{self._path.removesuffix('/')}"
        )

    @property
    def requests(self) -> list[RecordedRequest]:
        """The last 10,000 requests, the oldest first."""
        return list(self.record.requests)

    @property
    def other_requests(self) -> list[RecordedRequest]:
        """The last 10,000 requests to `other_url`, the oldest first."""
        return list(self.other_record.requests)

    def listed(self, endpoint: Endpoint, email: str) -> list[dict[str, Json]]:
        """Return the objects in the correct answer to an account, in the same order at each call."""
        return self._renderer.items(endpoint, email)

    @property
    def faults(self) -> dict[Endpoint, str]:
        """The name of the active fault of each endpoint that has one."""
        return self._switchboard.names

    def fault(
        self,
        name: str | None,
        *,
        path: Endpoint | None = None,
        times: int | None = None,
        **options: Any,
    ) -> None:
        """Begin a fault with the next request. None ends the fault of `path`, or all faults.

        Without `path`, the fault affects all endpoints that it can affect. Without
        `times`, it lasts until another fault, None or `stop`. With `every=2`, it
        affects every second request. FaultOptions describes the options. Raise
        ValueError if the fault is unknown, or if it cannot affect this endpoint.
        """
        has_tls = self.certificates is not None
        self._switchboard.set(name, path, times, FaultOptions(**options), tls=has_tls)
        self._apply_faults()

    def live_fault(self, name: str | None) -> None:
        """Begin a fault of the live connection only, or with None, end it. Raise ValueError if the fault is unknown."""
        self.live.strike(name)

    def _apply_faults(self) -> None:
        if not self._started or self._switchboard.refuses:
            self._listener.close()
        else:
            self._listener.open()
        certificate = self._switchboard.certificate
        if self.certificates and certificate != self.certificates.selected:
            self.certificates.selected = certificate
            self._listener.drop_connections()

    def _restart(self, seconds: float) -> None:
        self._listener.close()
        if self._restarting is not None:
            self._restarting.cancel()
        self._restarting = asyncio.create_task(self._come_back(seconds))

    async def _come_back(self, seconds: float) -> None:
        await pause(seconds)
        self._apply_faults()

    @override
    def tell(self, device: SimDevice, position: SimPosition | None = None) -> None:
        """Send a device, or only its position, to all connected accounts that have the device."""
        emails = [
            account.email
            for account in self.accounts.values()
            if device.unique_id in account.assigned
        ]
        if not self.live.sockets or not emails:
            return
        if position is None:
            self.live.tell(emails, {"devices": [device_json(device, self._kind)]})
            return
        row = position_json(
            position, device.id, self._kind, overrides=device.position_overrides
        )
        # Without a delay, send the message at once: after `call_later`, a message from a
        # later call of `tell` could arrive earlier.
        if delay := self._kind.position_delay:
            loop = asyncio.get_running_loop()
            loop.call_later(delay, self.live.tell, emails, {"positions": [row]})
        else:
            self.live.tell(emails, {"positions": [row]})

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        if self._kind.live and request.path == f"{self._path}session":
            return await self._session(request)
        if self._kind.live and request.path == f"{self._path}socket":
            return await self._socket(request)
        email = self._authenticated(request)
        self.record.add(request, email)
        if not request.path.startswith(self._path):
            return web.Response(status=404)
        if email is None:
            challenge = {"WWW-Authenticate": 'Basic realm="api"'}
            return web.Response(status=401, headers=challenge)
        return self._called(request, email)

    def _called(self, request: web.BaseRequest, email: str) -> web.StreamResponse:
        """Answer a request that an account has sent with its correct credentials."""
        name = request.path.removeprefix(self._path)
        moved = name.startswith(MOVED) and self._switchboard.redirects
        endpoint = self._endpoint(
            name.removeprefix(MOVED) if moved else name, request.query
        )
        if endpoint is None:
            return web.Response(status=404)
        if request.method != "GET":
            return web.Response(status=405, headers={"Allow": "GET"})
        if request.headers.getall("accept", []) != [JSON]:
            return web.Response(status=400, text=f"accept: {JSON} is missing")
        if request.can_read_body:
            return web.Response(status=400, text="a body was sent")
        if endpoint == "history":
            return self._history(email, request.query)
        if not moved:
            failure = self._failure(endpoint, lambda: self.listed(endpoint, email))
            if failure is not None:
                return failure
        if device_id := request.query.get("deviceId"):
            return self._position_of(email, device_id)
        return self.answer(endpoint, email)

    async def _session(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer a sign-in. It must be a form, and must have neither credentials nor a cookie in its headers."""
        form = await request.post() if request.method == "POST" else {}
        email = self._signs_in(form)
        self.record.add(request, email)
        if request.method != "POST":
            return web.Response(status=405, headers={"Allow": "POST"})
        if {"Authorization", "Cookie"} & request.headers.keys():
            return web.Response(status=400, text="another sign-in was sent")
        if (respond := self.live.fault.session) is not None:
            return respond(self.url, self.other_url)
        if email is None:
            return web.Response(status=401)
        return self.live.session(email)

    def _signs_in(self, form: Mapping[str, object]) -> str | None:
        if form.keys() != {"email", "password"}:
            return None
        account = self.accounts.get(str(form["email"]))
        if account is None or account.password != form["password"]:
            return None
        return account.email

    async def _socket(self, request: web.BaseRequest) -> web.StreamResponse:
        """Open a websocket. The request must have a session's cookie, and neither credentials nor a query."""
        email = self.live.account(request)
        self.record.add(request, email)
        if (respond := self.live.fault.socket) is not None:
            return respond(self.url, self.other_url)
        if email is None or "Authorization" in request.headers or request.query:
            return web.Response(status=self._kind.socket_refusal)
        return await self.live.serve(request, email, self.listed("positions", email))

    def _history(self, email: str, query: Mapping[str, str]) -> web.StreamResponse:
        """Answer with the reports of a tracker between two times."""
        if self._kind.reports_refusal and self.accounts[email].disable_reports:
            return web.Response(status=400, text=self._kind.reports_refusal)
        try:
            start, end = (datetime.fromisoformat(query[key]) for key in ("from", "to"))
            items = self._renderer.history(email, query["deviceId"], start, end)
        except (ValueError, TypeError) as err:
            return web.Response(status=400, text=f"{err} - IllegalArgumentException")
        if items is None:
            text = "Device access denied - SecurityException (PermissionsService:230)"
            return web.Response(status=400, text=text)
        failure = self._failure("history", lambda: items)
        return _json(orjson.dumps(items)) if failure is None else failure

    def answer(self, endpoint: Endpoint, email: str) -> web.StreamResponse:
        """Answer with all devices or positions that the account may see, or with the raw answer that a test has set."""
        return _json(self._renderer.body(endpoint, email))

    def _position_of(self, email: str, device_id: str) -> web.StreamResponse:
        if "positions" in self.raw_answers:
            return self.answer("positions", email)
        body = self._renderer.position_of(email, device_id)
        if body is None:
            return web.Response(status=400, text="no such device")
        return _json(body)

    def _failure(
        self, endpoint: Endpoint, items: Callable[[], list[dict[str, Json]]]
    ) -> web.StreamResponse | None:
        """Return the wrong answer to this request, or None if no fault affects the request."""
        struck = self._switchboard.strike(endpoint)
        if struck is None:
            return None
        respond, options = struck
        answer = respond(
            Call(
                endpoint=endpoint,
                base=self.url,
                other_base=self.other_url,
                items=items(),
                restart=self._restart,
                options=options,
            )
        )
        if isinstance(answer, Raw) and answer.takes:
            self.slow_answers.append(answer.takes)
        return answer

    async def _answer_elsewhere(self, request: web.BaseRequest) -> web.StreamResponse:
        self.other_record.add(request, self._authenticated(request))
        return _json(self._renderer.every_device())

    def _authenticated(self, request: web.BaseRequest) -> str | None:
        """Return the email of the account whose correct Authorization header was sent, exactly once. Otherwise None."""
        values = request.headers.getall("Authorization", [])
        if len(values) != 1:
            return None
        for account in self.accounts.values():
            if values[0] == authorization(account.email, account.password):
                return account.email
        return None

    def _endpoint(self, name: str, query: Collection[str]) -> Endpoint | None:
        """Return the endpoint for a path and the names of the query parameters, or None if no endpoint fits."""
        is_positions = name == "positions"
        if is_positions and not self._kind.positions:
            return None
        if is_positions and sorted(query) == _IN_TIME:
            return "history"
        if set(query) - ({"deviceId"} if is_positions else set()):
            return None
        return name if name in ENDPOINTS else None


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise ValueError(f"no kind {name}")
    return KINDS[name]


def _json(body: bytes) -> web.Response:
    return web.Response(body=body, content_type=JSON)
