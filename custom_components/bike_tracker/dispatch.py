"""Dispatch: notifies entities and triggers, and fires each occurrence once."""

import asyncio
from collections.abc import Callable, Collection
from itertools import batched
from typing import Final, NamedTuple, override

from homeassistant.core import CoreState, HassJob, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.start import async_at_started
from homeassistant.util import dt as dt_util
from homeassistant.util.signal_type import SignalType

from .const import DOMAIN
from .coordinator import BikeTrackerCoordinator
from .database.file import Evaluation
from .tracking.occurrences import Occurrence

# Seconds that automations need after the start of Home Assistant until they listen.
START_SECONDS: Final = 5
# Maximum number of changed trackers to notify in one step of the event loop: 17 ms if
# each of them adds 20 entities, on a slow machine 50 ms.
_TRACKERS_AT_ONCE: Final = 2
# Maximum number of trackers to notify in one step if only the time of their contact
# changed: 4 ms if each of them writes one entity.
_CONTACTS_AT_ONCE: Final = 40


type Fired = tuple[str, Occurrence]
"""An occurrence that an update fired, and before it the `uniqueId` of its tracker."""


class Update(NamedTuple):
    """An update of an account. While polls fail or Home Assistant starts, updates are not sent."""

    coordinator: BikeTrackerCoordinator
    changed: Collection[str]
    """The `uniqueId` of each tracker that changed or was in contact with the service."""
    last: Evaluation
    """Time up to which triggers were evaluated before this update."""
    now: Evaluation
    """Time up to which triggers are evaluated now."""
    fired: list[Fired]
    is_first: bool
    """Whether no update was sent before this one, or none since an outage."""

    @override
    def __repr__(self) -> str:
        """Return no `uniqueId`: if a listener fails, Home Assistant logs the update."""
        return f"{self.now}"


SIGNAL_UPDATED: Final[SignalType[Update]] = SignalType(f"{DOMAIN}_updated")
"""An account was updated; sent after entities are notified and occurrences are fired."""
SIGNAL_OCCURRED: Final[SignalType[BikeTrackerCoordinator, str, Occurrence]] = (
    SignalType(f"{DOMAIN}_occurred")
)
"""An occurrence is fired. The arguments are its tracker's coordinator and `uniqueId`, and the occurrence."""


class Dispatcher:
    """Notifies the entities of changed trackers, fires the occurrences of these trackers, and informs triggers."""

    def __init__(
        self,
        coordinator: BikeTrackerCoordinator,
        add_entities: Callable[[Collection[str]], Collection[str]],
    ) -> None:
        """Initialize with the function that adds missing entities of trackers.

        The function returns the new trackers: their entities need no notification.
        """
        self._coordinator = coordinator
        self._add_entities = add_entities
        self._one_at_a_time = asyncio.Lock()
        self._was_successful = True
        self._did_fire = False
        self._has_started = coordinator.hass.state is CoreState.running

    @callback
    def async_start(self) -> None:
        """Listen to the coordinator. The coordinator polls only while it has a listener."""
        coordinator, entry = self._coordinator, self._coordinator.config_entry
        entry.async_on_unload(coordinator.async_add_listener(self.async_notify))
        entry.async_on_unload(async_at_started(coordinator.hass, self._async_on_start))

    @callback
    def _async_on_start(self, hass: HomeAssistant) -> None:
        if not self._has_started:
            job = HassJob(self._async_on_started, cancel_on_shutdown=True)
            cancel = async_call_later(hass, START_SECONDS, job)
            self._coordinator.config_entry.async_on_unload(cancel)

    @callback
    def _async_on_started(self, _now: object) -> None:
        """Fire the occurrences that waited until automations were loaded."""
        self._has_started = True
        self.async_notify()

    @callback
    def async_notify(self) -> None:
        """Run `async_notify_all` in a task, at once or after the run that is under way."""
        entry, notifying = self._coordinator.config_entry, self.async_notify_all()
        entry.async_create_task(self._coordinator.hass, notifying)

    async def async_notify_all(self) -> None:
        """Notify the entities of changed trackers, fire occurrences, and send `SIGNAL_UPDATED` to triggers."""
        coordinator = self._coordinator
        async with self._one_at_a_time:
            fires = self._has_started and coordinator.is_up
            changed, coordinator.changed = coordinator.changed, set()
            contacted, coordinator.contacted = coordinator.contacted, set()
            if self._was_successful is not coordinator.last_update_success:
                changed |= coordinator.data.states.keys()
            begins = fires and not self._did_fire
            self._was_successful = coordinator.last_update_success
            self._did_fire = fires
            keys = changed | coordinator.data.trackers.keys() if begins else changed
            fired = list[Fired]()
            for batch in batched(sorted(keys), _TRACKERS_AT_ONCE, strict=False):
                if len(keys) > _TRACKERS_AT_ONCE:
                    await asyncio.sleep(0)
                fired += self._async_notify(batch, changed, fires=fires)
            for batch in batched(contacted - keys, _CONTACTS_AT_ONCE, strict=False):
                if len(contacted) > _CONTACTS_AT_ONCE:
                    await asyncio.sleep(0)
                for unique_id in batch:
                    signal = coordinator.signal(f"{unique_id}_contact")
                    async_dispatcher_send(coordinator.hass, signal)
            if fires:
                self._async_evaluate(changed | contacted, fired, is_first=begins)

    @callback
    def _async_notify(
        self, batch: Collection[str], changed: Collection[str], *, fires: bool
    ) -> list[Fired]:
        """Notify the entities of these trackers, and return the occurrences that were fired."""
        coordinator, hass = self._coordinator, self._coordinator.hass
        fired = list[Fired]()
        # Add entities before occurrences are fired: a first alarm adds an event entity.
        new = self._add_entities([key for key in batch if key in changed])
        for unique_id in batch:
            occurrences = self._unfired(unique_id) if fires else ()
            for occurrence in occurrences:
                coordinator.database.async_set_last_fired(unique_id, occurrence)
            if occurrences or (unique_id in changed and unique_id not in new):
                async_dispatcher_send(hass, coordinator.signal(unique_id))
            for occurrence in occurrences:
                async_dispatcher_send(
                    hass, SIGNAL_OCCURRED, coordinator, unique_id, occurrence
                )
                fired.append((unique_id, occurrence))
        return fired

    def _unfired(self, unique_id: str) -> Collection[Occurrence]:
        """Return the occurrences of a tracker that were not fired yet, the oldest first."""
        tracker = self._coordinator.data.trackers.get(unique_id)
        last = self._coordinator.database.content.last_fired[unique_id]
        return tracker.state.occurrences_after(last) if tracker else ()

    @callback
    def _async_evaluate(
        self, changed: Collection[str], fired: list[Fired], *, is_first: bool
    ) -> None:
        """Send `SIGNAL_UPDATED`, so that triggers check the changed trackers and the ends of waits (`for`)."""
        coordinator, content = self._coordinator, self._coordinator.database.content
        now = Evaluation(dt_util.utcnow(), coordinator.service.answered_at)
        last = content.evaluation or now
        # Set the new evaluation before the signal is sent: a trigger's action may cause
        # another evaluation.
        content.evaluation = now
        update = Update(coordinator, changed, last, now, fired, is_first)
        async_dispatcher_send(coordinator.hass, SIGNAL_UPDATED, update)
