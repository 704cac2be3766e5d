"""Runs the triggers of all automations.

What needs no wait is run by occurrences, each of which the coordinator fires once. What
has to last is run when its wait ends between the last look and now.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from homeassistant.core import CALLBACK_TYPE, HassJob, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.typing import ConfigType
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN, LOGGER
from ..coordinator import SIGNAL_OCCURRED, SIGNAL_UPDATED, BikeTrackerCoordinator
from ..registry.storage import Evaluation
from ..tracking import Flag, Occurrence, OccurrenceType, Tracker
from .targets import coordinators, trackers_in
from .types import AT_ONCE, StateType

_NEVER: Final = datetime.max.replace(tzinfo=UTC)


class AttachedTrigger(NamedTuple):
    """One trigger of one automation."""

    name: OccurrenceType
    type: StateType
    target: ConfigType
    wait: timedelta
    choices: list[str] | None
    """Values of the attribute `type` that run it, None for all."""
    attached_at: datetime | None
    """What was so before does not run it; None if Home Assistant was starting."""
    run: Callable[[BikeTrackerCoordinator, str, Occurrence], None]

    @property
    def has_wait(self) -> bool:
        """Return whether the end of a wait runs it, and no occurrence."""
        return self.type.is_silence or self.wait > AT_ONCE

    def is_run_by(self, occurrence: Occurrence) -> bool:
        """Return whether an occurrence of one of its trackers runs it."""
        if occurrence.type != self.name or self.has_wait:
            return False
        return self.choices is None or occurrence.attributes["type"] in self.choices

    def wait_from(self, tracker: Tracker) -> Flag | None:
        """Return since when it is so, None if no wait counts from there."""
        flag, is_silence = self.type.state_fn(tracker), self.type.is_silence
        # The first word about a tracker is no change.
        if flag is None or not (is_silence or flag.previous_change):
            return None
        # Silence is there once it has lasted.
        since = flag.changed_at + self.wait if is_silence else flag.changed_at
        is_new = self.attached_at is None or since > self.attached_at
        return flag if is_new else None

    def time(self, evaluation: Evaluation) -> datetime:
        """Return the time by which its waits are judged."""
        return evaluation.asked_at if self.type.is_silence else evaluation.at


class _Due(NamedTuple):
    """A wait that is over."""

    at: datetime
    trigger: AttachedTrigger
    unique_id: str
    flag: Flag


@dataclass(slots=True)
class _Waits:
    """The waits of one account."""

    next_at: datetime = _NEVER
    """When the next one is over, by the clock."""
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
        self._attached: dict[int, AttachedTrigger] = {}
        self._waits = WeakKeyDictionary[BikeTrackerCoordinator, _Waits]()
        self._timer: CALLBACK_TYPE = _nothing
        async_dispatcher_connect(hass, SIGNAL_OCCURRED, self._async_on_occurrence)
        async_dispatcher_connect(hass, SIGNAL_UPDATED, self._async_look)

    @callback
    def async_attach(self, trigger: AttachedTrigger) -> CALLBACK_TYPE:
        """Run a trigger from now on; the function returned ends that."""
        key = id(trigger)
        self._attached[key] = trigger
        if trigger.has_wait:
            for coordinator in coordinators(self._hass):
                coordinator.async_evaluate(coordinator.account.trackers)
                # What was so before does not run it after a kill either.
                coordinator.async_save_soon()

        @callback
        def detach() -> None:
            del self._attached[key]

        return detach

    @callback
    def _async_on_occurrence(
        self,
        coordinator: BikeTrackerCoordinator,
        unique_id: str,
        occurrence: Occurrence,
    ) -> None:
        """Run the triggers that wait for an occurrence."""
        for trigger in list(self._attached.values()):
            if trigger.is_run_by(occurrence):
                self._run(trigger, coordinator, unique_id, occurrence)

    @callback
    def _async_on_time(self) -> None:
        for coordinator in coordinators(self._hass):
            coordinator.async_evaluate(())

    @callback
    def _async_look(
        self, coordinator: BikeTrackerCoordinator, keys: Collection[str]
    ) -> None:
        """Run what is due of trackers that changed, or of all where a wait is over."""
        now = Evaluation(dt_util.utcnow(), coordinator.asked_at)
        waits = self._waits.setdefault(coordinator, _Waits())
        trackers = coordinator.account.trackers
        for unique_id in set(keys).difference(trackers):
            waits.absent.setdefault(unique_id, coordinator.evaluated)
        if now.at >= waits.next_at or now.asked_at >= waits.next_silence:
            keys, waits.next_at, waits.next_silence = trackers.keys(), _NEVER, _NEVER
        due = [
            found
            for trigger in self._attached.values()
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
        trigger: AttachedTrigger,
        unique_id: str,
        now: Evaluation,
    ) -> Iterator[_Due]:
        """Yield the wait of a tracker if it is over; note when the next one is."""
        if not (flag := trigger.wait_from(coordinator.account.trackers[unique_id])):
            return
        last = waits.absent.get(unique_id, coordinator.evaluated)
        at = flag.changed_at + trigger.wait
        if at > trigger.time(now):
            if trigger.type.is_silence:
                waits.next_silence = min(waits.next_silence, at)
            else:
                waits.next_at = min(waits.next_at, at)
        elif at > trigger.time(last):
            yield _Due(at, trigger, unique_id, flag)

    def _set_timer(self, now: datetime) -> None:
        """Look again when the next wait is over; in an outage its end does that."""
        self._timer()
        ends = [waits.next_at for waits in self._waits.values() if waits.next_at > now]
        if ends and (at := min(ends)) < _NEVER:
            job = HassJob(self._async_on_time, cancel_on_shutdown=True)
            seconds = (at - now).total_seconds()
            self._timer = self._hass.loop.call_later(
                seconds, self._hass.async_run_hass_job, job
            ).cancel

    def _run(
        self,
        trigger: AttachedTrigger,
        coordinator: BikeTrackerCoordinator,
        unique_id: str,
        occurrence: Occurrence,
    ) -> None:
        """Run a trigger, unless the tracker is not in its target or it has ended."""
        if self._attached.get(id(trigger)) is not trigger:
            return
        if unique_id in trackers_in(self._hass, trigger.target):
            coordinator.async_save_soon()
            try:
                trigger.run(coordinator, unique_id, occurrence)
            except Exception:  # noqa: BLE001 - the others are run all the same
                LOGGER.exception("Unexpected error running a trigger")


def _nothing() -> None:
    """Cancel no timer: none is set."""


@singleton(HassKey[TriggerRunner](f"{DOMAIN}_triggers"))
def async_get_runner(hass: HomeAssistant) -> TriggerRunner:
    """Return what runs all triggers."""
    return TriggerRunner(hass)
