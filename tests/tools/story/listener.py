"""The alarms and rides that automations notice, by event entities and by triggers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from homeassistant.const import EVENT_STATE_CHANGED, STATE_UNAVAILABLE, STATE_UNKNOWN
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import (
    device_registry as dr,
    entity_registry as er,
    label_registry as lr,
)
from homeassistant.util import dt as dt_util

from custom_components.bike_tracker.const import DOMAIN
from tests.conftest import RED

TRIGGERS = ("alarm_raised", "ride_started", "ride_ended")
_FIRED = "fired"
"""The automations of these tests fire this event when they run."""
_LABEL = "bikes"
_NOTHING = {STATE_UNAVAILABLE, STATE_UNKNOWN}


@dataclass(frozen=True)
class Run:
    """One run of an automation, or one event that an event entity shows."""

    tracker: str
    what: str
    """What happened: `alarm`, `started` or `ended`."""
    which: Any
    """The service's name of the alarm, or the start of the ride in whole seconds, as triggers have it."""
    at: datetime = field(compare=False)
    """When the automation ran or the entity changed, by the true clock."""


def _run(tracker: str, what: str, details: Mapping[str, Any]) -> Run:
    which = details.get("alarm")
    if started_at := details.get("started_at"):
        time = dt_util.parse_datetime(str(started_at), raise_on_error=True)
        which = time.replace(microsecond=0)
    return Run(tracker, what, which, datetime.now(UTC))


@dataclass
class Listener:
    """Records the runs of automations, across restarts of Home Assistant."""

    entities: list[Run] = field(default_factory=list)
    """Changes of event entities that automations notice."""
    triggers: list[Run] = field(default_factory=list)
    """Runs of automations that use the integration's own triggers."""
    unnoticed: list[Run] = field(default_factory=list)
    """New events in event entities that automations do not notice. No test expects any."""
    is_deaf: bool = False
    """Whether Home Assistant is being killed. Nothing is recorded then."""
    _seen: set[Run] = field(default_factory=set)

    def alarms(self, tracker: str = RED) -> list[str]:
        """Return the alarms of a tracker. Check that entities and triggers noticed the same alarms."""
        return [run.which for run in self._alike(tracker, "alarm")]

    def rides(self, tracker: str = RED) -> list[str]:
        """Return the starts and ends of a tracker's rides. Check that entities and triggers noticed the same."""
        return [run.what for run in self._alike(tracker, "started", "ended")]

    def _alike(self, tracker: str, *kinds: str) -> list[Run]:
        """Return events of these kinds. Their order in entities and triggers must be the same within each kind."""
        assert not self.unnoticed
        for what in kinds:
            by_entity, by_trigger = (
                [run for run in runs if (run.tracker, run.what) == (tracker, what)]
                for runs in (self.entities, self.triggers)
            )
            assert by_entity == by_trigger
        return [
            run for run in self.entities if run.tracker == tracker and run.what in kinds
        ]

    @callback
    def async_listen(self, hass: HomeAssistant) -> None:
        """Record runs until this Home Assistant stops."""
        hass.bus.async_listen(EVENT_STATE_CHANGED, partial(self._note_state, hass))
        hass.bus.async_listen(_FIRED, partial(self._note_run, hass))

    @callback
    def _note_state(self, hass: HomeAssistant, event: Event[Any]) -> None:
        before, now = event.data["old_state"], event.data["new_state"]
        entity = er.async_get(hass).async_get(event.data["entity_id"])
        if self.is_deaf or not entity or not now or now.state in _NOTHING:
            return
        if (entity.domain, entity.platform) != ("event", DOMAIN):
            return
        tracker, _, key = entity.unique_id.partition("_")
        event_type = now.attributes["event_type"]
        run = _run(tracker, "alarm" if key == "alarm" else event_type, now.attributes)
        # Do not compare the state itself, which is a time. A restored state may have
        # the time at which an event was noticed, seconds before it was fired.
        is_new = run not in self._seen
        self._seen.add(run)
        # Home Assistant's trigger event.received also ignores a change from unavailable.
        if before and before.state != STATE_UNAVAILABLE:
            if before.state != now.state:
                self.entities.append(run)
        elif is_new and event_type:
            # A state without a type is no new event: after a kill, it has only a time.
            self.unnoticed.append(run)

    @callback
    def _note_run(self, hass: HomeAssistant, event: Event[Any]) -> None:
        if not self.is_deaf:
            device = dr.async_get(hass).async_get(event.data["device_id"])
            assert isinstance(device, dr.DeviceEntry)
            [(_, tracker)] = device.identifiers
            # Of `alarm_raised`, `ride_started` and `ride_ended`, keep the distinct word.
            what = event.data["trigger"].removeprefix("ride_").removesuffix("_raised")
            self.triggers.append(_run(tracker, what, event.data))


def automation(trigger: str) -> dict[str, Any]:
    """Return an automation for all bikes with the label. It fires an event with the variables of its trigger."""
    variables = ("device_id", "alarm", "started_at")
    return {
        "id": trigger,
        "alias": trigger,
        "mode": "queued",
        "max": 1000,
        "triggers": {"trigger": f"{DOMAIN}.{trigger}", "target": {"label_id": _LABEL}},
        "actions": {
            "event": _FIRED,
            "event_data": {"trigger": trigger}
            | {name: f"{{{{ trigger.{name} | default(none) }}}}" for name in variables},
        },
    }


@callback
def label_bikes(hass: HomeAssistant) -> None:
    """Give all bikes the label to which the automations react."""
    labels, devices = lr.async_get(hass), dr.async_get(hass)
    if labels.async_get_label_by_name(_LABEL) is None:
        labels.async_create(_LABEL)
    for entry in hass.config_entries.async_entries(DOMAIN):
        for device in dr.async_entries_for_config_entry(devices, entry.entry_id):
            devices.async_update_device(device.id, labels={_LABEL})
