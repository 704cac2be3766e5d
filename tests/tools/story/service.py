"""A service that records which reports have reached Home Assistant."""

from typing import NamedTuple, override

from aiohttp import web

from tests.tools.simulator.live import WELL
from tests.tools.simulator.render import Endpoint
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import SimDevice, SimPosition


class Reached(NamedTuple):
    """A report that has reached an account."""

    email: str
    tracker: str
    report: int


class Service(Simulator):
    """A simulator that records which reports its messages and answers contain."""

    def __init__(self) -> None:
        """Begin without reports."""
        super().__init__()
        self.reached: list[Reached] = []
        self.polled: set[int] = set()
        self._announced: dict[str, dict[str, int]] = {}

    @override
    def tell(self, device: SimDevice, position: SimPosition | None = None) -> None:
        """Send a change, and record its report for each account to which it is sent."""
        super().tell(device, position)
        if position is None or self.live.fault is not WELL:
            return
        listening = {
            socket.email
            for socket in self.live.sockets
            if not socket.transport.is_closing()
        }
        for email in listening:
            if device.unique_id in self.accounts[email].assigned:
                self.reached.append(Reached(email, device.unique_id, position.id))

    @override
    def answer(self, endpoint: Endpoint, email: str) -> web.StreamResponse:
        """Answer a request. Note its positions, if the account's last device list announced them."""
        # An answer of raw text contains no positions.
        devices = [] if endpoint in self.raw_answers else self.devices_of(email)
        for device in devices:
            known = self._announced.setdefault(email, {})
            if endpoint == "devices":
                known[device.unique_id] = device.position_id
            elif known.get(device.unique_id) == device.position_id:
                self.polled.add(device.position_id)
                self.reached.append(
                    Reached(email, device.unique_id, device.position_id)
                )
        return super().answer(endpoint, email)
