"""Types that describe a fault of the simulator, its options, and a call that it affects."""

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
    """Options of a fault.

    Attributes:
        retry_after: value of the header Retry-After; None for the fault's own value
        rate: bytes per second of a slow answer
        seconds: how long a restarting server is unreachable
        every: the fault affects only each n-th call, where n is this number
        late: seconds from a request to its late answer
    """

    retry_after: str | None = None
    rate: float = 1.0
    seconds: float = 1.0
    every: int = 1
    late: float = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call, with everything that a fault needs to answer it.

    Attributes:
        endpoint: the requested endpoint
        base: scheme, host, port and path of the service, without a slash at the end
        other_base: the same parts of the address of the simulator's other origin
        items: the objects in the correct answer
        restart: function that makes the server unreachable for a number of seconds
        options: the options of the fault
    """

    endpoint: Endpoint
    base: str
    other_base: str
    items: list[Item]
    restart: Callable[[float], None]
    options: FaultOptions

    @property
    def path(self) -> str:
        """The path of the request, relative to `base`."""
        return "positions" if self.endpoint == "history" else self.endpoint

    @property
    def body(self) -> bytes:
        """The body of the correct answer."""
        return json.dumps(self.items).encode()


type Respond = Callable[[Call], web.StreamResponse]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that can be selected by its name.

    Attributes:
        name: the name by which it is selected
        description: one line about its effect
        respond: returns the answer that replaces the correct answer; None if it replaces no answer
        endpoints: the kinds of calls that it can affect
        times: default number of calls that it affects; None for all
        refuses: whether the server refuses connections
        certificate: name of the certificate that the server shows; needs TLS
        redirects: whether the server also answers below `moved/`, to which the fault redirects
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
    """Return a response with status 200 that claims to be JSON."""
    return web.Response(
        body=body.encode() if isinstance(body, str) else body,
        headers={"Content-Type": JSON},
    )
