"""Steering the simulator from another process: JSON over HTTP on a port of its own."""

from collections.abc import Awaitable, Callable
from datetime import datetime
import inspect
from typing import Any, Self

from aiohttp import ClientSession, web
import orjson

from tests.tools.simulator.listener import HOST, Listener
from tests.tools.simulator.server import ENDPOINTS, Simulator
from tests.tools.simulator.wire import JSON
from tests.tools.simulator.world import World

from .tricks import Tricks

ACTIONS: dict[str, Callable[..., object]] = {
    name: method
    for name, method in inspect.getmembers(World, inspect.isfunction)
    if not name.startswith("_") and name != "devices_of"
}
"""What `POST /do` can do: each way to change a world, under its own name."""
TRY = "/try/"
PARK = "/park/"


class ControlServer:
    """Serves `GET /state`, `POST /do` and `POST /fault`.

    With something to try also `GET /try`, and `POST /try/NAME`, which answers people.
    """

    def __init__(
        self, simulator: Simulator, *, port: int = 0, tricks: Tricks | None = None
    ) -> None:
        """Steer this simulator."""
        self._simulator = simulator
        self._tricks = tricks
        self._listener = Listener(self._answer, port=port)
        self._routes: dict[
            tuple[str, str], Callable[[web.BaseRequest], Awaitable[object]]
        ] = {
            ("GET", "/state"): self._state,
            ("POST", "/do"): self._do,
            ("POST", "/fault"): self._fault,
            ("GET", "/try"): self._to_try,
        }

    async def __aenter__(self) -> Self:
        """Listen; raises OSError when the port is in use."""
        self._listener.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        await self._listener.stop()

    @property
    def url(self) -> str:
        """The address, once started."""
        return f"http://{HOST}:{self._listener.port}"

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            if request.method == "POST" and request.path.startswith(TRY):
                return self._try(request.path.removeprefix(TRY))
            if request.method == "POST" and request.path.startswith(PARK):
                return self._park(request.path.removeprefix(PARK))
            route = self._routes.get((request.method, request.path))
            if route is None:
                return _json(
                    {"error": f"no {request.method} {request.path}"}, status=404
                )
            answer = await route(request)
        except (ValueError, TypeError, LookupError) as err:
            return _json({"error": str(err)}, status=400)
        return _json({"done": True} if answer is None else answer)

    async def _to_try(self, _: web.BaseRequest) -> object:
        return [] if self._tricks is None else self._tricks.list()

    def _try(self, name: str) -> web.Response:
        if self._tricks is None:
            raise LookupError("there is nothing to try")
        return web.Response(text=f"{self._tricks.do(name)}\n")

    def _park(self, unique_id: str) -> web.Response:
        if self._tricks is None:
            raise LookupError("there is no fleet")
        self._tricks.park(unique_id)
        return _json({"done": True})

    async def _state(self, _: web.BaseRequest) -> object:
        return {
            "url": self._simulator.url,
            "accounts": {
                email: {
                    endpoint: self._simulator.listed(endpoint, email)
                    for endpoint in ENDPOINTS
                }
                for email in self._simulator.accounts
            },
            "requests": self._simulator.record.counts,
            "faults": self._simulator.faults,
            "live": [socket.email for socket in self._simulator.live.sockets],
        }

    async def _do(self, request: web.BaseRequest) -> object:
        wanted = orjson.loads(await request.read())
        action = ACTIONS.get(wanted["action"])
        if action is None:
            raise ValueError(f"no action {wanted['action']}")
        return action(self._simulator, **_with_times(wanted.get("args", {})))

    async def _fault(self, request: web.BaseRequest) -> object:
        self._simulator.fault(**orjson.loads(await request.read()))
        return self._simulator.faults


class ControlError(Exception):
    """The simulator would not do what it was asked."""


class SimulatorControl:
    """Steers a simulator in another process."""

    def __init__(self, session: ClientSession, url: str) -> None:
        """Talk to the control address that the simulator printed."""
        self._session = session
        self._url = url

    async def state(self) -> dict[str, Any]:
        """Return its address, what each account lists, the number of requests by path, and active faults."""
        state: dict[str, Any] = await self._ask("GET", "/state")
        return state

    async def do(self, action: str, **args: object) -> Any:
        """Call the method of World with this name."""
        return await self._ask("POST", "/do", {"action": action, "args": args})

    async def to_try(self) -> list[dict[str, Any]]:
        """Return what there is to try: each with its name, title, icon, what to watch and whether it needs positions."""
        tricks: list[dict[str, Any]] = await self._ask("GET", "/try")
        return tricks

    async def try_(self, name: str) -> str:
        """Try it; return what happened and what to watch."""
        async with self._session.post(f"{self._url}{TRY}{name}") as response:
            text = await response.text()
        if response.status != 200:
            raise ControlError(orjson.loads(text)["error"])
        return text.strip()

    async def park(self, unique_id: str) -> None:
        """Have a bike of the fleet stay where it is until it is told to ride."""
        await self._ask("POST", f"{PARK}{unique_id}", {})

    async def fault(self, name: str | None, **options: object) -> None:
        """Fail in this way, or with None be well again; the options are those of Simulator.fault."""
        await self._ask("POST", "/fault", {"name": name, **options})

    async def _ask(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else orjson.dumps(body)
        async with self._session.request(
            method, self._url + path, data=data
        ) as response:
            answer = orjson.loads(await response.read())
        if response.status != 200:
            raise ControlError(answer["error"])
        return answer


def _json(value: object, *, status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(value), status=status, content_type=JSON)


def _with_times(args: dict[str, Any]) -> dict[str, Any]:
    return {
        name: datetime.fromisoformat(value)
        if name in {"last_update", "fix_time"} and value is not None
        else value
        for name, value in args.items()
    }
