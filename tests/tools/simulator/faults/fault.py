"""What a fault is."""

from collections.abc import Callable
from dataclasses import dataclass
import json

from aiohttp import web

from tests.tools.simulator.render import Endpoint
from tests.tools.simulator.wire import JSON
from tests.tools.simulator.world import Json

type Item = dict[str, Json]


@dataclass(frozen=True, kw_only=True)
class FaultOptions:
    """How a fault strikes, as far as it has a choice.

    Attributes:
        retry_after: the value of the header Retry-After that a status comes with
        rate: bytes a second of a slow answer
        seconds: how long a server that restarts is away
        every: strikes each so many-th call, and lets the others be well
        late: seconds that a late answer takes
    """

    retry_after: str | None = None
    rate: float = 1.0
    seconds: float = 1.0
    every: int = 1
    late: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that would have been answered well, and what there is to answer it badly.

    Attributes:
        endpoint: what was asked for
        base: scheme, host, port and path of the service, without a slash at its end
        other_base: the same of the simulator's other origin
        items: the objects of the good answer
        restart: takes the server away for so many seconds
        options: how the fault is to strike
    """

    endpoint: Endpoint
    base: str
    other_base: str
    items: list[Item]
    restart: Callable[[float], None]
    options: FaultOptions

    @property
    def path(self) -> str:
        """Where that was asked for."""
        return "positions" if self.endpoint == "history" else self.endpoint

    @property
    def body(self) -> bytes:
        """The good answer."""
        return json.dumps(self.items).encode()


type Respond = Callable[[Call], web.StreamResponse]


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to fail, selectable by its name.

    Attributes:
        name: what it is selected by
        description: what happens, in one line
        respond: the answer in place of the good one
        endpoints: the calls it can strike
        times: how many calls it strikes unless told otherwise; None: all
        refuses: nothing listens while it is active
        certificate: the certificate shown while it is active; needs TLS
        redirects: `moved/` in front of an endpoint is served while it is active
    """

    name: str
    description: str
    respond: Respond | None = None
    endpoints: tuple[Endpoint, ...] = ("devices", "positions", "history")
    times: int | None = None
    refuses: bool = False
    certificate: str | None = None
    redirects: bool = False


def as_json(body: bytes | str) -> web.Response:
    """Return a 200 that claims to be JSON."""
    return web.Response(
        body=body.encode() if isinstance(body, str) else body,
        headers={"Content-Type": JSON},
    )
