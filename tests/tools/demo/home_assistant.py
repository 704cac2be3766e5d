"""Home Assistant as a process of its own."""

import asyncio
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Coroutine, Iterator
import contextlib
import os
from pathlib import Path
import signal
import sys
from typing import Any, Self

from aiohttp import ClientSession, ClientTimeout

from .client import HomeAssistantClient
from .config_folder import lay_out, stored
from .log import Record, complaints, records
from .ports import HOST, free_port

USER = "Demo"
_RESTART = 100
"""The exit code with which Home Assistant asks to be started again."""
_SECONDS_TO_START = 90
_SECONDS_TO_STOP = 60


class ProcessEndedError(Exception):
    """The process ended before it did what was asked of it."""


class HomeAssistantProcess:
    """A Home Assistant in a folder of its own, which may be stopped, killed and started again.

    `async with` starts it and, however that ends, leaves no process behind. A restart that a person asks for in the
    frontend is done.
    """

    program = Path(__file__).with_name("lean_home_assistant.py")
    """What Python runs."""
    client: HomeAssistantClient
    """The one user; another object after each start."""

    def __init__(
        self, folder: Path, *, port: int | None = None, with_integration: bool = True
    ) -> None:
        """Use this folder; an empty one is laid out, one from before has to have its old port."""
        self.folder = folder
        self.port = port or free_port()
        self.url = f"http://{HOST}:{self.port}"
        self._guard: asyncio.Task[int] | None = None
        if not any(folder.iterdir()):
            lay_out(folder, self.port, with_integration=with_integration)

    async def __aenter__(self) -> Self:
        """Start it and sign in."""
        try:
            await self.start()
        except BaseException:
            await self.kill()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop it if it runs."""
        await self.stop()

    async def start(self) -> None:
        """Start it, sign in, and wait until it has finished starting.

        Raises ProcessEndedError when it ends instead, TimeoutError when it takes too long.
        """
        await self.spawn()
        async with asyncio.timeout(_SECONDS_TO_START):
            await self._unless_ended(self._come_up())

    async def spawn(self) -> None:
        """Start the process and wait for nothing."""
        assert self._guard is None, "it runs already"
        # No time-out of its own: what takes long is for the caller to judge.
        self._session = ClientSession(timeout=ClientTimeout(total=None))
        self.client = HomeAssistantClient(self._session, self.url)
        self._process = await self.run_program()
        self._guard = asyncio.create_task(self._restart_if_asked())

    async def stop(self) -> None:
        """End it as a person would, or if that takes too long as a power cut would."""
        if await self._hang_up():
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SECONDS_TO_STOP):
                    await self._process.wait()
            await self._end()

    async def kill(self) -> None:
        """End it as a power cut would."""
        if await self._hang_up():
            await self._end()

    async def wait(self) -> int:
        """Wait until it ends by itself; return the exit code."""
        assert self._guard is not None
        return await asyncio.shield(self._guard)

    @property
    def log(self) -> str:
        """What it wrote since the folder was laid out."""
        path = self._log_path
        return path.read_text(errors="replace") if path.exists() else ""

    def records(self) -> Iterator[Record]:
        """Yield the entries of the log."""
        return records(self.log)

    def complaints(self) -> list[Record]:
        """Return what the log has at WARNING or above from the integration."""
        return complaints(self.log, "bike_tracker")

    @property
    def _log_path(self) -> Path:
        return self.folder / "console.log"

    async def run_program(self) -> Process:
        """Begin a process of the program.

        It has a session of its own, so that Ctrl-C reaches only the parent. Standard input ties it to the parent.
        """
        with self._log_path.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                sys.executable,
                # Not from the project's own folder, which Home Assistant is not to know.
                "-P",
                self.program,
                *("--config", self.folder, "--skip-pip", "--log-no-color"),
                cwd=self.folder,
                env={
                    key: os.environ[key] for key in os.environ.keys() - {"PYTHONPATH"}
                },
                stdin=PIPE,
                stdout=log,
                stderr=STDOUT,
                start_new_session=True,
            )

    async def _restart_if_asked(self) -> int:
        while (code := await self._process.wait()) == _RESTART:
            self._process = await self.run_program()
        return code

    async def _come_up(self) -> None:
        """Sign in once it answers, the first time as a new user."""
        await self.client.wait_for_answer()
        if '"user"' in stored(self.folder, "onboarding"):
            await self.client.sign_in()
        else:
            await self.client.create_user(USER)
            # Killed before this is written, it would have to be set up anew.
            while f'"{USER}"' not in stored(self.folder, "auth"):
                await asyncio.sleep(0.1)
        await self.client.wait_until_running()

    async def _unless_ended(self, work: Coroutine[Any, Any, None]) -> None:
        """Do the work, or raise ProcessEndedError when the process ends before it is done."""
        assert self._guard is not None
        task = asyncio.create_task(work)
        try:
            await asyncio.wait((task, self._guard), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                last = "\n".join(self.log.splitlines()[-20:])
                raise ProcessEndedError(f"Home Assistant ended:\n{last}")
            await task
        finally:
            task.cancel()

    async def _hang_up(self) -> bool:
        """Close connections, which Home Assistant waits for; return whether there is something to end."""
        guard, self._guard = self._guard, None
        if guard is None:
            return False
        guard.cancel()
        await self._session.close()
        return True

    async def _end(self) -> None:
        """End it at once, and whatever it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
