"""Kills Home Assistant at random moments: python -m tests.tools.power_cut KILLS SEED.

It fails if the database lacks a ride, an arming, an alarm or a total that is older than ten seconds, or has a ride
twice. The service goes on meanwhile.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
import shutil
import signal
import sqlite3
import sys
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from custom_components.bike_tracker.database.file import unpacked
from tests.conftest import BLUE, EMAIL, PASSWORD, RED
from tests.tools.simulator import Simulator
from tests.tools.simulator.streets import METRES_PER_DEGREE

from .life import ENTRY_ID, News, live

_BEGIN: Final = datetime(2026, 11, 2, 8, tzinfo=UTC)
_EPOCH: Final = datetime.fromtimestamp(0, UTC)
_MOST_SECONDS: Final = 1.2
"""Real seconds after which a process is killed at the latest."""
_MOST_INSTRUCTIONS: Final = 6_000
_MAY_LOSE: Final = timedelta(seconds=10)
_DOWN: Final = timedelta(minutes=10)
_CONTEXT: Final = multiprocessing.get_context("forkserver")

type Times = tuple[datetime, datetime]


class Said(NamedTuple):
    """A report: when, how many meters to the north of the one before, and its alarm."""

    time: datetime
    meters: float = 0
    alarm: str | None = None


def plan(random: Random) -> Iterator[Said]:
    """Yield the reports of a bike with rides of some minutes, stops of some more, and alarms."""
    time, alarms = _BEGIN, count(1)
    for ride in count():
        for _ in range(random.randint(3, 5)):
            alarm = f"alarm {next(alarms)}" if random.random() < 0.2 else None
            yield Said(time, 0, alarm)
            time += timedelta(minutes=5)
        for _ in range(random.randint(8, 25)):
            time += timedelta(seconds=20)
            # There and back: the bike stays in its town.
            yield Said(time, 120 if ride % 2 else -120)
        time += timedelta(seconds=20)


class Book(NamedTuple):
    """The content of a file."""

    states: dict[str, dict[str, Any]]
    last_fired: dict[str, int]
    rides: dict[str, list[Times]]

    @classmethod
    def read(cls, file: Path, copy: Path) -> Book:
        """Return the content of a copy of a file and its log, after SQLite's own check."""
        for suffix in ("", "-wal", "-shm"):
            copy.with_name(copy.name + suffix).unlink(missing_ok=True)
            if (beside := file.with_name(file.name + suffix)).exists():
                shutil.copy(beside, copy.with_name(copy.name + suffix))
        book = cls({}, {}, {})
        with closing(sqlite3.connect(copy)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            if not database.execute("PRAGMA user_version").fetchone()[0]:
                return book
            query = "SELECT unique_id, state, last_fired FROM tracker"
            for tracker, state, last_fired in database.execute(query):
                book.states[tracker] = unpacked(state)
                book.last_fired[tracker] = last_fired
            query = 'SELECT tracker, start, "end" FROM ride ORDER BY start'
            for tracker, *ride in database.execute(query):
                start, end = (_EPOCH + timedelta(microseconds=it) for it in ride)
                book.rides.setdefault(tracker, []).append((start, end))
        return book

    def doubled(self) -> int:
        """Return the number of rides that begin before the ride before them ended."""
        pairs = (pair for rides in self.rides.values() for pair in pairwise(rides))
        return sum(second[0] < first[1] for first, second in pairs)

    def missing(self, news: News) -> Iterator[str]:
        """Yield what the file lacks of what was known."""
        state, occurrence = self.states.get(news.tracker, {}), news.occurrence
        if occurrence is None:
            guard = state.get("guard") or {"armed_at": "1970-01-01T00Z"}
            armed_at = datetime.fromisoformat(guard["armed_at"])
            if armed_at < news.at - timedelta(seconds=1):
                yield "armings"
        elif occurrence.is_event:
            if self.last_fired.get(news.tracker, 0) < occurrence.seq:
                yield "occurrences"
            if state.get("highest_total", 0) < news.total - 1e-6:
                yield "totals"
            said = occurrence.attributes
            alarms = [alarm["word"] for alarm in state.get("alarms", ())]
            if occurrence.type == "alarm_raised" and said["alarm"] not in alarms:
                yield "alarms"
            if occurrence.type == "ride_ended" and not self._has_ride(news, state):
                yield "rides"

    def _has_ride(self, news: News, state: dict[str, Any]) -> bool:
        assert news.occurrence
        said = news.occurrence.attributes
        times = _times(said["started_at"], said["ended_at"])
        # After a restart the history may tell when a ride really was.
        for it in state.get("announced", ()):
            if _touch(times, announced := _times(it["start"], it["end"])):
                times = min(times[0], announced[0]), max(times[1], announced[1])
        return any(_touch(times, ride) for ride in self.rides.get(news.tracker, ()))


def _touch(one: Times, other: Times) -> bool:
    """Return whether times overlap; a ride of which only its start was known has no length."""
    return one[0] <= other[1] and other[0] <= one[1]


def _times(start: str, end: str) -> Times:
    return datetime.fromisoformat(start), datetime.fromisoformat(end)


class PowerCuts:
    """Kills one process after another, in one folder, beside one service."""

    def __init__(self, folder: Path, simulator: Simulator, random: Random) -> None:
        """Prepare the account and its bikes."""
        self.counts, self.lost = Counter[str](), Counter[str]()
        self._folder, self._simulator, self._random = folder, simulator, random
        self._now = _BEGIN
        self._plans = {tracker: plan(random) for tracker in (RED, BLUE)}
        self._next = {tracker: next(said) for tracker, said in self._plans.items()}
        simulator.add_account(EMAIL, PASSWORD)
        for tracker in self._plans:
            simulator.add_device(tracker, email=EMAIL, last_update=_BEGIN)
        _CONTEXT.set_forkserver_preload(["tests.tools.power_cut.life"])

    async def kill(self) -> None:
        """Start a process and kill it at a random moment."""
        random = self._random
        in_sqlite = random.random() < 0.5
        instructions = random.randint(1, _MOST_INSTRUCTIONS) if in_sqlite else 0
        seconds = random.random() * _MOST_SECONDS * (2 if in_sqlite else 1)
        ours, theirs = _CONTEXT.Pipe()
        data = {"url": self._simulator.url, "email": EMAIL, "password": PASSWORD}
        args = theirs, self._folder, data, self._now, instructions
        process = _CONTEXT.Process(target=live, args=args, daemon=True)
        await asyncio.to_thread(process.start)
        theirs.close()
        loop = asyncio.get_running_loop()
        timer = loop.call_later(seconds, process.kill)
        news = await self._serve(ours)
        in_sqlite = in_sqlite and timer.when() > loop.time()
        timer.cancel()
        await asyncio.to_thread(process.join)
        assert process.exitcode == -signal.SIGKILL
        self.counts["killed"] += 1
        self.counts["killed by an instruction of SQLite"] += in_sqlite
        await asyncio.to_thread(self._check, news)
        self._now += _DOWN * random.random()
        self._report()

    async def _serve(self, connection: Connection) -> list[News]:
        """Let bikes report step by step until the process is dead; return its events."""
        news = list[News]()
        try:
            while True:
                self._now, new = await asyncio.to_thread(connection.recv)
                news += new
                self.counts["steps"] += 1
                self._report()
                is_arming = self._random.random() < 0.01
                to_arm = self._random.choice([*self._plans]) if is_arming else None
                connection.send(to_arm)
        except EOFError, OSError:
            pass
        return news

    def _report(self) -> None:
        """Let the bikes report up to now."""
        for tracker, said in self._plans.items():
            while self._next[tracker].time <= self._now:
                time, meters, alarm = self._next[tracker]
                self._next[tracker] = next(said)
                position = self._simulator.devices[tracker].position
                assert position is not None
                self._simulator.report(
                    tracker,
                    latitude=position.latitude + meters / METRES_PER_DEGREE,
                    accuracy=5.0,
                    speed=11.7 if meters else 0.0,
                    attributes={"motion": meters != 0}
                    | ({"alarm": alarm} if alarm else {}),
                    last_update=time,
                )

    def _check(self, news: Iterable[News]) -> None:
        """Count what was known for more than ten seconds, and is not in the file."""
        for it in news:
            self.counts[it.occurrence.type if it.occurrence else "armings"] += 1
        file = self._folder / ".storage" / "bike_tracker" / f"{ENTRY_ID}.db"
        if not file.exists():
            return
        book = Book.read(file, self._folder / "copy.db")
        self.counts["books read"] += 1
        for it in news:
            if it.at <= self._now - _MAY_LOSE:
                self.lost.update(book.missing(it))
        self.lost += Counter({"doubled rides": book.doubled()})


async def run(folder: Path, kills: int, seed: int) -> PowerCuts:
    """Kill Home Assistant that often, and return the counts."""
    async with Simulator() as simulator:
        cuts = PowerCuts(folder, simulator, Random(seed))  # noqa: S311 - no secret
        for number in range(1, kills + 1):
            await cuts.kill()
            if number % 25 == 0:
                print(f"{number} kills; lost: {dict(cuts.lost)}")
    return cuts


if __name__ == "__main__":
    kills, seed = map(int, sys.argv[1:])
    with TemporaryDirectory() as place:
        cuts = asyncio.run(run(Path(place), kills, seed))
    for title, counts in (("counts", cuts.counts), ("lost", cuts.lost)):
        print(f"{title}:")
        for what, number in sorted(counts.items()):
            print(f"{number:>9,} {what}")
    sys.exit(bool(cuts.lost))
