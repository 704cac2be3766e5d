"""The soak test: many polls with random events and faults. Memory and other resources must not grow."""

from abc import ABCMeta
import asyncio
from contextlib import suppress
import ctypes
import gc
import os
from pathlib import Path
from random import Random
from typing import Final

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers.storage import Store
from homeassistant.util.async_ import get_scheduled_timer_handles

from tests.conftest import EMAIL, PASSWORD
from tests.long import SEED

from .faults.decided import DECIDED_PLACES, TROUBLES
from .faults.home import Home
from .simulator import LIVE_FAULTS
from .simulator.render import Endpoint

# Leave out these faults. `restart` lasts for seconds of real time, not of the frozen
# clock, and has the same effect as `connection-refused`. After `time-future`, the log of
# reports would grow for days until it reaches its limit.
_LEFT_OUT: Final = {"restart", "time-future"}
_TROUBLES: Final = [it for it in TROUBLES if it not in _LEFT_OUT]
# Faults with an answer that is so large that reading all of it would need much memory.
_LARGE: Final = ("huge-body", "huge-body-chunked", "gzip-bomb", "deflate-bomb")
# With this fault of the live connection, the simulator creates a message of 64 MiB in
# this process.
_LARGE_LIVE: Final = "huge-message"
_POLL: Final = 61
_READINGS: Final = 10
# Seconds to wait before a reading, one after the other: for the next attempt of the
# live connection, for a poll, and for the timeout of idle connections.
_RESTS: Final = (16 * 60, _POLL, 20)
# Number of reports of each tracker that the simulator keeps.
_REPORTS: Final = 15
# Allowed growth of resources between two readings; 0 for all other resources. A real
# leak exceeds this growth, because the leak grows with each poll.
_SLACK: Final = {"objects": 1_000, "MiB": 24, "timers": 2, "listeners": 2}

type Reading = dict[str, int]
"""The amount of each resource, by its name. Under the name `polls`, the number of polls so far."""


class Soak:
    """Lets a home poll a given number of times, while random events and faults happen."""

    def __init__(self, home: Home, polls: int) -> None:
        """Use this home, and let it poll at least this number of times."""
        self._home, self._simulator, self._polls = home, home.simulator, polls
        self._random = Random(SEED)  # noqa: S311 - no secret

    async def run(self) -> list[Reading]:
        """Run all polls. Return ten readings, which are taken at regular intervals, the last after all polls."""
        # Begin with the faults that need most memory. The memory of the process then
        # reaches its maximum before the first reading.
        for name in _LARGE:
            await self._be_in(name)
        await self._be_in_live(_LARGE_LIVE)
        readings = []
        for number in range(1, _READINGS + 1):
            while self._home.polls * _READINGS < number * self._polls:
                await self._live()
            # Close the live connection: after a flood of messages, the connection still
            # stores some of them, which would look like a leak.
            self._simulator.live.drop()
            for seconds in _RESTS:
                await self._home.wait(seconds)
            self._forget()
            readings.append({"polls": self._home.polls, **read(self._home.hass)})
            print(*(f"{count:>9,} {what}" for what, count in readings[-1].items()))  # noqa: T201
        return readings

    async def _live(self) -> None:
        """Let bikes ride for about half an hour, then let one random event or fault happen."""
        random, simulator, home = self._random, self._simulator, self._home
        await self._ride(random.randint(20, 40))
        tracker = random.choice(list(simulator.devices))
        events = ["fault", "live fault", "reload", "come and go"]
        match random.choices(events, [16, 5, 2, 2])[0]:
            case "fault":
                await self._trouble()
            case "live fault":
                await self._be_in_live(random.choice(list(LIVE_FAULTS)))
            case "reload":
                await home.unload()
                await home.set_up()
            case "come and go":
                simulator.unassign(EMAIL, tracker)
                await home.wait(_POLL)
                simulator.assign(EMAIL, tracker)
                await home.wait(_POLL)
        self._forget()

    async def _ride(self, polls: int) -> None:
        random, simulator = self._random, self._simulator
        for _ in range(polls):
            for tracker in simulator.devices:
                if random.random() < 0.3:
                    simulator.report_many([tracker])
                if random.random() < 0.1:
                    alarm = f"alarm {random.random()}"
                    simulator.report(tracker, attributes={"alarm": alarm})
                if random.random() < 0.05:
                    status = random.choice(["online", "offline"])
                    simulator.set_status(tracker, status)
            await self._home.wait(_POLL)

    async def _trouble(self) -> None:
        """Let requests fail for some minutes: all or only the requests to one endpoint; each such request or every n-th."""
        paths: list[Endpoint | None] = [None, None, "devices", "positions", "history"]
        path = self._random.choice(paths)
        names = [it for it in _TROUBLES if path is None or it in DECIDED_PLACES]
        if path == "history":
            # After the live connection opens again, the integration requests the
            # history.
            self._simulator.live.drop()
        every = self._random.choice([1, 1, 2, 3])
        await self._be_in(self._random.choice(names), path, every)

    async def _be_in(
        self, name: str, path: Endpoint | None = None, every: int = 1
    ) -> None:
        home = self._home
        home.trouble = TROUBLES[name]
        with home.in_trouble(path, every):
            self._simulator.report_many()
            for _ in range(self._random.randint(1, 6)):
                await home.wait(self._random.choice([5, 20, _POLL, _POLL, 200]))
        if home.asks_to_sign_in and self._random.random() < 0.5:
            await home.sign_in_again(PASSWORD)
        await home.wait(15 * 60)
        self._check(name)

    async def _be_in_live(self, name: str) -> None:
        """Let the live connection have a fault for some minutes, and sometimes close the connection afterwards."""
        self._simulator.live_fault(name)
        await self._ride(self._random.randint(1, 6))
        self._simulator.live_fault(None)
        if self._random.random() < 0.3:
            self._simulator.live.drop()
        self._check(name)

    def _check(self, name: str) -> None:
        assert self._home.entry.state is ConfigEntryState.LOADED, name
        assert not self._home.asks_to_sign_in, name

    def _forget(self) -> None:
        """Delete the records of requests, old reports, and the recorded calls of mocks."""
        self._simulator.record.requests.clear()
        for reports in self._simulator.reports.values():
            while len(reports) > _REPORTS:
                reports.popleft()
        # The test package replaces these methods of the storage by mocks. A mock
        # records all its calls, which would look like a leak.
        for method in ("_async_load", "_async_write_data"):
            getattr(Store, method).reset_mock()


def growth(before: Reading, after: Reading) -> Reading:
    """Return the resources that grew by more than `_SLACK` allows, with their growth."""
    grown = {what: after[what] - before[what] for what in before if what != "polls"}
    return {what: more for what, more in grown.items() if more > _SLACK.get(what, 0)}


def read(hass: HomeAssistant) -> Reading:
    """Return the amount of each resource now."""
    # Abstract classes keep results of `isinstance`. The first error of a kind, when it
    # is logged, adds hundreds of objects to these caches, which would look like a leak.
    for kind in filter(lambda it: isinstance(it, ABCMeta), gc.get_objects()):
        kind._abc_caches_clear()  # noqa: SLF001
    gc.collect()
    # Let the C library return free memory to the system. Otherwise the library keeps
    # the memory of a large answer, which would look like a leak.
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    timers = get_scheduled_timer_handles(hass.loop)
    process = Path("/proc/self")
    pages = int((process / "statm").read_text().split()[1])
    return {
        "objects": len(gc.get_objects()),
        "MiB": pages * os.sysconf("SC_PAGE_SIZE") // 2**20,
        "tasks": len(asyncio.all_tasks()),
        "timers": sum(not timer.cancelled() for timer in timers),
        "listeners": sum(hass.bus.async_listeners().values()),
        "files": len(list(process.glob("fd/*"))),
    }
