"""A Home Assistant that is connected to the simulated internet."""

from asyncio.subprocess import Process
import os
from pathlib import Path
from typing import override

from tests.tools.demo import HomeAssistantProcess

from .connected_home_assistant import PORT_VARIABLE
from .server import Internet


class ConnectedHomeAssistant(HomeAssistantProcess):
    """A Home Assistant for which every host is part of the simulated internet.

    Home Assistant trusts the certificates of the simulated internet.
    """

    program = Path(__file__).with_name("connected_home_assistant.py")

    def __init__(
        self, folder: Path, internet: Internet, *, with_integration: bool = True
    ) -> None:
        """Fill an empty folder with a configuration."""
        super().__init__(folder, with_integration=with_integration)
        self._internet = internet

    @override
    async def run_program(self) -> Process:
        """Start the process, for which each host name leads to the simulated internet."""
        # The new process inherits these variables.
        os.environ[PORT_VARIABLE] = str(self._internet.port)
        os.environ["REQUESTS_CA_BUNDLE"] = str(self._internet.authority)
        return await super().run_program()
