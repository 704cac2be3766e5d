"""One candidate with one fleet, in a process of its own.

Usage: python -m tests.tools.benchmark.run KIND CANDIDATE TRACKERS [POLLS]; prints what was found out as JSON. KIND is time, count,
memory, profile, limit, or, with trackers that report all there is, full or full_unrecorded; of candidates that listen it is
live, idle or live_memory, or guard of this one alone; without a candidate at work it is reports; with as many triggers instead of POLLS it is automations.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
import cProfile
from dataclasses import asdict
import gc
import json
import os
from pathlib import Path
import pstats
import sys
from tempfile import TemporaryDirectory
import tracemalloc
from typing import Any

from homeassistant.const import EVENT_HOMEASSISTANT_FINAL_WRITE, Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from homeassistant.runner import create_event_loop

from .automations import Automations
from .candidates import CANDIDATES, LISTENERS, Candidate, Integration
from .counters import Counts, count, states
from .guarding import Guarding
from .home import home, settle
from .listening import Listening
from .meter import Meter
from .plan import (
    AUTOMATIONS,
    FOLDER,
    GUARD,
    IDLE,
    LIVE_KINDS,
    RECORDED,
    REPORTS,
    UNRECORDED,
)
from .reports import measure
from .results import FullCost
from .scenarios import ALL_REPORTED, SCENARIOS, SET_UP, SET_UP_AGAIN, Scenario
from .service import Service

type Found = dict[str, Any]

_UNRECORDED = ("memory", "live_memory", "profile", UNRECORDED, AUTOMATIONS)


class Run:
    """A Home Assistant, a service and a candidate that is not set up yet."""

    def __init__(
        self,
        hass: HomeAssistant,
        service: Service,
        candidate: Candidate,
        trackers: int,
        polls: int,
    ) -> None:
        """Take part in this run."""
        self._hass = hass
        self._service = service
        self._candidate = candidate
        self._trackers = trackers
        self._polls = polls

    async def time(self) -> Found:
        """Return the costs of set-up, and of some polls of each kind."""
        meter = Meter()
        found: Found = {scenario.key: [] for scenario in SCENARIOS}
        gc.collect()
        found[SET_UP] = [asdict(await meter.measure(self._set_up))]
        for _ in range(self._polls):
            for scenario in SCENARIOS:
                await self._prepare(scenario)
                found[scenario.key].append(
                    asdict(await meter.measure(self._candidate.poll))
                )
        return found

    async def full(self) -> Found:
        """Return the costs of set-up, of polls in which all changed, and of set-ups after a restart."""
        candidate = self._candidate
        if not isinstance(candidate, Integration):
            raise TypeError(f"{candidate} is no integration")
        meter = Meter()
        set_up = await self._full_cost(meter, self._set_up)
        polls, again = [], []
        for _ in range(self._polls):
            await self._prepare(ALL_REPORTED)
            polls.append(await self._full_cost(meter, candidate.poll))
        for _ in range(self._polls):
            await candidate.unload()
            await settle(self._hass)
            again.append(await self._full_cost(meter, candidate.set_up_again))
        return {SET_UP: [set_up], ALL_REPORTED.key: polls, SET_UP_AGAIN: again}

    async def count(self) -> Found:
        """Return the counts of set-up, and of one poll of each kind."""
        found: Found = {SET_UP: asdict(await self._count(self._set_up))}
        for scenario in SCENARIOS:
            await self._prepare(scenario)
            found[scenario.key] = asdict(await self._count(self._candidate.poll))
        return found

    async def memory(self) -> Found:
        """Return the bytes that are held after set-up and one poll of a fleet that reported.

        Without the recorder, whose caches come and go, and once Home Assistant has written its registries, for which it
        keeps the text of each entry: otherwise that would be in the figures of whoever takes longer.
        """
        gc.collect()
        tracemalloc.start()
        await self._set_up()
        self._service.do("report", self._trackers)
        await self._candidate.poll()
        self._hass.bus.async_fire(EVENT_HOMEASSISTANT_FINAL_WRITE)
        await settle(self._hass)
        gc.collect()
        return {"bytes": tracemalloc.get_traced_memory()[0]}

    async def profile(self) -> Found:
        """Return where a poll spends its time in which all changed: milliseconds by part.

        Without the recorder, whose thread would be in it, and without garbage collections, which would be in any part.
        """
        await self._set_up()
        gc.disable()
        profiler = cProfile.Profile()
        for _ in range(self._polls):
            await self._prepare(ALL_REPORTED)
            profiler.enable()
            await self._candidate.poll()
            profiler.disable()
        parts: Counter[str] = Counter()
        for (path, _line, function), row in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
            if (part := _part(path, function)) is not None:
                parts[part] += row[2] * 1000 / self._polls
        return dict(parts)

    async def limit(self) -> Found:
        """Return what becomes of an account with more trackers than Home Assistant can show."""
        await self._set_up()
        issues = ir.async_get(self._hass).issues.values()
        left_out = [
            int(placeholders["left_out"])
            for issue in issues
            if (placeholders := issue.translation_placeholders)
            and issue.translation_key == "too_many_trackers"
        ]
        await self._prepare(ALL_REPORTED)
        counts = await self._count(self._candidate.poll)
        return {
            "shown": len(self._hass.states.async_entity_ids(Platform.DEVICE_TRACKER)),
            "left_out": sum(left_out),
            "changed": counts.changed,
        }

    async def _full_cost(
        self, meter: Meter, work: Callable[[], Awaitable[Any]]
    ) -> Found:
        before = states(self._hass)
        gc.collect()
        cost = await meter.measure(work)
        changed = states(self._hass).items() - before.items()
        return asdict(FullCost(cost.cpu, cost.busy, len(changed)))

    async def _set_up(self) -> None:
        await self._candidate.set_up(self._hass)

    async def _prepare(self, scenario: Scenario) -> None:
        scenario.prepare(self._service, self._trackers)
        if scenario.same_order:
            # The poll before must have seen that order.
            await self._candidate.poll()
        await settle(self._hass)

    async def _count(self, work: Callable[[], Awaitable[Any]]) -> Counts:
        return await count(self._hass, self._service, work)


async def _run(
    kind: str, candidate: str, trackers: int, polls: int, folder: Path
) -> Found:
    _install(folder)
    timed = kind == GUARD
    full, short = timed or kind in (RECORDED, UNRECORDED), kind == IDLE
    with Service(trackers, full=full, short=short, timed=timed) as service:
        async with home(folder, recorder=kind not in _UNRECORDED) as hass:
            if kind in LIVE_KINDS:
                made = LISTENERS[candidate](service.addresses)
                listening = Listening(hass, service, made, trackers, polls)
                return await listening.do(kind)
            if kind == GUARD:
                made = LISTENERS[candidate](service.addresses)
                return await Guarding(hass, service, made, trackers, polls).measure()
            made = CANDIDATES[candidate](service.addresses)
            if kind == AUTOMATIONS:
                triggers = Automations(hass, service, made, trackers, polls)
                return await triggers.measure()
            run = Run(hass, service, made, trackers, polls)
            kinds = {
                "time": run.time,
                "count": run.count,
                "memory": run.memory,
                "limit": run.limit,
                "profile": run.profile,
                RECORDED: run.full,
                UNRECORDED: run.full,
            }
            return await kinds[kind]()


def _part(path: str, function: str) -> str | None:
    """Return what a function is part of, or None for waiting."""
    if function.startswith("<method 'poll'") or "SimpleQueue" in function:
        return None
    if "/custom_components/" in path:
        return path.partition("/custom_components/")[2].partition("/")[2]
    for package in ("homeassistant", "aiohttp", "asyncio"):
        if f"/{package}/" in path:
            return package
    return "built-in functions and others"


def _install(folder: Path) -> None:
    """Let Home Assistant find the integrations that do not ship with it."""
    components = folder / "custom_components"
    components.mkdir()
    here = Path(__file__).parent
    ours = Path(os.environ.get(FOLDER, here.parents[2]))
    for path in (here / "usual_way", ours / "custom_components" / "bike_tracker"):
        (components / path.name).symlink_to(path)
    # Of this version some was imported already, to measure it without Home Assistant.
    for name in [name for name in sys.modules if name.startswith("custom_components")]:
        del sys.modules[name]
    # Home Assistant itself forgets the folder where another one of the name is in reach.
    sys.path.insert(0, str(folder))


def main() -> None:
    """Run what the command line says."""
    kind, candidate, trackers, *polls = sys.argv[1:]
    known = LISTENERS if kind in LIVE_KINDS else CANDIDATES
    if candidate not in known:
        sys.exit(f"{candidate} is none of {', '.join(known)}")
    if kind == REPORTS:
        print(json.dumps(measure(int(trackers))))
        return
    with (
        TemporaryDirectory(prefix="benchmark-") as folder,
        asyncio.Runner(loop_factory=create_event_loop) as runner,
    ):
        found = runner.run(
            _run(
                kind,
                candidate,
                int(trackers),
                int(polls[0]) if polls else 1,
                Path(folder),
            )
        )
    print(json.dumps(found))


if __name__ == "__main__":
    main()
