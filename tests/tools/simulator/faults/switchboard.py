"""All faults by name, and a switchboard that begins, counts and ends faults."""

from dataclasses import dataclass

from tests.tools.simulator.render import Endpoint
from tests.tools.simulator.tls import GOOD

from .answer import BODY_FAULTS, CONNECTION_FAULTS
from .fault import Fault, FaultOptions, Respond
from .status import STATUS_FAULTS
from .value import VALUE_FAULTS

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (*CONNECTION_FAULTS, *BODY_FAULTS, *STATUS_FAULTS, *VALUE_FAULTS)
}


@dataclass(slots=True)
class _Active:
    """An active fault, how many requests it still affects (None for no limit), and the number of requests so far."""

    fault: Fault
    options: FaultOptions
    times: int | None
    calls: int = 0


class Switchboard:
    """The active faults: at most one for each kind of request."""

    def __init__(self) -> None:
        """Begin without active faults."""
        self._active: dict[Endpoint, _Active] = {}

    @property
    def names(self) -> dict[Endpoint, str]:
        """The names of the active faults, by the kind of request that they affect."""
        return {
            endpoint: active.fault.name for endpoint, active in self._active.items()
        }

    @property
    def refuses(self) -> bool:
        """Whether connections must be refused."""
        return any(active.fault.refuses for active in self._active.values())

    @property
    def redirects(self) -> bool:
        """Whether an active fault redirects, so that requests below `moved/` need an answer."""
        return any(active.fault.redirects for active in self._active.values())

    @property
    def certificate(self) -> str:
        """The name of the certificate that the server must show."""
        shown = (active.fault.certificate for active in self._active.values())
        return next((name for name in shown if name is not None), GOOD)

    def set(
        self,
        name: str | None,
        path: Endpoint | None,
        times: int | None,
        options: FaultOptions,
        *,
        tls: bool,
    ) -> None:
        """Replace the fault of one endpoint, or all faults, by this fault or none. Raise ValueError for an impossible fault."""
        if name is None:
            self.clear(path)
            return
        fault = FAULTS.get(name)
        if fault is None:
            raise ValueError(f"no fault {name}")
        if fault.certificate is not None and not tls:
            raise ValueError(f"{name} needs a simulator with TLS")
        if path is not None and (fault.respond is None or path not in fault.endpoints):
            raise ValueError(f"{name} cannot strike {path} alone")
        if path is None:
            self.clear()
        active = _Active(fault, options, times or fault.times)
        for endpoint in fault.endpoints if path is None else (path,):
            self._active[endpoint] = active

    def clear(self, path: Endpoint | None = None) -> None:
        """End the fault of one kind of request, or all faults."""
        if path is None:
            self._active.clear()
        else:
            self._active.pop(path, None)

    def strike(self, endpoint: Endpoint) -> tuple[Respond, FaultOptions] | None:
        """Count this request. If a fault affects it, return the function for the wrong answer, and the fault's options."""
        active = self._active.get(endpoint)
        if active is None or active.fault.respond is None:
            return None
        active.calls += 1
        if active.calls % active.options.every:
            return None
        if active.times is not None:
            active.times -= 1
            if active.times == 0:
                self._active = {
                    key: value
                    for key, value in self._active.items()
                    if value is not active
                }
        return active.fault.respond, active.options
