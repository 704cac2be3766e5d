"""Polls with everything that happens in a month. In the meantime, nothing may grow."""

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

# Leave these faults out. A restart lasts in real time, and looks like a refused
# connection to a client. After reports from the far future, a log would grow to its
# limit for days.
_LEFT_OUT: Final = {"restart", "time-future"}
_TROUBLES: Final = [it for name, it in TROUBLES.items() if name not in _LEFT_OUT]
_POLL: Final = 61
_READINGS: Final = 10
# Wait for the longest of these: the next attempt of the live connection, a poll, and
# the timeout of idle connections.
_RESTS: Final = (16 * 60, _POLL, 20)
# The simulator keeps this many reports of a tracker at most.
_REPORTS: Final = 15
# This message has 64 MiB, which the simulator creates in this process.
_LARGE: Final = "huge-message"
# Differences between two readings that are allowed. A real leak grows with each poll.
_SLACK: Final = {"objects": 1_000, "MiB": 24, "timers": 2, "listeners": 2}

type Reading = dict[str, int]
"""How much there is of each resource."""


class Soak:
    """Lets a home poll this often, with everything that may happen."""

    def __init__(self, home: Home, polls: int) -> None:
        """Use this home."""
        self.counts: Counter[str] = Counter()
        """Numbers of alarms and of requests."""
        self._home, self._simulator, self._polls = home, home.simulator, polls
        self._random = Random(SEED)  # noqa: S311 - no secret

    async def run(self) -> list[Reading]:
        """Poll, and return the readings."""
        # Begin with the large faults, so that memory reaches its maximum.
        for trouble in filter(lambda trouble: trouble.is_large, _TROUBLES):
            await self._be_in(trouble)
        await self._be_in_live(_LARGE)
        readings = []
        for number in range(1, _READINGS + 1):
            while self._home.polls * _READINGS < number * self._polls:
                await self._live()
            # Close the connection, which still holds the messages of a flood.
            self._simulator.live.drop()
            for seconds in _RESTS:
                await self._home.wait(seconds)
            self._count_requests()
            readings.append({"polls": self._home.polls, **read(self._home.hass)})
            print(*(f"{count:>9,} {what}" for what, count in readings[-1].items()))  # noqa: T201
        return readings

    async def _live(self) -> None:
        """Ride for half an hour, and let one thing happen."""
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
        """Let the service or one endpoint fail, always or sometimes."""
        path: Endpoint | None = self._random.choice(
            [None, None, "devices", "positions", "history"]
        )
        troubles = [it for it in _TROUBLES if path is None or it.strikes_positions]
        if path == "history":
            # After the reconnect, the missing reports are requested.
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
        """Let the live connection fail for some minutes, or close it."""
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
        # The storage of the test package records all its calls, which would look like a
        # leak.
        for method in ("_async_load", "_async_write_data"):
            getattr(Store, method).reset_mock()


def growth(before: Reading, after: Reading) -> Reading:
    """Return the resources that grew by more than is allowed."""
    grown = {what: after[what] - before[what] for what in before if what != "polls"}
    return {what: more for what, more in grown.items() if more > _SLACK.get(what, 0)}


def read(hass: HomeAssistant) -> Reading:
    """Return how much there is of each resource. It is 0 where the system does not tell."""
    _forget_what_is_no(Mapping)
    gc.collect()
    # Return free memory to the system. Otherwise the C library keeps that of a large
    # answer.
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
    """Clear the caches of types that do not belong to an abstract class.

    When an error is logged, Python checks whether the arguments are a mapping, and
    caches the result. The first error of a kind adds hundreds of objects to this cache.
    CPython also clears these caches when it searches for leaks.
    """
    if isinstance(kind, ABCMeta):
        kind._abc_caches_clear()  # noqa: SLF001
    for below in kind.__subclasses__():
        _forget_what_is_no(below)
