"""One candidate with one fleet, in a process of its own.

Usage: python -m tests.tools.benchmark.run KIND CANDIDATE TRACKERS TIMES; prints the results as JSON. KIND is polls,
count, everything, live or automations.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
import gc
from importlib import import_module
from itertools import cycle, islice
import json
from pathlib import Path
from statistics import median
import sys
from tempfile import TemporaryDirectory
from time import monotonic, thread_time
from typing import Any, Final
from unittest.mock import patch

from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import (
    Context,
    Event,
    EventStateChangedData,
    HomeAssistant,
    callback,
)
from homeassistant.helpers import area_registry as ar, device_registry as dr
from homeassistant.helpers.trigger import (
    async_initialize_triggers,
    async_validate_trigger_config,
)
from homeassistant.runner import create_event_loop

from custom_components.bike_tracker import dispatch
from custom_components.bike_tracker.const import DOMAIN

from .candidates import CANDIDATES, Candidate, Integration
from .home import home, settle
from .meter import Meter
from .plan import POLLS, TRIGGERS, Found, Work
from .service import Service

type Act = Callable[[], Awaitable[Any]]

# Longer than the delay of anything that a message causes.
_QUIET: Final = 1.2
_LONGEST_WAIT: Final = 40
_TRIGGERS: Final = (
    *("alarm_raised", "became_silent", "came_online", "ride_ended"),
    *("ride_started", "started_moving", "stopped_moving", "went_offline"),
)
_SIGNALS: Final = {dispatch.SIGNAL_OCCURRED, dispatch.SIGNAL_UPDATED}
"""Signals that triggers listen to."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A Home Assistant, a service and a candidate that is not set up yet."""

    hass: HomeAssistant
    service: Service
    candidate: Candidate
    trackers: int
    times: int
    """How often each work is done."""

    async def set_up(self) -> None:
        """Show the fleet for the first time."""
        await self.candidate.set_up(self.hass)


# Set-ups and polls


async def _polls(bench: Bench, *, counting: bool = False) -> Found:
    """Return the costs, or the counts, of set-up, polls and set-ups after a restart."""
    found: Found = defaultdict(list)
    meter = Meter()

    async def do(work: Work, act: Act) -> None:
        measured = _count(bench, act) if counting else _cost(bench.hass, meter, act)
        found[work].append(await measured)

    await do(Work.SET_UP, bench.set_up)
    for _ in range(bench.times):
        for work in POLLS:
            await _change(bench, work)
            await do(work, bench.candidate.poll)
        if isinstance(bench.candidate, Integration):
            await bench.candidate.unload()
            await settle(bench.hass, live=True)
            await do(Work.RESTART, bench.candidate.set_up_again)
    return found


async def _change(bench: Bench, work: Work) -> None:
    """Change the fleet before a poll."""
    match work:
        case Work.IDLE:
            # Home Assistant prepares a listener at its first call: reach all trackers.
            bench.service.do("contact", bench.trackers)
            await bench.candidate.poll()
            bench.service.do("keep_order")
            # The poll before must have seen that order.
            await bench.candidate.poll()
        case Work.CONTACT:
            bench.service.do("contact", bench.trackers)
        case _:
            bench.service.do("report", work.reporting(bench.trackers))
    await settle(bench.hass, live=True)


async def _count(bench: Bench, act: Act) -> dict[str, float]:
    """Return the numbers of requests and of changed states. Counting costs time, so this takes none."""
    changed = 0

    @callback
    def note(_: Event[EventStateChangedData]) -> None:
        nonlocal changed
        changed += 1

    before = bench.service.do("requests")
    stop = bench.hass.bus.async_listen(EVENT_STATE_CHANGED, note)
    await act()
    await settle(bench.hass)
    stop()
    return {"requests": bench.service.do("requests") - before, "changed": changed}


async def _cost(hass: HomeAssistant, meter: Meter, act: Act) -> dict[str, float]:
    """Return the cost, and the number of states that changed."""
    before = _states(hass)
    gc.collect()
    cost = await meter.measure(act)
    await settle(hass, live=True)
    return cost | {"states": len(_states(hass) - before)}


def _states(hass: HomeAssistant) -> set[str]:
    return {
        f"{state.entity_id} {state.state} {state.attributes}"
        for state in hass.states.async_all()
    }


# Messages of the live connection


async def _live(bench: Bench) -> Found:
    """Return the costs of one report and of reports of all trackers.

    `seconds` is the time from the first message until the last tracker is shown at its new place.
    """
    await bench.set_up()
    async with asyncio.timeout(_LONGEST_WAIT):
        while not bench.service.do("sockets"):
            await asyncio.sleep(0.5)
    meter = Meter()
    quiet = []
    for _ in range(bench.times):
        await _rest(bench)
        quiet.append((await meter.measure(partial(asyncio.sleep, _QUIET)))["cpu"])
    works = {Work.MESSAGE: 1, Work.MESSAGES: bench.trackers}
    return {
        work: [
            await _receive(bench, meter, reporting, median(quiet))
            for _ in range(bench.times)
        ]
        for work, reporting in works.items()
    }


async def _rest(bench: Bench) -> None:
    """Poll, so that no other poll comes for a minute, and wait until all work is done."""
    await bench.candidate.poll()
    await settle(bench.hass, live=True)
    await asyncio.sleep(_QUIET)


async def _receive(
    bench: Bench, meter: Meter, reporting: int, quiet: float
) -> dict[str, float]:
    await _rest(bench)
    shown = _Shown(bench.hass, reporting)
    bench.service.do("report_soon", reporting)
    cost = await _cost(bench.hass, meter, shown.wait)
    seconds = shown.at - bench.service.do("reported_at") / 1e9
    return cost | {"cpu": cost["cpu"] - quiet, "seconds": seconds}


class _Shown:
    """Waits until some trackers are shown at another place."""

    def __init__(self, hass: HomeAssistant, trackers: int) -> None:
        self.at = 0.0
        """When the last tracker was shown, by the monotonic clock."""
        self._hass = hass
        self._left = trackers
        self._done = asyncio.Event()

    async def wait(self) -> None:
        """Wait; raise TimeoutError after too long."""
        remove = self._hass.bus.async_listen(EVENT_STATE_CHANGED, self._note)
        try:
            async with asyncio.timeout(_LONGEST_WAIT):
                await self._done.wait()
            # Delayed work counts as well.
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


# Triggers of automations


@callback
def _run_nothing(_variables: dict[str, Any], _context: Context | None = None) -> None:
    """Do nothing: the cost of actions is not ours."""


async def _automations(bench: Bench) -> Found:
    """Return the costs of triggers on all trackers in polls with one report."""
    hass = bench.hass
    await bench.set_up()
    devices = dr.async_get(hass)
    area = ar.async_get(hass).async_create("Shed")
    for device in list(devices.devices):
        devices.async_update_device(device.id, area_id=area.id)
    for kind in islice(cycle(_TRIGGERS), TRIGGERS):
        config = {"platform": f"{DOMAIN}.{kind}", "target": {"area_id": [area.id]}}
        validated = await async_validate_trigger_config(hass, [config])
        await async_initialize_triggers(
            hass, validated, _run_nothing, DOMAIN, kind, lambda *_: None
        )
    # The module that Home Assistant loaded from its own folder.
    ours = import_module(dispatch.__name__)
    send, seconds = ours.async_dispatcher_send, 0.0

    def timed(hass: HomeAssistant, signal: Any, *values: object) -> None:
        nonlocal seconds
        began = thread_time()
        send(hass, signal, *values)
        if signal in _SIGNALS:
            seconds += thread_time() - began

    found = []
    with patch.object(ours, "async_dispatcher_send", timed):
        for _ in range(bench.times):
            bench.service.do("report", 1)
            seconds = 0.0
            await bench.candidate.poll()
            await settle(hass)
            found.append({"cpu": seconds})
    return {Work.TRIGGERS: found}


_KINDS: Final[dict[str, Callable[[Bench], Awaitable[Found]]]] = {
    "polls": _polls,
    "count": partial(_polls, counting=True),
    "everything": _polls,
    "live": _live,
    "automations": _automations,
}


async def _run(
    kind: str, candidate: str, trackers: int, times: int, folder: Path
) -> Found:
    _install(folder)
    is_live = kind == "live"
    with Service(trackers, everything=kind == "everything", live=is_live) as service:
        made = CANDIDATES[candidate](service.addresses, live=is_live)
        async with home(folder, recorder=kind != "automations") as hass:
            return await _KINDS[kind](Bench(hass, service, made, trackers, times))


def _install(folder: Path) -> None:
    """Let Home Assistant find the integration."""
    components = folder / "custom_components"
    components.mkdir()
    ours = Path(__file__).parents[3] / "custom_components" / "bike_tracker"
    (components / ours.name).symlink_to(ours)
    # Some of its modules were imported above.
    for name in [name for name in sys.modules if name.startswith("custom_components")]:
        del sys.modules[name]
    # Home Assistant removes its folder from the path if another folder has the same name.
    sys.path.insert(0, str(folder))


def main(arguments: Iterable[str]) -> None:
    """Run the work of the command line."""
    kind, candidate, trackers, times = arguments
    with (
        TemporaryDirectory(prefix="benchmark-") as folder,
        asyncio.Runner(loop_factory=create_event_loop) as runner,
    ):
        found = runner.run(
            _run(kind, candidate, int(trackers), int(times), Path(folder))
        )
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
