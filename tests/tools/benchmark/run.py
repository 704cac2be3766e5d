"""One candidate with one fleet, in a process of its own.

Usage: python -m tests.tools.benchmark.run KIND CANDIDATE TRACKERS TIMES; prints what was found out as JSON. KIND is time, count,
memory, everything, live or automations.
"""

import asyncio
from collections.abc import Awaitable, Callable
import gc
import json
from pathlib import Path
import sys
from tempfile import TemporaryDirectory
import tracemalloc
from typing import Any, Final

from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE
from homeassistant.core import HomeAssistant
from homeassistant.runner import create_event_loop

from . import automations, listening
from .bench import Bench
from .candidates import CANDIDATES, LISTENERS, Integration
from .counters import count, states
from .home import home, settle
from .meter import Meter
from .results import Found
from .scenarios import ALL_REPORTED, MEMORY, SCENARIOS, SET_UP, SET_UP_AGAIN, Scenario
from .service import Service

type Work = Callable[[], Awaitable[Any]]

_UNRECORDED = ("memory", "automations")


async def _time(bench: Bench) -> Found:
    """Return the costs of set-up, and of some polls of each kind."""
    meter = Meter()
    gc.collect()
    found: Found = {SET_UP: [await meter.measure(bench.set_up)]}
    for _ in range(bench.times):
        for scenario in SCENARIOS:
            await _prepare(bench, scenario)
            cost = await meter.measure(bench.candidate.poll)
            found.setdefault(scenario.key, []).append(cost)
    return found


async def _everything(bench: Bench) -> Found:
    """Return the costs of set-up, of polls in which all changed, and of set-ups after a restart."""
    candidate, meter = bench.candidate, Meter()
    assert isinstance(candidate, Integration)
    found: Found = {SET_UP: [await _cost(bench.hass, meter, bench.set_up)]}
    for _ in range(bench.times):
        await _prepare(bench, ALL_REPORTED)
        for work, do in (
            (ALL_REPORTED.key, candidate.poll),
            (None, candidate.unload),
            (SET_UP_AGAIN, candidate.set_up_again),
        ):
            cost = await _cost(bench.hass, meter, do)
            await settle(bench.hass)
            if work:
                found.setdefault(work, []).append(cost)
    return found


async def _cost(hass: HomeAssistant, meter: Meter, work: Work) -> dict[str, float]:
    """Return what it cost, also for each state that changed."""
    before = states(hass)
    gc.collect()
    cost = await meter.measure(work)
    changed = states(hass).items() - before.items()
    return cost | {"per_state": cost["cpu"] / max(len(changed), 1)}


async def _count(bench: Bench) -> Found:
    """Return the counts of set-up, and of one poll of each kind."""
    found: Found = {SET_UP: [await count(bench.hass, bench.service, bench.set_up)]}
    for scenario in SCENARIOS:
        await _prepare(bench, scenario)
        counts = await count(bench.hass, bench.service, bench.candidate.poll)
        found[scenario.key] = [counts]
    return found


async def _memory(bench: Bench) -> Found:
    """Return the bytes that are held after set-up and one poll of a fleet that reported.

    Without the recorder, whose caches come and go, and once Home Assistant has written its registries, for which it
    keeps the text of each entry: otherwise that would be in the figures of whoever takes longer.
    """
    gc.collect()
    tracemalloc.start()
    await bench.set_up()
    bench.service.do("report", bench.trackers)
    await bench.candidate.poll()
    bench.hass.bus.async_fire(EVENT_HOMEASSISTANT_FINAL_WRITE)
    await settle(bench.hass)
    gc.collect()
    return {MEMORY: [{"bytes": tracemalloc.get_traced_memory()[0]}]}


async def _prepare(bench: Bench, scenario: Scenario) -> None:
    scenario.prepare(bench.service, bench.trackers)
    if scenario.same_order:
        # The poll before must have seen that order.
        await bench.candidate.poll()
    await settle(bench.hass)


_KINDS: Final[dict[str, Callable[[Bench], Awaitable[Found]]]] = {
    "time": _time,
    "count": _count,
    "memory": _memory,
    "everything": _everything,
    "live": listening.measure,
    "automations": automations.measure,
}


async def _run(
    kind: str, candidate: str, trackers: int, times: int, folder: Path
) -> Found:
    _install(folder)
    made = (LISTENERS if kind == "live" else CANDIDATES)[candidate]
    with Service(trackers, everything=kind == "everything") as service:
        async with home(folder, recorder=kind not in _UNRECORDED) as hass:
            bench = Bench(hass, service, made(service.addresses), trackers, times)
            return await _KINDS[kind](bench)


def _install(folder: Path) -> None:
    """Let Home Assistant find the integration."""
    components = folder / "custom_components"
    components.mkdir()
    ours = Path(__file__).parents[3] / "custom_components" / "bike_tracker"
    (components / ours.name).symlink_to(ours)
    # Of this version some was imported already.
    for name in [name for name in sys.modules if name.startswith("custom_components")]:
        del sys.modules[name]
    # Home Assistant itself forgets the folder where another one of the name is in reach.
    sys.path.insert(0, str(folder))


def main() -> None:
    """Run what the command line says."""
    kind, candidate, trackers, times = sys.argv[1:]
    with (
        TemporaryDirectory(prefix="benchmark-") as folder,
        asyncio.Runner(loop_factory=create_event_loop) as runner,
    ):
        found = runner.run(
            _run(kind, candidate, int(trackers), int(times), Path(folder))
        )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
