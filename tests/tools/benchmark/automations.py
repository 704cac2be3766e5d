"""What triggers of automations cost, whatever they watch: with each message, each poll and each change of the registries."""

import asyncio
from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import cycle, islice
from time import thread_time
from typing import Any, Final
from unittest.mock import patch

from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import area_registry as ar, device_registry as dr
from homeassistant.helpers.trigger import (
    async_initialize_triggers,
    async_validate_trigger_config,
)

from custom_components.bike_tracker import coordinator
from custom_components.bike_tracker.const import DOMAIN

from .candidates import Candidate
from .home import settle
from .meter import Meter
from .service import Service

FEW: Final = (10, 1_000)
MANY: Final = (200, 300)
"""Triggers, and trackers that each of them watches."""
TIMES: Final = 10
"""How often each kind of work is timed."""

ONE: Final = "one"
IDLE: Final = "idle"
ALL: Final = "all"
REGISTRY: Final = "registry"

TITLES: Final = {
    ONE: "one tracker reports, live or in a poll",
    IDLE: "an idle poll",
    ALL: "all trackers report at once",
    REGISTRY: "a tracker moves to another area and back",
}
"""Of all kinds of work, as people read them."""

_KINDS: Final = (
    *("alarm_raised", "became_silent", "came_online", "ride_ended"),
    *("ride_started", "started_moving", "stopped_moving", "went_offline"),
)
_SIGNALS: Final = {coordinator.SIGNAL_OCCURRED, coordinator.SIGNAL_UPDATED}
"""What triggers listen to."""
_FOLLOWED_AFTER: Final = 1.5


@callback
def _run(_variables: dict[str, Any], _context: Context | None = None) -> None:
    """Do nothing: what an automation does costs what it costs."""


class Automations:
    """So many triggers, each of which watches an area with all trackers."""

    def __init__(
        self,
        hass: HomeAssistant,
        service: Service,
        candidate: Candidate,
        trackers: int,
        triggers: int,
    ) -> None:
        """Begin with none listening."""
        self._hass = hass
        self._service = service
        self._candidate = candidate
        self._trackers = trackers
        self._triggers = triggers
        self._seconds = 0.0

    async def measure(self) -> dict[str, Any]:
        """Return the seconds of the event loop's thread that each kind of work takes: the least of all times."""
        await self._candidate.set_up(self._hass)
        areas = ar.async_get(self._hass)
        area, other = areas.async_create("Shed"), areas.async_create("Elsewhere")
        devices = [device.id for device in dr.async_get(self._hass).devices]
        for device_id in devices:
            self._put(device_id, area.id)
        await self._listen(area.id)
        await asyncio.sleep(_FOLLOWED_AFTER)
        # The one that Home Assistant loaded from its own folder.
        ours = import_module(coordinator.__name__)
        send = self._timed(ours.async_dispatcher_send)
        with patch.object(ours, "async_dispatcher_send", send):
            found = {
                ONE: await self._poll("report", 1),
                IDLE: await self._poll("shuffle", 0),
                ALL: await self._poll("report", self._trackers),
            }
        meter = Meter()
        moved = await meter.measure(partial(self._move, devices[0], other.id, area.id))
        nothing = await meter.measure(partial(asyncio.sleep, 2 * _FOLLOWED_AFTER))
        found[REGISTRY] = max(moved.cpu - nothing.cpu, 0.0)
        return {"triggers": self._triggers, "seconds": found}

    async def _listen(self, area_id: str) -> None:
        for kind in islice(cycle(_KINDS), self._triggers):
            config = {
                "platform": f"{DOMAIN}.{kind}",
                "target": {"area_id": [area_id]},
            }
            await async_initialize_triggers(
                self._hass,
                await async_validate_trigger_config(self._hass, [config]),
                _run,
                DOMAIN,
                kind,
                lambda *_: None,
            )

    async def _poll(self, command: str, trackers: int) -> float:
        """Return the least that triggers took of a poll after this."""
        seconds = []
        for _ in range(TIMES):
            self._service.do(command, trackers)
            self._seconds = 0
            await self._candidate.poll()
            await settle(self._hass)
            seconds.append(self._seconds)
        return min(seconds)

    def _timed(self, send: Callable[..., None]) -> Callable[..., None]:
        def timed(hass: HomeAssistant, signal: Any, *values: object) -> None:
            began = thread_time()
            send(hass, signal, *values)
            if signal in _SIGNALS:
                self._seconds += thread_time() - began

        return timed

    async def _move(self, device_id: str, *area_ids: str) -> None:
        for area_id in area_ids:
            self._put(device_id, area_id)
            await asyncio.sleep(_FOLLOWED_AFTER)

    def _put(self, device_id: str, area_id: str) -> None:
        dr.async_get(self._hass).async_update_device(device_id, area_id=area_id)
