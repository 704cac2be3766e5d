"""Run one candidate with one fleet, in its own process.

Usage: python -m tests.tools.benchmark.run KIND CANDIDATE TRACKERS TIMES. It prints the
results as JSON. KIND is polls, count, everything, live or automations.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
import gc
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
from pytest_homeassistant_custom_component.common import async_capture_events

from custom_components.bike_tracker import dispatch
from custom_components.bike_tracker.const import DOMAIN

from .candidates import Candidate, Integration, make
from .home import home, settle
from .meter import Meter
from .plan import TRIGGERS, Figures, Found, Work
from .service import Fleet, Service

type Act = Callable[[], Awaitable[Any]]

# Seconds. All work that a message causes begins within this time.
_QUIET: Final = 1.2
_LONGEST_WAIT: Final = 40
_TRIGGERS: Final = (
    *("alarm_raised", "became_silent", "came_online", "ride_ended"),
    *("ride_started", "started_moving", "stopped_moving", "went_offline"),
)
_SIGNALS: Final = {dispatch.SIGNAL_OCCURRED, dispatch.SIGNAL_UPDATED}
"""The signals to which triggers listen."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A Home Assistant, a service, and a candidate that is not set up yet."""

    hass: HomeAssistant
    service: Service
    candidate: Candidate
    trackers: int
    times: int
    """How often each work is repeated."""


# Set-ups and polls


async def _polls(bench: Bench, *, counting: bool = False) -> Found:
    """Return the costs of a set-up, polls, and set-ups after a restart. If `counting`, return counts, not costs."""
    found: Found = defaultdict(list)
    measure = partial(_count, bench) if counting else partial(_cost, bench, Meter())
    found[Work.SET_UP].append(await measure(bench.candidate.set_up))
    for _ in range(bench.times):
        for work in (Work.IDLE, Work.SOME, Work.CONTACT, Work.ALL):
            await _change(bench, work)
            found[work].append(await measure(bench.candidate.poll))
        if isinstance(bench.candidate, Integration):
            await bench.candidate.unload()
            await settle(bench.hass, live=True)
            found[Work.RESTART].append(await measure(bench.candidate.set_up))
    return found


async def _change(bench: Bench, work: Work) -> None:
    """Change the fleet, as the work of the next poll requires."""
    if reporting := work.reporting(bench.trackers):
        bench.service.do(Fleet.report, reporting)
    else:
        bench.service.do(Fleet.contact, bench.trackers)
    if work is Work.IDLE:
        # Home Assistant prepares a listener when it is first called, so each tracker
        # must change once before the measurement.
        await bench.candidate.poll()
        bench.service.do(Fleet.keep_order)
        # The list of the measured poll must have the same order as the list before it,
        # so poll the ordered list now.
        await bench.candidate.poll()
    await settle(bench.hass, live=True)


async def _count(bench: Bench, act: Act) -> Figures:
    """Return the number of requests and of states that changed. No time is measured, because counting costs time."""
    before = bench.service.do(Fleet.requests)
    changes = async_capture_events(bench.hass, EVENT_STATE_CHANGED)
    await act()
    await settle(bench.hass)
    requests = bench.service.do(Fleet.requests) - before
    return {"requests": requests, "changed": len(changes)}


async def _cost(bench: Bench, meter: Meter, act: Act) -> Figures:
    """Return the cost of a work, and the number of states that changed."""
    before = _states(bench.hass)
    gc.collect()
    cost = await meter.measure(act)
    await settle(bench.hass, live=True)
    return cost | {"states": len(_states(bench.hass) - before)}


def _states(hass: HomeAssistant) -> set[str]:
    return {
        f"{state.entity_id} {state.state} {state.attributes}"
        for state in hass.states.async_all()
    }


# Messages of the live connection


async def _live(bench: Bench) -> Found:
    """Return the costs of live reports: of one tracker, and of all. The cost of a quiet period is subtracted."""
    await bench.candidate.set_up()
    async with asyncio.timeout(_LONGEST_WAIT):
        while not bench.service.do(Fleet.sockets):
            await asyncio.sleep(0.5)
    meter = Meter()
    quiet = []
    for _ in range(bench.times):
        await _rest(bench)
        quiet.append((await meter.measure(partial(asyncio.sleep, _QUIET)))["cpu"])
    found: Found = defaultdict(list)
    for work, trackers in ((Work.MESSAGE, 1), (Work.MESSAGES, bench.trackers)):
        for _ in range(bench.times):
            figures = await _receive(bench, meter, trackers)
            figures["cpu"] -= median(quiet)
            found[work].append(figures)
    return found


async def _rest(bench: Bench) -> None:
    """Poll now, so that no other poll comes within a minute. Wait until all work is done."""
    await bench.candidate.poll()
    await settle(bench.hass, live=True)
    await asyncio.sleep(_QUIET)


async def _receive(bench: Bench, meter: Meter, trackers: int) -> Figures:
    """Return the cost of received reports.

    `seconds` is the time from the first message until the last tracker shows its new
    place.
    """
    await _rest(bench)
    left, shown = trackers, bench.hass.loop.create_future()

    @callback
    def note(event: Event[EventStateChangedData]) -> None:
        nonlocal left
        before, now = event.data["old_state"], event.data["new_state"]
        assert before
        assert now
        left -= before.attributes.get("latitude") != now.attributes.get("latitude")
        if not left and not shown.done():
            shown.set_result(monotonic())

    async def wait() -> None:
        async with asyncio.timeout(_LONGEST_WAIT):
            await shown
        # Wait for work that begins after the last place is shown: it belongs to the
        # cost.
        await asyncio.sleep(_QUIET)

    stop = bench.hass.bus.async_listen(EVENT_STATE_CHANGED, note)
    bench.service.do(Fleet.report_soon, trackers)
    figures = await _cost(bench, meter, wait)
    stop()
    return figures | {"seconds": shown.result() - bench.service.do(Fleet.reported_at)}


# Triggers of automations


@callback
def _run_nothing(_variables: dict[str, Any], _context: Context | None = None) -> None:
    """The action of the automations. It does nothing, so that only the trigger is measured."""


async def _automations(bench: Bench) -> Found:
    """Return the cost of triggers on all trackers, for a poll in which one tracker reports."""
    hass = bench.hass
    await bench.candidate.set_up()
    devices = dr.async_get(hass)
    area = ar.async_get(hass).async_create("Shed")
    for device in list(devices.devices):
        devices.async_update_device(device.id, area_id=area.id)
    target = {"area_id": [area.id]}
    kinds = (f"{DOMAIN}.{it}" for it in islice(cycle(_TRIGGERS), TRIGGERS))
    triggers = await async_validate_trigger_config(
        hass, [{"platform": kind, "target": target} for kind in kinds]
    )
    await async_initialize_triggers(
        hass, triggers, _run_nothing, DOMAIN, "Bikes", lambda *_: None
    )
    send, seconds = dispatch.async_dispatcher_send, 0.0

    def timed(hass: HomeAssistant, signal: Any, *values: object) -> None:
        nonlocal seconds
        began = thread_time()
        send(hass, signal, *values)
        if signal in _SIGNALS:
            seconds += thread_time() - began

    found = []
    with patch.object(dispatch, "async_dispatcher_send", timed):
        for _ in range(bench.times):
            bench.service.do(Fleet.report, 1)
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


async def _run(kind: str, candidate: str, trackers: int, times: int) -> Found:
    live = kind == "live"
    service = Service(trackers, everything=kind == "everything", live=live)
    with closing(service), TemporaryDirectory(prefix="benchmark-") as folder:
        async with home(Path(folder)) as hass:
            made = make(candidate, hass, service, live=live)
            return await _KINDS[kind](Bench(hass, service, made, trackers, times))


if __name__ == "__main__":
    kind, candidate, trackers, times = sys.argv[1:]
    with asyncio.Runner(loop_factory=create_event_loop) as runner:
        found = runner.run(_run(kind, candidate, int(trackers), int(times)))
    print(json.dumps(found))
