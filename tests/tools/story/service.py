"""A service that records which reports have reached Home Assistant."""

from typing import override

from aiohttp import web

from tests.tools.simulator.live import WELL
from tests.tools.simulator.render import Endpoint
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import SimDevice, SimPosition


class Service(Simulator):
    """A simulator that records which reports its messages and answers contain. All accounts have all trackers."""

    def __init__(self) -> None:
        """Begin without reports."""
        super().__init__()
        self.reached: list[tuple[str, str, int]] = []
        """The account, the tracker and the number of each report that has reached an account."""
        self._announced: dict[tuple[str, str], int] = {}

    @override
    def tell(self, device: SimDevice, position: SimPosition | None = None) -> None:
        """Send a change, and record its report for each account to which it is sent."""
        super().tell(device, position)
        if position is not None and self.live.fault is WELL:
            sockets = self.live.sockets
            emails = {it.email for it in sockets if not it.transport.is_closing()}
            self.reached += [(it, device.unique_id, position.id) for it in emails]

    @override
    def answer(self, endpoint: Endpoint, email: str) -> web.StreamResponse:
        """Answer a request. Note its positions, if the account's last device list announced them."""
        for device in self.devices_of(email):
            tracker, report = device.unique_id, device.position_id
            if endpoint == "devices":
                self._announced[email, tracker] = report
            elif self._announced.get((email, tracker)) == report:
                self.reached.append((email, tracker, report))
        return super().answer(endpoint, email)
