"""Cuts the power of Home Assistant again and again, while the service goes on."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
import signal
from typing import Final

from tests.tools.simulator import Simulator

from .check import doubled, missing, read
from .life import ENTRY_ID, Armed, Fired, Plan, live
from .world import TRACKERS, World

EMAIL: Final = "ann@example.com"
PASSWORD: Final = "correct horse"
BEGIN: Final = datetime(2026, 11, 2, 8, tzinfo=UTC)
_MOST_SECONDS: Final = 1.2
"""Real seconds after which a process is killed at the latest."""
_MOST_INSTRUCTIONS: Final = 6_000
_MAY_LOSE: Final = timedelta(seconds=10)
_DOWN: Final = timedelta(minutes=10)
_CONTEXT: Final = multiprocessing.get_context("forkserver")


@dataclass
class PowerCuts:
    """Kills one process after another, in one folder, beside one service."""

    folder: Path
    simulator: Simulator
    random: Random
    now: datetime = BEGIN
    counts: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    """Known for more than ten seconds, and not in the file."""

    def __post_init__(self) -> None:
        """Prepare the account and its bikes."""
        self.simulator.add_account(EMAIL, PASSWORD)
        for tracker in TRACKERS:
            self.simulator.add_device(tracker, email=EMAIL, last_update=BEGIN)
        self._world = World(self.simulator, self.random, BEGIN)
        self._file = self.folder / ".storage" / "bike_tracker" / f"{ENTRY_ID}.db"
        _CONTEXT.set_forkserver_preload(["tests.tools.power_cut.life"])

    async def kill(self) -> None:
        """Start a process and kill it at a random moment."""
        in_sqlite = self.random.random() < 0.5
        instructions = self.random.randint(1, _MOST_INSTRUCTIONS) if in_sqlite else 0
        seconds = self.random.random() * _MOST_SECONDS * (2 if in_sqlite else 1)
        ours, theirs = _CONTEXT.Pipe()
        place = self.folder, self.simulator.url
        plan = Plan(*place, EMAIL, PASSWORD, self.now, instructions)
        process = _CONTEXT.Process(target=live, args=(theirs, plan), daemon=True)
        await asyncio.to_thread(process.start)
        theirs.close()
        timer = asyncio.get_running_loop().call_later(seconds, process.kill)
        news = await self._serve(ours)
        in_sqlite = in_sqlite and timer.when() > asyncio.get_running_loop().time()
        timer.cancel()
        await asyncio.to_thread(process.join)
        assert process.exitcode == -signal.SIGKILL
        self.counts["killed"] += 1
        self.counts["killed by an instruction of SQLite"] += in_sqlite
        await asyncio.to_thread(self._check, news)
        self.now += _DOWN * self.random.random()
        self._world.move(self.now)

    async def _serve(self, connection: Connection) -> list[Fired | Armed]:
        """Let bikes report step by step until the process is dead; return its events."""
        news = list[Fired | Armed]()
        try:
            while True:
                self.now, new = await asyncio.to_thread(connection.recv)
                news += new
                self.counts["steps"] += 1
                self._world.move(self.now)
                is_arming = self.random.random() < 0.01
                connection.send(self.random.choice(TRACKERS) if is_arming else None)
        except EOFError, OSError:
            pass
        return news

    def _check(self, news: list[Fired | Armed]) -> None:
        for it in news:
            self.counts[it.occurrence.type if isinstance(it, Fired) else "armings"] += 1
        if not self._file.exists():
            return
        book = read(self._file, self.folder / "copy.db")
        self.counts["books read"] += 1
        old = [it for it in news if it.at <= self.now - _MAY_LOSE]
        self.lost += missing(book, old) + Counter({"doubled rides": doubled(book)})


async def run(
    folder: Path, kills: int, seed: int, say: Callable[[str], object]
) -> PowerCuts:
    """Kill Home Assistant that often, and return the counts."""
    async with Simulator() as simulator:
        cuts = PowerCuts(folder, simulator, Random(seed))  # noqa: S311 - no secret
        for number in range(1, kills + 1):
            await cuts.kill()
            if number % 25 == 0:
                say(f"{number} kills; lost: {dict(cuts.lost)}")
    return cuts
