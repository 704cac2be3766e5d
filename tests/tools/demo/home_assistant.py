"""Start, stop and kill Home Assistant in its own process."""

import asyncio
from asyncio.subprocess import PIPE, STDOUT, Process
import contextlib
from itertools import pairwise
import os
from pathlib import Path
from random import sample
import re
import signal
import socket
import sys
from typing import Self

from aiohttp import ClientSession, ClientTimeout

from .client import HomeAssistantClient
from .config_folder import lay_out

HOST = "127.0.0.1"
# A program that binds to port 0 gets no port of this range. So a free port of the range
# stays free until Home Assistant listens on it.
_PORTS = range(20_000, 30_000)
_RESTART = 100
"""Home Assistant exits with this code if it must be started again."""
_SECONDS_TO_START = 90
_SECONDS_TO_STOP = 60
_ENTRY = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.MULTILINE)
_COMPLAINT = re.compile(r"\S+ \S+ (WARNING|ERROR|CRITICAL) ")
# Matches warnings that are no complaints: Home Assistant logs them about slow work, and
# about each custom integration.
_NOTE = re.compile(
    r"WARNING \([^)]*\) \[homeassistant\..*?(has not been tested by Home Assistant"
    r"|\b(took|is taking (over|longer than)) \d+(\.\d+)? seconds)",
    re.DOTALL,
)


class ProcessEndedError(Exception):
    """The process ended before Home Assistant had started completely."""


def is_free(port: int) -> bool:
    """Return whether a port of this machine is free."""
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((HOST, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return a random free port of `_PORTS`."""
    return next(port for port in sample(_PORTS, 100) if is_free(port))


def complaints(log: str, *names: str) -> list[str]:
    """Return a log's warnings and errors that contain one of these names, except those that match `_NOTE`."""
    starts = [entry.start() for entry in _ENTRY.finditer(log)]
    entries = [log[start:end] for start, end in pairwise([*starts, len(log)])]
    return [
        entry
        for entry in entries
        if _COMPLAINT.match(entry)
        and any(name in entry for name in names)
        and not _NOTE.search(entry)
    ]


class HomeAssistantProcess:
    """A Home Assistant in its own folder. It can be stopped, killed and started again.

    `async with` starts Home Assistant, and ends its process in any case.
    """

    program = Path(__file__).with_name("lean_home_assistant.py")
    """The program that the new Python process runs."""
    client: HomeAssistantClient
    """The client of the only user. After each start it is a new client."""

    def __init__(
        self, folder: Path, *, port: int | None = None, with_integration: bool = True
    ) -> None:
        """Use this folder, and fill it if it is empty. A folder of an earlier run needs the same port."""
        self.folder = folder
        self.port = port or free_port()
        self.url = f"http://{HOST}:{self.port}"
        self._log_path = folder / "console.log"
        self._guard: asyncio.Task[int] | None = None
        if not any(folder.iterdir()):
            lay_out(folder, self.port, with_integration=with_integration)

    async def __aenter__(self) -> Self:
        """Start Home Assistant, and sign in."""
        try:
            await self.start()
        except BaseException:
            await self.kill()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop Home Assistant, if it runs."""
        await self.stop()

    async def start(self) -> None:
        """Start Home Assistant, sign in, and wait until it has started completely.

        Raise ProcessEndedError if the process ends, and TimeoutError if the start lasts
        longer than 90 seconds.
        """
        await self.spawn()
        assert self._guard is not None
        running = asyncio.create_task(self.client.wait_until_running())
        try:
            async with asyncio.timeout(_SECONDS_TO_START):
                await asyncio.wait(
                    (running, self._guard), return_when=asyncio.FIRST_COMPLETED
                )
            if not running.done():
                last = "\n".join(self.log.splitlines()[-20:])
                raise ProcessEndedError(f"Home Assistant ended:\n{last}")
            await running
        finally:
            running.cancel()

    async def spawn(self) -> None:
        """Start the process, but do not wait until Home Assistant has started."""
        assert self._guard is None, "it runs already"
        # The session has no timeout, because the callers limit the time of requests.
        self._session = ClientSession(timeout=ClientTimeout(total=None))
        self.client = HomeAssistantClient(self._session, self.url)
        self._process = await self.run_program()
        self._guard = asyncio.create_task(self._restart_if_asked())

    async def stop(self) -> None:
        """Stop Home Assistant. If it does not stop within a minute, kill it."""
        if self._guard is not None:
            self._guard.cancel()
            # Close all connections first, because Home Assistant waits for them.
            await self._session.close()
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SECONDS_TO_STOP):
                    await self._process.wait()
            await self.kill()

    async def kill(self) -> None:
        """Kill Home Assistant and all its child processes, as a power cut would."""
        if self._guard is not None:
            self._guard.cancel()
            self._guard = None
            await self._session.close()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._process.wait()

    async def wait(self) -> int:
        """Wait until Home Assistant ends by itself. Return the exit code."""
        assert self._guard is not None
        return await asyncio.shield(self._guard)

    @property
    def log(self) -> str:
        """The log of all starts in this folder."""
        path = self._log_path
        return path.read_text(errors="replace") if path.exists() else ""

    def complaints(self) -> list[str]:
        """Return the log's warnings and errors that contain `bike_tracker`, except those that match `_NOTE`."""
        return complaints(self.log, "bike_tracker")

    async def run_program(self) -> Process:
        """Start the program in its own session, so that Ctrl-C only reaches the parent.

        The program ends when its standard input is closed, or when the parent ends.
        """
        env = {key: it for key, it in os.environ.items() if key != "PYTHONPATH"}
        with self._log_path.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                sys.executable,
                # Keep the program's folder off the import path of Home Assistant.
                "-P",
                self.program,
                *("--config", self.folder, "--skip-pip", "--log-no-color"),
                cwd=self.folder,
                env=env,
                stdin=PIPE,
                stdout=log,
                stderr=STDOUT,
                start_new_session=True,
            )

    async def _restart_if_asked(self) -> int:
        while (code := await self._process.wait()) == _RESTART:
            self._process = await self.run_program()
        return code
