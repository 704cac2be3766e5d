"""Runs the triggers of all automations.

What needs no wait is run by occurrences, each of which the coordinator fires once. What
has to last is run when its wait ends between the last look and now.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.trigger import TriggerActionRunner
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN
from ..coordinator import SIGNAL_OCCURRED, SIGNAL_UPDATED, BikeTrackerCoordinator
from ..registry.devices import device_of
from ..registry.storage import Evaluation
from ..tracking import Flag, Occurrence, log_errors
from .targets import coordinators, is_in_target

if TYPE_CHECKING:
    from .triggers import TrackerTrigger

_BEGINNING: Final = datetime.min.replace(tzinfo=UTC)
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


type _Due = tuple[datetime, TrackerTrigger, str, Flag]
"""A wait that is over, and when it was."""


@dataclass(slots=True)
class _Waits:
    """The waits of one account."""

    next_at: datetime = _BEGINNING
    """When the next one is over, by the clock; before the first look any may be."""
    next_silence: datetime = _NEVER
    """When the next one is over, by the time an answer was asked for."""
    absent: dict[str, Evaluation] = field(default_factory=dict)
    """Trackers that are not listed, by the last look at them."""


class TriggerRunner:
    """Runs triggers when something occurs, and when a wait is over.

    An outage, a reload or a tracker that is not listed ends no wait: one that is over
    meanwhile is run with the first answer that still says so.
    """

    def __init__(self, hass: HomeAssistant) -> None:
        """Listen to all accounts."""
        self._hass = hass
        self._attached: dict[TrackerTrigger, TriggerActionRunner] = {}
        self._waits = WeakKeyDictionary[BikeTrackerCoordinator, _Waits]()
        self._cancel_timer: CALLBACK_TYPE = lambda: None
        async_dispatcher_connect(hass, SIGNAL_OCCURRED, self._async_on_occurrence)
        async_dispatcher_connect(hass, SIGNAL_UPDATED, self._async_look)

    @callback
    def async_attach(
        self, trigger: TrackerTrigger, run_action: TriggerActionRunner
    ) -> CALLBACK_TYPE:
        """Run a trigger from now on; the function returned ends that."""
        self._attached[trigger] = run_action
        if trigger.has_wait:
            for coordinator in coordinators(self._hass):
                coordinator.async_evaluate(coordinator.data.trackers)
                # What was so before does not run it after a kill either.
                coordinator.async_save_soon()

        @callback
        def detach() -> None:
            del self._attached[trigger]

        return detach

    @callback
    def _async_on_occurrence(
        self,
        coordinator: BikeTrackerCoordinator,
        unique_id: str,
        occurrence: Occurrence,
    ) -> None:
        """Run the triggers that wait for an occurrence."""
        for trigger in list(self._attached):
            if trigger.is_run_by(occurrence):
                self._run(trigger, coordinator, unique_id, occurrence)

    @callback
    def _async_on_time(self, _now: datetime) -> None:
        for coordinator in coordinators(self._hass):
            coordinator.async_evaluate(())

    @callback
    def _async_look(
        self, coordinator: BikeTrackerCoordinator, keys: Collection[str]
    ) -> None:
        """Run what is due of trackers that changed, or of all where a wait is over."""
        now = Evaluation(dt_util.utcnow(), coordinator.asked_at)
        waits = self._waits.setdefault(coordinator, _Waits())
        trackers, states = coordinator.data.trackers, coordinator.data.states
        if now.at >= waits.next_at or now.asked_at >= waits.next_silence:
            keys, waits.next_at, waits.next_silence = states.keys(), _NEVER, _NEVER
        for unique_id in set(keys).difference(trackers):
            waits.absent.setdefault(unique_id, coordinator.evaluated)
        due = [
            found
            for trigger in self._attached
            if trigger.has_wait
            for unique_id in keys & trackers.keys()
            for found in self._due(coordinator, waits, trigger, unique_id, now)
        ]
        for unique_id in waits.absent.keys() & trackers.keys():
            del waits.absent[unique_id]
        self._set_timer(now.at)
        for _, trigger, unique_id, flag in sorted(due, key=itemgetter(0)):
            occurrence = Occurrence(
                0, trigger.name, now.at, flag.changed_at, flag.previous_change
            )
            self._run(trigger, coordinator, unique_id, occurrence)

    def _due(
        self,
        coordinator: BikeTrackerCoordinator,
        waits: _Waits,
        trigger: TrackerTrigger,
        unique_id: str,
        now: Evaluation,
    ) -> Iterator[_Due]:
        """Yield the wait of a tracker if it is over; note when the next one is."""
        if not (flag := trigger.wait_from(coordinator.data.trackers[unique_id])):
            return
        last = waits.absent.get(unique_id, coordinator.evaluated)
        at, is_silence = flag.changed_at + trigger.wait, trigger.type.is_silence
        if at > (now.asked_at if is_silence else now.at):
            if is_silence:
                waits.next_silence = min(waits.next_silence, at)
            else:
                waits.next_at = min(waits.next_at, at)
        elif at > (last.asked_at if is_silence else last.at):
            yield at, trigger, unique_id, flag

    def _set_timer(self, now: datetime) -> None:
        """Look again when the next wait is over; in an outage its end does that."""
        self._cancel_timer()
        ends = [at for it in self._waits.values() if now < (at := it.next_at) < _NEVER]
        if ends:
            job = HassJob(self._async_on_time, cancel_on_shutdown=True)
            self._cancel_timer = async_call_later(self._hass, min(ends) - now, job)

    def _run(
        self,
        trigger: TrackerTrigger,
        coordinator: BikeTrackerCoordinator,
        unique_id: str,
        occurrence: Occurrence,
    ) -> None:
        """Run a trigger, unless the tracker is not in its target or it has ended."""
        hass, entry = self._hass, coordinator.config_entry
        with log_errors(entry.title, "running a trigger"):
            run_action = self._attached.get(trigger)
            device = device_of(hass, unique_id, entry.entry_id)
            if run_action and device and is_in_target(hass, trigger.target, device):
                coordinator.async_save_soon()
                trigger.async_run(run_action, device, occurrence)


@singleton(HassKey[TriggerRunner](f"{DOMAIN}_triggers"))
def async_get_runner(hass: HomeAssistant) -> TriggerRunner:
    """Return what runs all triggers."""
    return TriggerRunner(hass)
