"""The service in another process, as a run sees it."""

from dataclasses import dataclass
import json
import subprocess
import sys
from typing import Self


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a candidate finds its service, and the account there."""

    url: str
    """Of the documented service, ends in /api."""
    email: str
    password: str
    peer: str
    """Of the service of Home Assistant's own integration."""


class Service:
    """Starts the process, steers it, and ends it."""

    def __init__(self, trackers: int, *, everything: bool) -> None:
        """Serve so many trackers, which report places alone or everything."""
        command = ["-m", "tests.tools.benchmark.service", str(trackers)]
        command += ["everything"] if everything else []
        self._process = subprocess.Popen(  # noqa: S603
            [sys.executable, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        """Wait until it listens."""
        self.addresses = Addresses(**json.loads(self._read()))
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()

    def do(self, command: str, trackers: int = 0) -> int:
        """Change the fleet or ask for a number: without another it is that of requests since the last command."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{command} {trackers}\n")
        self._process.stdin.flush()
        return int(self._read())

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the service ended")
        return line
