"""Run one candidate with one fleet: its set-up and polls, live reports, or automations."""

import asyncio
from asyncio.events import Handle
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
import gc
from itertools import cycle, islice
from operator import attrgetter
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, thread_time
from typing import Any, Final
from unittest.mock import patch

from homeassistant.const import EVENT_STATE_CHANGED
from homeassistant.core import Event, EventStateChangedData, HomeAssistant, callback
from homeassistant.helpers.trigger import (
    async_initialize_triggers,
    async_validate_trigger_config,
)
from homeassistant.runner import create_event_loop

from custom_components.bike_tracker import dispatch
from custom_components.bike_tracker.const import DOMAIN
from tests.tools.story.listener import LABEL, label_bikes

from .candidates import Candidate, Integration, make
from .home import home, settle
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


async def _polls(bench: Bench) -> Found:
    """Return the costs of a set-up, polls, and set-ups after a restart."""
    found: Found = defaultdict(list)
    found[Work.SET_UP].append(await _cost(bench, bench.candidate.set_up))
    for _ in range(bench.times):
        for work in (Work.IDLE, Work.SOME, Work.CONTACT, Work.ALL):
            await _change(bench, work)
            found[work].append(await _cost(bench, bench.candidate.poll))
        if isinstance(bench.candidate, Integration):
            await bench.candidate.unload()
            await settle(bench.hass)
            found[Work.RESTART].append(await _cost(bench, bench.candidate.set_up))
    return found


async def _change(bench: Bench, work: Work) -> None:
    """Let trackers report or have contact, so that the next poll has to do this kind of work."""
    if reporting := work.reporting(bench.trackers):
        bench.service.do(Fleet.report, reporting)
    else:
        bench.service.do(Fleet.contact, bench.trackers)
    if work is Work.IDLE:
        # Home Assistant prepares a listener at its first call. Each tracker has just changed,
        # so this poll calls all listeners, and no measured poll has to prepare them.
        await bench.candidate.poll()
        bench.service.do(Fleet.keep_order)
        # The measured poll must receive the list in the same order as the poll before it.
        await bench.candidate.poll()
    await settle(bench.hass)


async def _cost(bench: Bench, act: Act) -> Figures:
    """Return the cost of a work, and the numbers of requests and of states that changed."""
    requests, states = await _known(bench)
    cost = await _cpu_of(act)
    requests_after, states_after = await _known(bench)
    changed = len(states_after - states)
    return cost | {"requests": requests_after - requests, "states": changed}


async def _known(bench: Bench) -> tuple[int, set[str]]:
    """Wait until all work is done. Return the number of requests so far, and all states with their attributes."""
    await settle(bench.hass)
    requests = bench.service.do(attrgetter("simulator.record.counts"))
    states = bench.hass.states.async_all()
    return requests.total(), {
        f"{it.entity_id} {it.state} {it.attributes}" for it in states
    }


async def _cpu_of(act: Act) -> dict[str, float]:
    """Do the work, and return its cost in seconds, without full garbage collections.

    `cpu` is the CPU time of the event loop's thread, and `busy` the CPU time of its longest
    step: the call of one `Handle`. Asyncio itself times these calls only in debug mode.
    """
    gc.collect()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, 1_000_000)
    run, began, busy = Handle._run, 0.0, 0.0  # noqa: SLF001

    def timed_run(handle: Handle) -> None:
        nonlocal began, busy
        began = thread_time()
        run(handle)
        busy = max(busy, thread_time() - began)

    with patch.object(Handle, "_run", timed_run):
        # Continue in a new step, so that `began` is the time of this line.
        await asyncio.sleep(0)
        before, busy = thread_time(), 0.0
        await act()
        now = thread_time()
    return {"cpu": now - before, "busy": max(busy, now - began)}


# Messages of the live connection


async def _live(bench: Bench) -> Found:
    """Return the costs of live reports: of one tracker, and of all. The cost of a quiet period is subtracted."""
    await bench.candidate.set_up()
    async with asyncio.timeout(_LONGEST_WAIT):
        while not bench.service.do(attrgetter("simulator.live.cookies")):
            await asyncio.sleep(0.5)
    quiet = []
    for _ in range(bench.times):
        await _rest(bench)
        quiet.append((await _cpu_of(partial(asyncio.sleep, _QUIET)))["cpu"])
    found: Found = defaultdict(list)
    for work, trackers in ((Work.MESSAGE, 1), (Work.MESSAGES, bench.trackers)):
        for _ in range(bench.times):
            figures = await _receive(bench, trackers)
            figures["cpu"] -= median(quiet)
            found[work].append(figures)
    return found


async def _rest(bench: Bench) -> None:
    """Poll now, so that no other poll comes within a minute. Wait until all work is done."""
    await bench.candidate.poll()
    await settle(bench.hass)
    await asyncio.sleep(_QUIET)


async def _receive(bench: Bench, trackers: int) -> Figures:
    """Return the cost of received reports, and the `seconds` until the last tracker shows its new place."""
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
        # Work that begins after the last place is shown belongs to the cost, too.
        await asyncio.sleep(_QUIET)

    stop = bench.hass.bus.async_listen(EVENT_STATE_CHANGED, note)
    bench.service.do(Fleet.report_soon, trackers)
    figures = await _cost(bench, wait)
    stop()
    return figures | {
        "seconds": shown.result() - bench.service.do(attrgetter("reported_at"))
    }


# Triggers of automations


async def _automations(bench: Bench) -> Found:
    """Return the cost of triggers on all trackers, for a poll in which one tracker reports."""
    hass = bench.hass
    await bench.candidate.set_up()
    label_bikes(hass)
    kinds = islice(cycle(_TRIGGERS), TRIGGERS)
    of_all = {"target": {"label_id": [LABEL]}}
    triggers = await async_validate_trigger_config(
        hass, [{"platform": f"{DOMAIN}.{kind}", **of_all} for kind in kinds]
    )
    # Only the triggers are measured, so the action of the automations does nothing.
    action = callback(lambda *_: None)
    await async_initialize_triggers(
        hass, triggers, action, DOMAIN, "Bikes", lambda *_: None
    )
    send, seconds = dispatch.async_dispatcher_send, 0.0

    def timed(hass: HomeAssistant, signal: Any, *values: object) -> None:
        nonlocal seconds
        began = thread_time()
        send(hass, signal, *values)
        # Triggers listen to these two signals.
        if signal in {dispatch.SIGNAL_OCCURRED, dispatch.SIGNAL_UPDATED}:
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


_KINDS: Final = {
    "polls": _polls,
    "everything": _polls,
    "live": _live,
    "automations": _automations,
}


def measure(kind: str, candidate: str, trackers: int, times: int) -> Found:
    """Return the costs for a `kind`: polls, everything (polls, with all fields reported), live or automations."""
    live = kind == "live"

    async def run() -> Found:
        service = Service(trackers, everything=kind == "everything", live=live)
        with closing(service), TemporaryDirectory(prefix="benchmark-") as folder:
            async with home(Path(folder)) as hass:
                made = make(candidate, hass, service, live=live)
                return await _KINDS[kind](Bench(hass, service, made, trackers, times))

    with asyncio.Runner(loop_factory=create_event_loop) as runner:
        return runner.run(run())
