"""Automations for alarms and rides, by event entities and by triggers, and a list of their runs."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import device_registry as dr, label_registry as lr
from homeassistant.util import dt as dt_util

from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.tracking.occurrences import ALARM_TYPES

_FIRED = "fired"
"""The automations of these tests fire this event when they run."""
LABEL = "bikes"
_RECEIVED = "event.received"
"""Home Assistant's trigger for event entities. It ignores a change from *unavailable*."""


class Run(NamedTuple):
    """One run of an automation."""

    tracker: str
    what: str
    """What happened: `alarm`, `started` or `ended`."""
    which: Any
    """The service's name of the alarm, or the start of the ride in whole seconds, as triggers have it."""
    at: datetime
    """When the automation ran, by the true clock."""


@dataclass
class Listener:
    """Records the runs of automations, across restarts of Home Assistant."""

    entities: list[Run] = field(default_factory=list)
    """Runs of the automation that uses event entities."""
    triggers: list[Run] = field(default_factory=list)
    """Runs of automations that use the integration's own triggers."""
    is_deaf: bool = False
    """Whether Home Assistant is being killed. Nothing is recorded then."""

    @callback
    def async_listen(self, hass: HomeAssistant) -> None:
        """Record runs until this Home Assistant stops."""
        hass.bus.async_listen(_FIRED, partial(self._note_run, hass))

    @callback
    def _note_run(self, hass: HomeAssistant, event: Event[Any]) -> None:
        if self.is_deaf:
            return
        device = dr.async_get(hass).async_get(event.data["device_id"])
        assert isinstance(device, dr.DeviceEntry)
        [(_, tracker)] = device.identifiers
        by, what, which = event.data["by"], "alarm", event.data["alarm"]
        if started_at := event.data["started_at"]:
            what = event.data["event_type"] or by.rpartition("ride_")[2]
            time = dt_util.parse_datetime(str(started_at), raise_on_error=True)
            which = time.replace(microsecond=0)
        runs = self.entities if by == _RECEIVED else self.triggers
        runs.append(Run(tracker, what, which, datetime.now(UTC)))


def automations() -> list[dict[str, Any]]:
    """Return automations for all bikes with the label: one for their event entities, and one for each trigger."""
    attributes, device_id = (
        "trigger.to_state.attributes",
        "device_id(trigger.entity_id)",
    )
    received = _automation(_RECEIVED, attributes, device_id)
    types = [*ALARM_TYPES, "started", "ended"]
    received["triggers"]["options"] = {"event_type": types}
    own = (
        _automation(f"{DOMAIN}.{name}", "trigger", "trigger.device_id")
        for name in ("alarm_raised", "ride_started", "ride_ended")
    )
    return [received, *own]


def _automation(trigger: str, values: str, device_id: str) -> dict[str, Any]:
    """Return an automation that fires an event. `values` and `device_id` are expressions of its templates."""
    templates = {
        name: f"{{{{ {values}.{name} | default(none) }}}}"
        for name in ("alarm", "event_type", "started_at")
    }
    templates["device_id"] = f"{{{{ {device_id} }}}}"
    return {
        "id": trigger,
        "alias": trigger,
        "mode": "queued",
        "max": 1000,
        "triggers": {"trigger": trigger, "target": {"label_id": LABEL}},
        "actions": {"event": _FIRED, "event_data": {"by": trigger, **templates}},
    }


@callback
def label_bikes(hass: HomeAssistant) -> None:
    """Give all bikes the label to which the automations react."""
    labels, devices = lr.async_get(hass), dr.async_get(hass)
    if labels.async_get_label_by_name(LABEL) is None:
        labels.async_create(LABEL)
    for entry in hass.config_entries.async_entries(DOMAIN):
        for device in dr.async_entries_for_config_entry(devices, entry.entry_id):
            devices.async_update_device(device.id, labels={LABEL})
