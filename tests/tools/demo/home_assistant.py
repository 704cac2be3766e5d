"""Home Assistant as a process of its own."""

import asyncio
from collections.abc import Coroutine, Iterator
from pathlib import Path
import subprocess
from typing import Any, Self

from aiohttp import ClientSession, ClientTimeout

from .client import HomeAssistantClient
from .config_folder import lay_out, stored
from .log import Record, complaints, records
from .ports import HOST, free_port
from .process import Child, ProcessEndedError

USER = "Demo"
_RESTART = 100
"""The exit code with which Home Assistant asks to be started again."""
_SECONDS_TO_START = 90


class HomeAssistantProcess:
    """A Home Assistant in a folder of its own, which may be stopped, killed and started again.

    `async with` starts it and, however that ends, leaves no process behind. A restart that a person asks for in the
    frontend is done.
    """

    program = Path(__file__).with_name("lean_home_assistant.py")
    """What Python runs, with the arguments of child.py."""

    def __init__(
        self, folder: Path, *, port: int | None = None, with_integration: bool = True
    ) -> None:
        """Use this folder; an empty one is laid out, one from before has to have its old port."""
        self.folder = folder
        self.port = port or free_port()
        self.url = f"http://{HOST}:{self.port}"
        self.client: HomeAssistantClient
        """The one user; another object after each start."""
        self._child: Child | None = None
        self._session: ClientSession | None = None
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

    @property
    def pid(self) -> int:
        """The ID of the process."""
        assert self._child is not None
        return self._child.pid

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
        await self.run_program()
        self._guard = asyncio.create_task(self._restart_if_asked())

    async def stop(self) -> int | None:
        """End it as a person would; return the exit code, 0 if all went well."""
        return await self._end(kill=False)

    async def kill(self) -> int | None:
        """End it as a power cut would."""
        return await self._end(kill=True)

    async def wait(self) -> int:
        """Wait until it ends by itself; return the exit code."""
        assert self._guard is not None
        return await asyncio.shield(self._guard)

    async def wait_until_stored(self, key: str, text: str) -> None:
        """Wait until a file in Home Assistant's storage holds a text; that takes it up to some ten seconds."""
        async with asyncio.timeout(60):
            while text not in stored(self.folder, key):
                await asyncio.sleep(0.1)

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

    async def run_program(self) -> None:
        """Begin a process of the program."""
        with self._log_path.open("ab") as log:
            self._child = await Child.start(
                [
                    # Not from the project's own folder, which Home Assistant is not to know.
                    "-P",
                    str(self.program),
                    "homeassistant",
                    "--config",
                    str(self.folder),
                    "--skip-pip",
                    "--log-no-color",
                ],
                folder=self.folder,
                output=log,
                errors=subprocess.STDOUT,
            )

    async def _restart_if_asked(self) -> int:
        assert self._child is not None
        while (code := await self._child.wait()) == _RESTART:
            await self.run_program()
        return code

    async def _come_up(self) -> None:
        await self.client.wait_for_answer()
        await self._sign_in()
        await self.client.wait_until_running()

    async def _sign_in(self) -> None:
        """Sign in, the first time as a new user."""
        if '"user"' in stored(self.folder, "onboarding"):
            await self.client.sign_in()
            return
        await self.client.create_user(USER)
        # Killed before this is written, it would have to be set up anew.
        await self.wait_until_stored("auth", f'"{USER}"')

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

    async def _end(self, *, kill: bool) -> int | None:
        guard, self._guard = self._guard, None
        if guard is None or self._child is None:
            return None
        # First, as Home Assistant waits for those who are connected to hang up.
        await self.client.close()
        if self._session is not None:
            await self._session.close()
        guard.cancel()
        return await (self._child.kill() if kill else self._child.stop())
