"""Run Home Assistant with the simulated internet. The port is in an environment variable.

This file imports nothing from the project. It ends by running lean_home_assistant.py.
"""

import os
from pathlib import Path
import runpy
import socket
import sys
from typing import override
from unittest.mock import patch

from aiohttp.abc import AbstractResolver, ResolveResult

PORT_VARIABLE = "BIKE_TRACKER_INTERNET_PORT"
LEAN = Path(__file__).parents[2] / "tools" / "demo" / "lean_home_assistant.py"


class Resolver(AbstractResolver):
    """Resolves every host to one port of this machine."""

    def __init__(self, port: int) -> None:
        """Resolve hosts to this port."""
        self._port = port

    @override
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the same address for every host."""
        return [
            ResolveResult(
                hostname=host,
                host="127.0.0.1",
                port=self._port,
                family=socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
        ]

    @override
    async def close(self) -> None:
        """Do nothing."""

    async def real_close(self) -> None:
        """Do nothing. Home Assistant also calls this method when it closes its own resolver."""


def main() -> None:
    """Set up the resolver, then run lean_home_assistant.py with the same arguments."""
    resolver = Resolver(int(os.environ[PORT_VARIABLE]))
    sys.argv[0] = str(LEAN)
    with patch(
        "homeassistant.helpers.aiohttp_client._async_make_resolver",
        return_value=resolver,
    ):
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
