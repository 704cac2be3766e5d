"""What guards cost: how soon one is triggered, and what they take of a report of a bike that is not guarded."""

from functools import partial
from importlib import import_module
from time import thread_time
from typing import Any
from unittest.mock import patch

from homeassistant.components.alarm_control_panel import AlarmControlPanelState
from homeassistant.const import Platform
from homeassistant.core import State
from homeassistant.helpers import entity_registry as er

from custom_components.bike_tracker import alarm_control_panel
from custom_components.bike_tracker.const import DOMAIN

from .listening import Listening, Shown
from .meter import Meter
from .scenarios import GUARDING, TRIGGERED, UNGUARDED
from .service.fleet import unique_id_of


class Guarding(Listening):
    """A candidate that listens, and bikes some of which are guarded."""

    _number = 0
    """How many reports were told, each of the next bike."""
    _seconds = 0.0
    """What guards took of them."""

    async def measure(self) -> dict[str, list[float]]:
        """Return seconds: until a guard was triggered; of a report, where all report, and of the guard's share of it."""
        found: dict[str, list[float]] = {TRIGGERED: [], UNGUARDED: [], GUARDING: []}
        await self._begin()
        # The one that Home Assistant loaded from its own folder.
        guard = import_module(alarm_control_panel.__name__).BikeTrackerGuard
        update = self._timed(guard._handle_coordinator_update)  # noqa: SLF001
        with patch.object(guard, "_handle_coordinator_update", update):
            meter = Meter()
            while len(found[TRIGGERED]) < self._times:
                await self._rest()
                cpu = (await meter.measure(self._quiet)).cpu
                await self._rest()
                self._seconds = 0
                shown = Shown(self._hass, self._trackers)
                report = await meter.measure(partial(self._tell, shown, self._trackers))
                found[UNGUARDED].append((report.cpu - cpu) / self._trackers)
                found[GUARDING].append(self._seconds / self._trackers)
                if self._will_move:
                    found[TRIGGERED].append(await self._steal())
        return found

    @property
    def _will_move(self) -> bool:
        """Return whether the next bike is going to say that it moves, as it did not before."""
        return self._number // self._trackers % 2 == 0

    async def _steal(self) -> float:
        """Return how long it takes until the next bike's guard is triggered."""
        number = self._number % self._trackers
        guard = er.async_get(self._hass).async_get_entity_id(
            Platform.ALARM_CONTROL_PANEL, DOMAIN, f"{unique_id_of(number)}_guard"
        )
        await self._call("alarm_arm_away", guard)
        await self._rest()
        shown = Shown(self._hass, 1, _is_triggered)
        await self._tell(shown)
        await self._call("alarm_disarm", guard)
        return shown.at - self._service.do("told_at") / 1e9

    async def _call(self, action: str, guard: str | None) -> None:
        await self._hass.services.async_call(
            Platform.ALARM_CONTROL_PANEL, action, {"entity_id": guard}, blocking=True
        )

    async def _tell(self, shown: Shown, trackers: int = 1) -> None:
        self._service.do("tell", trackers)
        self._number += trackers
        await shown.wait()

    def _timed(self, update: Any) -> Any:
        def timed(guard: alarm_control_panel.BikeTrackerGuard) -> None:
            began = thread_time()
            update(guard)
            self._seconds += thread_time() - began

        return timed


def _is_triggered(_before: State, now: State) -> bool:
    return now.state == AlarmControlPanelState.TRIGGERED
