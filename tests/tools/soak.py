"""Polls with all events of a month, and the resources that could grow in the meantime."""

from abc import ABCMeta
import asyncio
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
import ctypes
import gc
import os
from pathlib import Path
from random import Random
from typing import Any, Final

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers.storage import Store
from homeassistant.util.async_ import get_scheduled_timer_handles

from tests.conftest import EMAIL, PASSWORD
from tests.long import SEED

from .faults.home import Home
from .faults.trouble import TROUBLES, Trouble
from .simulator import LIVE_FAULTS
from .simulator.render import Endpoint

# A restart ends by itself, in real time. For a client it is a refused connection. After
# reports with times in the far future, a log grows to its limit for days.
_LEFT_OUT: Final = {"restart", "time-future"}
_TROUBLES: Final = [it for name, it in TROUBLES.items() if name not in _LEFT_OUT]
_POLL: Final = 61
_READINGS: Final = 10
# The longest wait before the live connection is tried again, a poll, and the timeout of
# idle connections.
_RESTS: Final = (16 * 60, _POLL, 20)
# Maximum number of reports of a tracker in the simulator.
_REPORTS: Final = 15
# This message has 64 MiB; the simulator in the same process sends it.
_LARGE: Final = "huge-message"
# Allowed differences between two readings. A leak grows with each poll.
_SLACK: Final = {"objects": 1_000, "MiB": 24, "timers": 2, "listeners": 2}

type Reading = dict[str, int]
"""The amount of each resource after a number of polls."""


class Soak:
    """Runs a home for a number of polls."""

    def __init__(self, home: Home, polls: int) -> None:
        """Use this home."""
        self.counts: Counter[str] = Counter()
        """Numbers of alarms and of requests."""
        self._home, self._simulator, self._polls = home, home.simulator, polls
        self._random = Random(SEED)  # noqa: S311 - no secret

    async def run(self) -> list[Reading]:
        """Run the polls, and return the readings."""
        # Reach the maximum of memory first.
        for trouble in filter(lambda trouble: trouble.is_large, _TROUBLES):
            await self._be_in(trouble)
        await self._be_in_live(_LARGE)
        readings = []
        for number in range(1, _READINGS + 1):
            while self._home.polls * _READINGS < number * self._polls:
                await self._live()
            # A connection still holds the messages of a flood.
            self._simulator.live.drop()
            for seconds in _RESTS:
                await self._home.wait(seconds)
            self._count_requests()
            readings.append({"polls": self._home.polls, **read(self._home.hass)})
            print(*(f"{count:>9,} {what}" for what, count in readings[-1].items()))  # noqa: T201
        return readings

    async def _live(self) -> None:
        """Ride for half an hour, then let one event happen."""
        await self._ride(self._random.randint(20, 40))
        happens = self._random.choice(
            [self._trouble] * 16
            + [self._be_in_live] * 5
            + [self._positions_behind, self._reload, self._come_and_go, self._rename]
        )
        await happens()
        self._count_requests()

    async def _ride(self, polls: int) -> None:
        for _ in range(polls):
            for tracker in self._simulator.devices:
                if self._random.random() < 0.3:
                    self._simulator.report_many([tracker])
                if self._random.random() < 0.1:
                    self.counts["alarms"] += 1
                    word = f"alarm {self.counts['alarms']}"
                    self._simulator.report(tracker, attributes={"alarm": word})
                if self._random.random() < 0.05:
                    status = self._random.choice(["online", "offline"])
                    self._simulator.set_status(tracker, status)
            await self._home.wait(_POLL)

    async def _trouble(self) -> None:
        """Let the service or one endpoint fail always or sometimes."""
        path: Endpoint | None = self._random.choice(
            [None, None, "devices", "positions", "history"]
        )
        troubles = [it for it in _TROUBLES if path is None or it.strikes_positions]
        if path == "history":
            # After it, the missing reports are requested.
            self._simulator.live.drop()
        every = self._random.choice([1, 1, 2, 3])
        await self._be_in(self._random.choice(troubles), path, every)

    async def _be_in(
        self, trouble: Trouble, path: Endpoint | None = None, every: int = 1
    ) -> None:
        home = self._home
        home.trouble = trouble
        with home.in_trouble(path, every):
            self._simulator.report_many()
            for _ in range(self._random.randint(1, 6)):
                await home.wait(self._random.choice([5, 20, _POLL, _POLL, 200]))
        if home.asks_to_sign_in and self._random.random() < 0.5:
            await home.sign_in_again(PASSWORD)
        await home.wait(15 * 60)
        self._check(trouble.name)

    def _check(self, name: str) -> None:
        assert self._home.state is ConfigEntryState.LOADED, name
        assert not self._home.asks_to_sign_in, name

    async def _be_in_live(self, name: str | None = None) -> None:
        """Let the live connection fail for some minutes, or end it."""
        name = name or self._random.choice(list(LIVE_FAULTS))
        self._simulator.live_fault(name)
        await self._ride(self._random.randint(1, 6))
        self._simulator.live_fault(None)
        if self._random.random() < 0.3:
            self._simulator.live.drop()
        self._check(name)

    async def _positions_behind(self) -> None:
        """Let the list announce positions that are not available yet."""
        self._simulator.raw_positions(list(self._simulator.listed("positions", EMAIL)))
        self._simulator.report_many()
        await self._home.wait(2 * _POLL)
        self._simulator.raw_positions(None)

    async def _reload(self) -> None:
        await self._home.unload()
        await self._home.set_up()

    async def _come_and_go(self) -> None:
        tracker = self._random.choice(list(self._simulator.devices))
        self._simulator.unassign(EMAIL, tracker)
        await self._home.wait(_POLL)
        self._simulator.assign(EMAIL, tracker)
        await self._home.wait(_POLL)

    async def _rename(self) -> None:
        tracker = self._random.choice(list(self._simulator.devices))
        self._simulator.rename(tracker, f"Bike {self._random.randint(1, 99)}")
        await self._home.wait(_POLL)

    def _count_requests(self) -> None:
        record = self._simulator.record
        for path, number in record.counts.items():
            self.counts[f"requests for {path}"] += number
        histories = ("deviceId" in request.query for request in record.requests)
        self.counts["requests for history"] += sum(histories)
        record.clear()
        for reports in self._simulator.reports.values():
            while len(reports) > _REPORTS:
                reports.popleft()
        # The test package's storage records its calls.
        for method in ("_async_load", "_async_write_data"):
            getattr(Store, method).reset_mock()


def growth(before: Reading, after: Reading) -> Reading:
    """Return the resources that grew by more than the allowed difference."""
    grown = {what: after[what] - before[what] for what in before if what != "polls"}
    return {what: more for what, more in grown.items() if more > _SLACK.get(what, 0)}


def read(hass: HomeAssistant) -> Reading:
    """Return the current amount of each resource, 0 if the system does not provide it."""
    _forget_what_is_no(Mapping)
    gc.collect()
    # Otherwise the C library keeps the memory of a large answer for the next one.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    timers = get_scheduled_timer_handles(hass.loop)
    process = Path("/proc/self")
    pages = (process / "statm").read_text().split()[1] if process.exists() else 0
    return {
        "objects": len(gc.get_objects()),
        "MiB": int(pages) * os.sysconf("SC_PAGE_SIZE") // 2**20,
        "tasks": len(asyncio.all_tasks()),
        "timers": sum(not timer.cancelled() for timer in timers),
        "listeners": sum(hass.bus.async_listeners().values()),
        "files": len(list(process.glob("fd/*"))),
    }


def _forget_what_is_no(kind: type[Any]) -> None:
    """Clear the negative caches of an abstract class and its subclasses.

    Python checks whether logged arguments are a mapping, and caches the result: hundreds
    of objects for the first error of a kind, none for the next. CPython's own search for
    leaks clears these caches, too.
    """
    if isinstance(kind, ABCMeta):
        kind._abc_caches_clear()  # noqa: SLF001
    for below in kind.__subclasses__():
        _forget_what_is_no(below)
