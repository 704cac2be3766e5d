"""A service that knows which reports Home Assistant got to see."""

from typing import NamedTuple, override

from aiohttp import web

from tests.tools.simulator.live import WELL
from tests.tools.simulator.render import Endpoint
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import SimDevice, SimPosition


class Reached(NamedTuple):
    """A report that an account was told of."""

    email: str
    tracker: str
    report: int


class Service(Simulator):
    """Notes what it told whom, live and in answers."""

    def __init__(self, *, tls: bool = False) -> None:
        """Begin with nothing told."""
        super().__init__(tls=tls)
        self.reached: list[Reached] = []
        self.polled: set[int] = set()
        self._announced: dict[str, dict[str, int]] = {}

    @override
    def tell(self, device: SimDevice, position: SimPosition | None = None) -> None:
        """Note who is connected as well."""
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
        """Note what the answer tells as well."""
        # What is answered instead of positions is none of them.
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
