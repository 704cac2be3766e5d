"""What triggers of automations cost with each poll, whatever they watch."""

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

from custom_components.bike_tracker import dispatch
from custom_components.bike_tracker.const import DOMAIN

from .bench import Bench
from .home import settle
from .plan import TRIGGERS
from .results import Found
from .scenarios import ONE

_KINDS: Final = (
    *("alarm_raised", "became_silent", "came_online", "ride_ended"),
    *("ride_started", "started_moving", "stopped_moving", "went_offline"),
)
_SIGNALS: Final = {dispatch.SIGNAL_OCCURRED, dispatch.SIGNAL_UPDATED}
"""What triggers listen to."""


@callback
def _run(_variables: dict[str, Any], _context: Context | None = None) -> None:
    """Do nothing: what an automation does costs what it costs."""


async def measure(bench: Bench) -> Found:
    """Return the seconds of the event loop's thread that triggers take of a poll with one report."""
    await bench.set_up()
    devices = dr.async_get(bench.hass)
    area = ar.async_get(bench.hass).async_create("Shed")
    for device in list(devices.devices):
        devices.async_update_device(device.id, area_id=area.id)
    for kind in islice(cycle(_KINDS), TRIGGERS):
        await _listen(bench.hass, kind, area.id)
    return {ONE: await _poll(bench)}


async def _listen(hass: HomeAssistant, kind: str, area_id: str) -> None:
    config = {"platform": f"{DOMAIN}.{kind}", "target": {"area_id": [area_id]}}
    await async_initialize_triggers(
        hass,
        await async_validate_trigger_config(hass, [config]),
        _run,
        DOMAIN,
        kind,
        lambda *_: None,
    )


async def _poll(bench: Bench) -> list[dict[str, float]]:
    """Return what triggers took of each poll."""
    # The one that Home Assistant loaded from its own folder.
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
            await settle(bench.hass)
            found.append({"cpu": seconds})
    return found
