"""What news costs that the service tells by itself, and what it costs to wait for it."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
import gc
from time import monotonic
import tracemalloc
from typing import Any

from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import (
    Event,
    EventStateChangedData,
    HomeAssistant,
    State,
    callback,
)

from .candidates import Candidate
from .home import settle
from .live_results import Received
from .meter import Meter
from .plan import IDLE, LIVE, LIVE_MEMORY
from .scenarios import BURSTS, IDLE_POLLS, NOTHING, SIGNS_OF_AN_HOUR
from .service import Service
from .service.live import APART, SOON

# After a second without news the next is taken in at once.
_QUIET = 1.2
_LONGEST_WAIT = 40
# In which all signs of life of an hour come.
_HOUR = SOON + SIGNS_OF_AN_HOUR * APART + SOON


class ListeningError(Exception):
    """A candidate does not listen, or does not hear."""


class Listening:
    """A candidate that listens, and a service that talks."""

    def __init__(
        self,
        hass: HomeAssistant,
        service: Service,
        candidate: Candidate,
        trackers: int,
        times: int,
    ) -> None:
        """Do each thing so many times."""
        self._hass = hass
        self._service = service
        self._candidate = candidate
        self._trackers = trackers
        self._times = times

    async def do(self, kind: str) -> dict[str, Any]:
        """Return what a kind of run finds out."""
        kinds = {LIVE: self._live, IDLE: self._idle, LIVE_MEMORY: self._memory}
        return await kinds[kind]()

    async def _live(self) -> dict[str, Any]:
        """Return what it took to show news of some trackers, by how many there was news of."""
        await self._begin()
        meter = Meter()
        found: dict[str, Any] = {burst.key: [] for burst in BURSTS} | {NOTHING: []}
        for _ in range(self._times):
            await self._rest()
            cost = await meter.measure(self._quiet)
            found[NOTHING].append(cost.cpu)
        for burst in BURSTS:
            struck = burst.struck(self._trackers)
            if struck is None:
                continue
            for _ in range(self._times):
                await self._rest()
                found[burst.key].append(asdict(await self._hear(meter, struck)))
        return found

    async def _idle(self) -> dict[str, Any]:
        """Return what an hour without news costs, and what polls cost that find none."""
        await self._begin()
        meter = Meter()
        found: dict[str, Any] = {"keep_alive": [], "ping": [], "polls": [], NOTHING: []}
        for _ in range(self._times):
            for sign in ("keep_alive", "ping"):
                await self._rest()
                cost = await meter.measure(partial(self._wait_for_an_hour, sign))
                found[sign].append(cost.cpu)
            await self._rest()
            cost = await meter.measure(partial(asyncio.sleep, _HOUR))
            found[NOTHING].append(cost.cpu)
            cost = await meter.measure(self._poll_ten_times)
            found["polls"].append(cost.cpu)
        return found

    async def _memory(self) -> dict[str, Any]:
        """Return the bytes that are held more once a candidate listens, which begins a while after set-up."""
        tracemalloc.start()
        await self._candidate.set_up(self._hass)
        await self._candidate.poll()
        before = await self._held()
        await self._until_connected()
        await self._rest()
        return {"bytes": await self._held() - before}

    async def _begin(self) -> None:
        await self._candidate.set_up(self._hass)
        await self._until_connected()
        gc.collect()

    async def _until_connected(self) -> None:
        patience = monotonic() + _LONGEST_WAIT
        while not self._service.do("sockets"):
            if monotonic() > patience:
                raise ListeningError("it does not connect")
            await asyncio.sleep(0.5)

    async def _rest(self) -> None:
        """Poll, so that no other poll comes for a minute, and wait until a second has passed without news."""
        await self._candidate.poll()
        await settle(self._hass, live=True)
        await asyncio.sleep(_QUIET)

    async def _quiet(self) -> None:
        await asyncio.sleep(_QUIET)

    async def _hear(self, meter: Meter, struck: int) -> Received:
        shown = Shown(self._hass, struck)
        self._service.do("tell", struck)
        cost = await meter.measure(shown.wait)
        seconds = shown.at - self._service.do("told_at") / 1e9
        return Received(
            seconds=seconds,
            cpu=cost.cpu,
            block=cost.block,
            busy=cost.busy,
            messages=2 * struck,
            changed=shown.changed,
        )

    async def _wait_for_an_hour(self, sign: str) -> None:
        """Have all signs of life of an hour come within seconds, each by itself."""
        self._service.do(sign, SIGNS_OF_AN_HOUR)
        await asyncio.sleep(_HOUR)

    async def _poll_ten_times(self) -> None:
        """Poll as far apart as signs of life come: work that follows at once would be cheaper."""
        for _ in range(IDLE_POLLS):
            await asyncio.sleep(APART)
            await self._candidate.poll()

    async def _held(self) -> int:
        await settle(self._hass, live=True)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]


def _is_elsewhere(before: State, now: State) -> bool:
    return before.attributes.get("latitude") != now.attributes.get("latitude")


class Shown:
    """Waits until something is shown of some trackers, and until nothing comes of it any more."""

    def __init__(
        self,
        hass: HomeAssistant,
        trackers: int,
        is_shown: Callable[[State, State], bool] = _is_elsewhere,
    ) -> None:
        """Wait for what a state shows and the one before did not: another place, or what is said."""
        self._is_shown = is_shown
        self.at = 0.0
        """When it was shown, by the monotonic clock."""
        self.changed = 0
        """`state_changed` events since."""
        self._hass = hass
        self._left = trackers
        self._done = asyncio.Event()

    async def wait(self) -> None:
        """Wait; raise ListeningError if it takes too long."""
        remove = self._hass.bus.async_listen(EVENT_STATE_CHANGED, self._note)
        try:
            async with asyncio.timeout(_LONGEST_WAIT):
                await self._done.wait()
            # What is put off for a moment counts as well.
            await asyncio.sleep(_QUIET)
        except TimeoutError:
            raise ListeningError(f"{self._left} trackers are not shown") from None
        finally:
            remove()

    @callback
    def _note(self, event: Event[EventStateChangedData]) -> None:
        self.changed += 1
        before, now = event.data["old_state"], event.data["new_state"]
        assert before is not None
        assert now is not None
        if self._is_shown(before, now):
            self._left -= 1
            if not self._left:
                self.at = monotonic()
                self._done.set()
