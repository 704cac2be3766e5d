"""The soak test: many polls with random events and faults. Memory and other resources must not grow."""

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

# Leave out these faults. `restart` lasts for real time, although the clock is frozen,
# and looks to a client like the fault `connection-refused`. After reports from the far
# future, a log would grow for days until it reaches its limit.
_LEFT_OUT: Final = {"restart", "time-future"}
_TROUBLES: Final = [it for name, it in TROUBLES.items() if name not in _LEFT_OUT]
_POLL: Final = 61
_READINGS: Final = 10
# Seconds to wait before a reading, one after the other: for the next attempt of the
# live connection, for a poll, and for the timeout of idle connections.
_RESTS: Final = (16 * 60, _POLL, 20)
# Delete older reports of a tracker, so that the simulator keeps at most this many.
_REPORTS: Final = 15
# With this fault of the live connection, the simulator creates a message of 64 MiB in
# this process.
_LARGE: Final = "huge-message"
# Allowed growth between two readings; 0 by default. A real leak exceeds it, because the
# leak grows with each poll.
_SLACK: Final = {"objects": 1_000, "MiB": 24, "timers": 2, "listeners": 2}

type Reading = dict[str, int]
"""The amount of each resource, by its name, and the number of polls so far."""


class Soak:
    """Lets a home poll a given number of times, while random events and faults happen."""

    def __init__(self, home: Home, polls: int) -> None:
        """Use this home, and poll at least this often."""
        self.counts: Counter[str] = Counter()
        """Number of alarms, and of requests for each path."""
        self._home, self._simulator, self._polls = home, home.simulator, polls
        self._random = Random(SEED)  # noqa: S311 - no secret

    async def run(self) -> list[Reading]:
        """Run all polls. Return the readings, which are taken at regular intervals and at the end."""
        # Begin with the faults that need most memory. The memory of the process then
        # reaches its maximum before the first reading.
        for trouble in filter(lambda trouble: trouble.is_large, _TROUBLES):
            await self._be_in(trouble)
        await self._be_in_live(_LARGE)
        readings = []
        for number in range(1, _READINGS + 1):
            while self._home.polls * _READINGS < number * self._polls:
                await self._live()
            # Close the live connection: after a flood, it still holds messages, which
            # would look like a leak.
            self._simulator.live.drop()
            for seconds in _RESTS:
                await self._home.wait(seconds)
            self._count_requests()
            readings.append({"polls": self._home.polls, **read(self._home.hass)})
            print(*(f"{count:>9,} {what}" for what, count in readings[-1].items()))  # noqa: T201
        return readings

    async def _live(self) -> None:
        """Let bikes ride for about half an hour, then let one random event or fault happen."""
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
        """Let requests fail for some minutes: all requests or those to one endpoint, each of them or every n-th."""
        path: Endpoint | None = self._random.choice(
            [None, None, "devices", "positions", "history"]
        )
        troubles = [it for it in _TROUBLES if path is None or it.strikes_positions]
        if path == "history":
            # After the live connection opens again, the integration requests the
            # history.
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
        """Let the live connection have a fault for some minutes, and sometimes close the connection afterwards."""
        name = name or self._random.choice(list(LIVE_FAULTS))
        self._simulator.live_fault(name)
        await self._ride(self._random.randint(1, 6))
        self._simulator.live_fault(None)
        if self._random.random() < 0.3:
            self._simulator.live.drop()
        self._check(name)

    async def _positions_behind(self) -> None:
        """For two polls, let the list announce new positions, although requests still return the old positions."""
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
        # The test package replaces these methods of the storage by mocks. A mock
        # records all its calls, which would look like a leak.
        for method in ("_async_load", "_async_write_data"):
            getattr(Store, method).reset_mock()


def growth(before: Reading, after: Reading) -> Reading:
    """Return the resources that grew by more than is allowed, with their growth."""
    grown = {what: after[what] - before[what] for what in before if what != "polls"}
    return {what: more for what, more in grown.items() if more > _SLACK.get(what, 0)}


def read(hass: HomeAssistant) -> Reading:
    """Return the amount of each resource now. Memory and files are 0 on a system without /proc."""
    _forget_what_is_no(Mapping)
    gc.collect()
    # Let the C library return free memory to the system. Otherwise the library keeps
    # the memory of a large answer, which would look like a leak.
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
    """Clear the caches in which an abstract class and its subclasses keep results of `isinstance`.

    When Python logs a line, it checks whether the argument is a mapping, and the result
    is cached for the type of the argument. The first error of a kind adds hundreds of
    objects to this cache, which would look like a leak. CPython also clears these
    caches when it searches for leaks.
    """
    if isinstance(kind, ABCMeta):
        kind._abc_caches_clear()  # noqa: SLF001
    for below in kind.__subclasses__():
        _forget_what_is_no(below)
