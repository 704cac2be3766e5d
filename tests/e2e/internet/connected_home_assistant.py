"""Run Home Assistant so that each host name leads to the simulated internet.

The port of the simulated internet is in an environment variable. This file imports
nothing from the project, because the project's folder is not on the import path. It
runs lean_home_assistant.py, in which `Resolver` replaces Home Assistant's resolver.
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
    """Resolves every host, with any port, to one port of this machine."""

    def __init__(self, port: int) -> None:
        """Resolve every host to this port of 127.0.0.1."""
        self._port = port

    @override
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the address of the simulated internet, whatever the host and port."""
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
        """Do nothing: this resolver keeps nothing open."""

    async def real_close(self) -> None:
        """Do nothing. Home Assistant calls this method when it closes, because its own resolver has it."""


def main() -> None:
    """Let Home Assistant use `Resolver`, and run lean_home_assistant.py with the arguments of this program."""
    resolver = Resolver(int(os.environ[PORT_VARIABLE]))
    sys.argv[0] = str(LEAN)
    with patch(
        "homeassistant.helpers.aiohttp_client._async_make_resolver",
        return_value=resolver,
    ):
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
