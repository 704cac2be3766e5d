"""Processes that never outlive the one that started them."""

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
import contextlib
import os
from pathlib import Path
import signal
import sys
from typing import IO, Self

SECONDS_TO_STOP = 60
CHILD = str(Path(__file__).with_name("child.py"))


class ProcessEndedError(Exception):
    """The process ended before it did what was asked of it."""


class Child:
    """A Python program that was started here.

    It has a session of its own, so that Ctrl-C reaches only the parent, which ends its children in order. Standard input
    is what ties it to the parent: see child.py.
    """

    def __init__(self, process: Process) -> None:
        """Take over a process."""
        self._process = process

    @classmethod
    async def start(
        cls,
        arguments: Sequence[str],
        *,
        folder: Path,
        import_from: Path | None = None,
        output: int | IO[bytes],
        errors: int | IO[bytes] | None = None,
    ) -> Self:
        """Start Python with these arguments in a folder."""
        environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONPATH"
        }
        if import_from is not None:
            environment["PYTHONPATH"] = str(import_from)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            cwd=folder,
            env=environment,
            stdin=PIPE,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """The process ID."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it did not end yet."""
        return self._process.returncode is None

    async def wait(self) -> int:
        """Wait until it ends; return its exit code, or minus the signal that killed it."""
        return await self._process.wait()

    async def read_line(self) -> bytes:
        """Return the next line of its output, if that was started as a pipe."""
        assert self._process.stdout is not None
        return await self._process.stdout.readline()

    async def stop(self) -> int:
        """Ask it to end and wait for that, but not for ever."""
        self._signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(SECONDS_TO_STOP):
                return await self.wait()
        except TimeoutError:
            return await self.kill()

    async def kill(self) -> int:
        """End it at once, and whatever it started."""
        self._signal(signal.SIGKILL)
        return await self.wait()

    def _signal(self, number: signal.Signals) -> None:
        if not self.running:
            return
        with contextlib.suppress(ProcessLookupError):
            if number is signal.SIGKILL:
                os.killpg(self.pid, number)
            else:
                self._process.send_signal(number)
