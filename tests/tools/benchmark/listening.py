"""What messages of the live connection cost, and how soon they are shown."""

import asyncio
from functools import partial
import gc
from statistics import median
from time import monotonic

from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import Event, EventStateChangedData, HomeAssistant, callback

from .bench import Bench
from .home import settle
from .meter import Meter
from .results import Found
from .scenarios import ALL, ONE

# Longer than anything is put off that a message makes.
_QUIET = 1.2
_LONGEST_WAIT = 40


async def measure(bench: Bench) -> Found:
    """Return what it takes to show reports of one tracker and of all.

    `cpu` is for each message, of which a report makes two, without what a quiet moment costs; `seconds` go from the
    first message until the last tracker is shown at its new place.
    """
    await bench.set_up()
    await _until_connected(bench)
    gc.collect()
    meter = Meter()
    quiet = []
    for _ in range(bench.times):
        await _rest(bench)
        quiet.append((await meter.measure(partial(asyncio.sleep, _QUIET)))["cpu"])
    return {
        work: [
            await _receive(bench, meter, reporting, median(quiet))
            for _ in range(bench.times)
        ]
        for work, reporting in {ONE: 1, ALL: bench.trackers}.items()
    }


async def _until_connected(bench: Bench) -> None:
    async with asyncio.timeout(_LONGEST_WAIT):
        while not bench.service.do("sockets"):
            await asyncio.sleep(0.5)


async def _rest(bench: Bench) -> None:
    """Poll, so that no other poll comes for a minute, and wait until all is done."""
    await bench.candidate.poll()
    await settle(bench.hass, live=True)
    await asyncio.sleep(_QUIET)


async def _receive(
    bench: Bench, meter: Meter, reporting: int, quiet: float
) -> dict[str, float]:
    await _rest(bench)
    shown = _Shown(bench.hass, reporting)
    bench.service.do("report_soon", reporting)
    cost = await meter.measure(shown.wait)
    return cost | {
        "cpu": (cost["cpu"] - quiet) / (2 * reporting),
        "seconds": shown.at - bench.service.do("reported_at") / 1e9,
    }


class _Shown:
    """Waits until some trackers are shown elsewhere, and until nothing comes of it any more."""

    def __init__(self, hass: HomeAssistant, trackers: int) -> None:
        self.at = 0.0
        """When it was shown, by the monotonic clock."""
        self._hass = hass
        self._left = trackers
        self._done = asyncio.Event()

    async def wait(self) -> None:
        """Wait; raise TimeoutError if it takes too long."""
        remove = self._hass.bus.async_listen(EVENT_STATE_CHANGED, self._note)
        try:
            async with asyncio.timeout(_LONGEST_WAIT):
                await self._done.wait()
            # What is put off for a moment counts as well.
            await asyncio.sleep(_QUIET)
        finally:
            remove()

    @callback
    def _note(self, event: Event[EventStateChangedData]) -> None:
        before, now = event.data["old_state"], event.data["new_state"]
        assert before is not None
        assert now is not None
        if before.attributes.get("latitude") != now.attributes.get("latitude"):
            self._left -= 1
            if not self._left:
                self.at = monotonic()
                self._done.set()
