"""Troubles: the simulator's faults, and what fails before a server is reached."""

from dataclasses import dataclass

from tests.tools.simulator import FAULTS, Simulator
from tests.tools.simulator.render import Endpoint

# As long as a fault lasts that comes to an end by itself.
_LONG = 3600.0
_LARGE = {"huge-body", "huge-body-chunked", "gzip-bomb", "deflate-bomb"}
# One takes the list of trackers away as well, the other is in a field that positions lack.
_NOT_FOR_POSITIONS = {"restart", "invalid-utf8"}

NAME_NOT_FOUND = "name-not-found"


@dataclass(frozen=True)
class Trouble:
    """Something that goes wrong until it is ended."""

    name: str
    description: str
    tls: bool = False
    strikes_positions: bool = False
    """Whether it can strike the call for positions alone."""

    @property
    def is_large(self) -> bool:
        """Whether the answer would take up much memory."""
        return self.name in _LARGE

    def begin(
        self, simulator: Simulator, path: Endpoint | None = None, every: int = 1
    ) -> None:
        """Fail from the next call on: all calls, one endpoint, or every so many-th call."""
        if self.name != NAME_NOT_FOUND:
            simulator.fault(self.name, path=path, seconds=_LONG, every=every)


TROUBLES: dict[str, Trouble] = {
    NAME_NOT_FOUND: Trouble(NAME_NOT_FOUND, "the server's name no longer resolves"),
    **{
        name: Trouble(
            name,
            fault.description,
            tls=fault.certificate is not None,
            strikes_positions=fault.respond is not None
            and "positions" in fault.endpoints
            and name not in _NOT_FOR_POSITIONS,
        )
        for name, fault in FAULTS.items()
    },
}
