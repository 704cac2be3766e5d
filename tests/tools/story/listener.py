"""The alarms and rides that automations notice, by event entities and by triggers."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
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

FIRED = "fired"
"""The automations of these tests fire this event when they run."""
TRIGGERS = ("alarm_raised", "ride_started", "ride_ended")
_LABEL = "bikes"
_NOTHING = {STATE_UNAVAILABLE, STATE_UNKNOWN}


@dataclass(frozen=True)
class Run:
    """One run of an automation, or one event that an event entity shows."""

    tracker: str
    what: str
    """What happened: `alarm`, `started` or `ended`."""
    at: datetime
    """When the automation ran or the entity changed, by the true clock."""
    details: dict[str, Any] = field(compare=False)

    @property
    def word(self) -> str:
        """The service's name of the alarm."""
        word: str = self.details["alarm"]
        return word

    @property
    def started_at(self) -> datetime:
        """When the ride started."""
        return _time(self.details["started_at"])


def _named(fired: Run) -> str | datetime:
    if fired.what == "alarm":
        return fired.word
    # The times of triggers have whole seconds, so compare only these.
    return fired.started_at.replace(microsecond=0)


def _time(value: datetime | str) -> datetime:
    time = dt_util.parse_datetime(value) if isinstance(value, str) else value
    assert time is not None
    return time


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
    _seen: set[tuple[str | None, ...]] = field(default_factory=set)

    def alarms(self, tracker: str = RED) -> list[str]:
        """Return the alarms of a tracker. Check that entities and triggers noticed the same alarms."""
        return [fired.word for fired in self.alike(tracker, "alarm")]

    def rides(self, tracker: str = RED) -> list[str]:
        """Return the starts and ends of a tracker's rides. Check that entities and triggers noticed the same."""
        return [fired.what for fired in self.alike(tracker, "started", "ended")]

    def alike(self, tracker: str, *what: str) -> list[Run]:
        """Return the changes of entities of a tracker that are of these kinds.

        Check that triggers noticed the same. The order must be the same within each
        kind, but not between kinds.
        """
        assert not self.unnoticed
        for one in what:
            by_entity, by_trigger = (
                [_named(t) for t in runs if (t.tracker, t.what) == (tracker, one)]
                for runs in (self.entities, self.triggers)
            )
            assert by_entity == by_trigger
        return [t for t in self.entities if t.tracker == tracker and t.what in what]

    @callback
    def async_listen(self, hass: HomeAssistant) -> None:
        """Record runs until this Home Assistant stops."""

        @callback
        def note_state(event: Event[Any]) -> None:
            if not self.is_deaf:
                self._note_state(hass, event)

        @callback
        def note_run(event: Event[Any]) -> None:
            if not self.is_deaf:
                self._note_run(hass, event)

        hass.bus.async_listen(EVENT_STATE_CHANGED, note_state)
        hass.bus.async_listen(FIRED, note_run)

    def _note_state(self, hass: HomeAssistant, event: Event[Any]) -> None:
        entity_id = event.data["entity_id"]
        before, now = event.data["old_state"], event.data["new_state"]
        if not entity_id.startswith("event.") or not now or now.state in _NOTHING:
            return
        entity = er.async_get(hass).async_get(entity_id)
        if entity is None or entity.platform != DOMAIN:
            return
        # Do not compare the state itself, which is a time. A restored state may have
        # the time at which an event was noticed, seconds before it was fired.
        shown = tuple(map(now.attributes.get, ("event_type", "started_at", "alarm")))
        is_new = (entity.unique_id, *shown) not in self._seen
        self._seen.add((entity.unique_id, *shown))
        tracker, _, key = entity.unique_id.partition("_")
        what = "alarm" if key == "alarm" else now.attributes["event_type"]
        fired = Run(tracker, what, datetime.now(UTC), dict(now.attributes))
        # Home Assistant's own trigger event.received has the same rule: it ignores a
        # change from unavailable.
        if before and before.state != STATE_UNAVAILABLE:
            if before.state != now.state:
                self.entities.append(fired)
        elif is_new and now.attributes["event_type"]:
            # A state without a type is not a new event. It shows only the time of the
            # last event, because a kill lost the rest.
            self.unnoticed.append(fired)

    def _note_run(self, hass: HomeAssistant, event: Event[Any]) -> None:
        device = dr.async_get(hass).async_get(event.data["device_id"])
        assert isinstance(device, dr.DeviceEntry)
        [(_, tracker)] = device.identifiers
        trigger = event.data["trigger"]
        what = "alarm" if trigger == "alarm_raised" else trigger.removeprefix("ride_")
        self.triggers.append(Run(tracker, what, datetime.now(UTC), event.data))


def automation(trigger: str) -> dict[str, Any]:
    """Return an automation for all bikes with the label. It fires an event with the variables of its trigger."""
    variables = ("device_id", "name", "since", "alarm", "type", "time", "started_at")
    return {
        "id": trigger,
        "alias": trigger,
        "mode": "queued",
        "max": 1000,
        "triggers": {
            "trigger": f"{DOMAIN}.{trigger}",
            "target": {"label_id": _LABEL},
        },
        "actions": {
            "event": FIRED,
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
