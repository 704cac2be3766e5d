"""The simulator as a process of its own."""

import json
import subprocess
from typing import Self

from aiohttp import ClientSession

from .config_folder import ROOT
from .process import CHILD, Child, ProcessEndedError
from .service import EMAIL, PASSWORD
from .service.control import SimulatorControl

__all__ = ["EMAIL", "PASSWORD", "SimulatorProcess"]


class SimulatorProcess:
    """A simulated service with a fleet, for the length of an `async with`."""

    url: str
    """The address of the service."""
    control_url: str
    control: SimulatorControl

    def __init__(
        self,
        *,
        trackers: int = 3,
        documented_only: bool = False,
        still: bool = True,
        port: int = 0,
    ) -> None:
        """Have a fleet of so many trackers, which rest unless asked."""
        self.documented_only = documented_only
        self._arguments = ["--port", str(port), "--trackers", str(trackers)]
        self._arguments += ["--kind", "documented"] if documented_only else []
        self._arguments += ["--still"] if still else []

    async def __aenter__(self) -> Self:
        """Start; raises ProcessEndedError when that fails."""
        self._session = ClientSession()
        self._child = await Child.start(
            ["-P", CHILD, "tests.tools.demo.service", *self._arguments],
            folder=ROOT,
            import_from=ROOT,
            output=subprocess.PIPE,
        )
        try:
            addresses = await self._addresses()
        except BaseException:
            await self.__aexit__()
            raise
        self.url, self.control_url = addresses["url"], addresses["control"]
        self.control = SimulatorControl(self._session, self.control_url)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop."""
        await self._session.close()
        await self._child.stop()

    async def _addresses(self) -> dict[str, str]:
        line = await self._child.read_line()
        if not line:
            raise ProcessEndedError("The simulator did not start")
        addresses: dict[str, str] = json.loads(line)
        return addresses

    async def polls(self) -> int:
        """Return how often the list of trackers was asked for."""
        requests = (await self.control.state())["requests"]
        return int(requests.get("/api/devices", 0))

    async def wait(self) -> int:
        """Wait until the process ends by itself; return its exit code."""
        return await self._child.wait()
