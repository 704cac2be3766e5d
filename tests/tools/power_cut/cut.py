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
from typing import Final

from tests.tools.simulator import Simulator

from .check import compared, doubled, missing, read
from .life import ENTRY_ID, Armed, Fired, Plan, live
from .world import TRACKERS, World

EMAIL: Final = "ann@example.com"
PASSWORD: Final = "correct horse"
BEGIN: Final = datetime(2026, 11, 2, 8, tzinfo=UTC)
_MOST_SECONDS: Final = 1.2
"""Real seconds after which a process is killed at the latest."""
_MOST_INSTRUCTIONS: Final = 6_000
_MAY_LOSE: Final = timedelta(seconds=10)
_SETTLED: Final = timedelta(minutes=20)
_DOWN: Final = timedelta(minutes=10)
_CONTEXT: Final = multiprocessing.get_context("forkserver")


@dataclass
class Result:
    """The counts of all lives."""

    counts: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    """Known for more than ten seconds, and not in the file."""
    recent: Counter[str] = field(default_factory=Counter)
    """Of the last ten seconds, and not in the file."""
    differences: Counter[str] = field(default_factory=Counter)
    """Between the rides of the book and the real ones, in the end."""


@dataclass
class PowerCuts:
    """Kills one process after another, in one folder, beside one service."""

    folder: Path
    simulator: Simulator
    random: Random
    now: datetime = BEGIN
    result: Result = field(default_factory=Result)

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
        await self._life(instructions, seconds, None)

    async def end(self) -> None:
        """Let the last process live for hours, end it, and compare its book."""
        await self._life(0, 3_600, self.now + 2 * _SETTLED)
        book = read(self._file, self.folder / "copy.db")
        for tracker in TRACKERS:
            rides = book.rides[tracker], book.kilometers[tracker]
            found = compared(self._world.trips[tracker], *rides, self.now - _SETTLED)
            self.result.differences += found

    async def _life(
        self, instructions: int, seconds: float, until: datetime | None
    ) -> None:
        ours, theirs = _CONTEXT.Pipe()
        place = self.folder, self.simulator.url
        plan = Plan(*place, EMAIL, PASSWORD, self.now, instructions)
        process = _CONTEXT.Process(target=live, args=(theirs, plan), daemon=True)
        await asyncio.to_thread(process.start)
        theirs.close()
        timer = asyncio.get_running_loop().call_later(seconds, process.kill)
        news = await self._serve(ours, until)
        in_sqlite = instructions and timer.when() > asyncio.get_running_loop().time()
        timer.cancel()
        await asyncio.to_thread(process.join)
        self.result.counts["ended" if process.exitcode == 0 else "killed"] += 1
        self.result.counts["killed by an instruction of SQLite"] += bool(in_sqlite)
        await asyncio.to_thread(self._check, news)
        self.now += _DOWN * self.random.random()
        self._world.move(self.now)

    async def _serve(
        self, connection: Connection, until: datetime | None
    ) -> list[Fired | Armed]:
        """Let bikes report step by step until the process is dead; return its events."""
        news = list[Fired | Armed]()
        try:
            while message := await asyncio.to_thread(connection.recv):
                self.now, new = message
                news += new
                self.result.counts["steps"] += 1
                self._world.move(self.now)
                if until and self.now > until:
                    connection.send(None)
                    continue
                is_arming = not until and self.random.random() < 0.01
                to_arm = [self.random.choice(TRACKERS)] if is_arming else []
                connection.send(to_arm)
        except EOFError, OSError:
            pass
        return news

    def _check(self, news: list[Fired | Armed]) -> None:
        counts, result = self.result.counts, self.result
        for it in news:
            counts[it.occurrence.type if isinstance(it, Fired) else "armings"] += 1
        if not self._file.exists():
            return
        book = read(self._file, self.folder / "copy.db")
        counts["books read"] += 1
        old = [it for it in news if it.at <= self.now - _MAY_LOSE]
        lost = missing(book, old)
        result.lost += lost
        result.recent += missing(book, news) - lost
        if found := doubled(book):
            result.lost["doubled rides"] += found


async def run(
    folder: Path, kills: int, seed: int, say: Callable[[str], object]
) -> Result:
    """Kill Home Assistant that often, and return what was found."""
    async with Simulator() as simulator:
        cuts = PowerCuts(folder, simulator, Random(seed))  # noqa: S311 - no secret
        for number in range(1, kills + 1):
            await cuts.kill()
            if number % 25 == 0:
                say(f"{number} kills; lost: {dict(cuts.result.lost)}")
        await cuts.end()
    return cuts.result
