"""Faults: all faults of the simulator, and a server name that cannot be resolved."""

from dataclasses import dataclass

from tests.tools.simulator import FAULTS, Simulator
from tests.tools.simulator.render import Endpoint

# Seconds until a restarting server comes back by itself. Tests end the fault earlier.
_LONG = 3600.0
_LARGE = {"huge-body", "huge-body-chunked", "gzip-bomb", "deflate-bomb"}
# `restart` stops the whole server. `invalid-utf8` is in a name, which positions lack.
_NOT_FOR_POSITIONS = {"restart", "invalid-utf8"}

NAME_NOT_FOUND = "name-not-found"


@dataclass(frozen=True)
class Trouble:
    """A fault that lasts until a test ends it."""

    name: str
    description: str
    tls: bool = False
    is_large: bool = False
    """Whether the answer of the faulty server is so large that reading all of it would use much memory."""
    strikes_positions: bool = False
    """Whether the fault can affect the requests for positions alone."""

    def begin(
        self, simulator: Simulator, path: Endpoint | None = None, every: int = 1
    ) -> None:
        """Begin the fault with the next request: for all requests, one endpoint, or every n-th request."""
        # If the name is not found, no request reaches the simulator: see `Home.watch`.
        if self.name != NAME_NOT_FOUND:
            simulator.fault(self.name, path=path, seconds=_LONG, every=every)


TROUBLES = {
    NAME_NOT_FOUND: Trouble(NAME_NOT_FOUND, "the server's name no longer resolves")
}
TROUBLES |= {
    name: Trouble(
        name,
        fault.description,
        tls=fault.certificate is not None,
        is_large=name in _LARGE,
        strikes_positions=fault.respond is not None
        and "positions" in fault.endpoints
        and name not in _NOT_FOR_POSITIONS,
    )
    for name, fault in FAULTS.items()
}
