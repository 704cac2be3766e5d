"""One trigger of one automation: waits for what it is to tell of its trackers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
import json
from typing import Any, Final

from homeassistant.core import (
    CALLBACK_TYPE,
    CoreState,
    Event,
    HassJob,
    HomeAssistant,
    callback,
)
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
)
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.start import async_at_started
from homeassistant.helpers.typing import ConfigType
from homeassistant.util import dt as dt_util

from ..account import Tracker, Trackers
from ..const import DOMAIN
from ..coordinator import SIGNAL_NEWS, BikeTrackerCoordinator
from .marks import Mark, Marks
from .targets import trackers_in

# Registries change often at once.
_FOLLOW_TARGET_AFTER: Final = 1
_TARGETS_CHANGE_WITH: Final = (
    er.EVENT_ENTITY_REGISTRY_UPDATED,
    dr.EVENT_DEVICE_REGISTRY_UPDATED,
    ar.EVENT_AREA_REGISTRY_UPDATED,
)

type Since = Callable[[Tracker], datetime | None]
type Tell = Callable[[BikeTrackerCoordinator, Tracker, datetime, datetime | None], None]
"""Takes what is so, since when, and since when it had been otherwise if that was seen."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What a trigger waits for."""

    key: str
    """The name of the trigger."""
    target: ConfigType
    wait: timedelta
    """For how long it must have been so."""
    since: Since
    """Returns since when it is so, None if it is not or that is not known now."""
    otherwise: Since
    """Returns since when it is the opposite, None if it is not or there is none."""
    is_absence: bool = False
    """Whether it is so only once the wait is over, as with silence."""

    def was_so(self, since: datetime, then: datetime) -> bool:
        """Return whether it was so already at that time."""
        return since + self.wait <= then if self.is_absence else since <= then


class Watch:
    """Listens to the accounts, and tells what becomes so of each tracker once.

    An outage, a reload or a tracker that is not listed ends no wait: one that is over
    meanwhile is told with the first answer that still says so. What was so already when
    a tracker came into the target is not told; its wait counts from then on.
    """

    def __init__(
        self, hass: HomeAssistant, watched: Watched, marks: Marks, tell: Tell
    ) -> None:
        """Wait to be started."""
        self.key = json.dumps(
            [watched.key, watched.target, watched.wait.total_seconds()], sort_keys=True
        )
        self.marks: dict[str, Mark | None] = {}
        """How far it is with each tracker that it has seen."""
        self._hass = hass
        self._watched = watched
        self._memory = marks
        self._tell = tell
        # Since when trackers are, or were before, the opposite.
        self._otherwise: dict[str, datetime] = {}
        # When trackers came into the target that were not seen yet.
        self._joined: dict[str, datetime] = {}
        self._targets: set[str] = set()
        # When there is something to tell, and since when it will have been so.
        self._due: dict[str, tuple[datetime, datetime]] = {}
        self._known: dict[str, Trackers] = {}
        self._timer: CALLBACK_TYPE | None = None
        self._timer_job = HassJob(self._async_on_time, cancel_on_shutdown=True)
        self._follow: CALLBACK_TYPE | None = None
        self._follow_job = HassJob(self._async_follow, cancel_on_shutdown=True)

    @callback
    def async_start(self) -> CALLBACK_TYPE:
        """Begin where it was before a restart; the function returned ends it."""
        recalled = self._memory.async_recall(self.key)
        self._targets = trackers_in(self._hass, self._watched.target)
        now = dt_util.utcnow()
        for unique_id in self._targets:
            if unique_id in recalled:
                self.marks[unique_id] = recalled[unique_id]
            else:
                self._joined[unique_id] = now
        self._memory.async_add(self)
        clean_ups = [
            async_dispatcher_connect(self._hass, SIGNAL_NEWS, self._async_on_news),
            *(
                self._hass.bus.async_listen(str(event), self._async_follow_later)
                for event in _TARGETS_CHANGE_WITH
            ),
        ]
        for coordinator in self._coordinators():
            self._take(coordinator)
        clean_ups.append(async_at_started(self._hass, self._async_on_start))

        @callback
        def async_stop() -> None:
            for clean_up in clean_ups:
                clean_up()
            for cancel in (self._timer, self._follow):
                if cancel is not None:
                    cancel()
            self._memory.async_remove(self)

        return async_stop

    def _coordinators(self) -> Iterable[BikeTrackerCoordinator]:
        for entry in self._hass.config_entries.async_loaded_entries(DOMAIN):
            yield entry.runtime_data.coordinator

    @callback
    def _async_on_start(self, _hass: HomeAssistant) -> None:
        self._async_tell_due(self._coordinators())

    @callback
    def _async_on_time(self, _now: datetime) -> None:
        self._timer = None
        self._async_tell_due(self._coordinators())

    @callback
    def _async_on_news(self, coordinator: BikeTrackerCoordinator) -> None:
        self._take(coordinator)
        self._async_tell_due([coordinator])

    @callback
    def _async_follow_later(self, _event: Event[Any]) -> None:
        if self._follow is None:
            self._follow = async_call_later(
                self._hass, _FOLLOW_TARGET_AFTER, self._follow_job
            )

    @callback
    def _async_follow(self, now: datetime) -> None:
        """Follow what came into the target, or left it."""
        self._follow = None
        before = self._targets
        self._targets = trackers_in(self._hass, self._watched.target)
        if self._targets == before:
            return
        for unique_id in before - self._targets:
            for noted in (self.marks, self._otherwise, self._joined, self._due):
                noted.pop(unique_id, None)
        self._joined |= dict.fromkeys(self._targets - before, now)
        self._known.clear()
        for coordinator in self._coordinators():
            self._take(coordinator)
        self._memory.async_save_later()
        self._async_tell_due(self._coordinators())

    def _take(self, coordinator: BikeTrackerCoordinator) -> None:
        """Take in what is new of an account since it was last taken in."""
        news, entry_id = coordinator.data, coordinator.config_entry.entry_id
        changed = news.since(self._known.get(entry_id, {})) & self._targets
        self._known[entry_id] = news.now
        for unique_id in changed & news.now.keys():
            self._consider(unique_id, news.now[unique_id])

    def _consider(self, unique_id: str, tracker: Tracker) -> None:
        """Note when there is something to tell of a tracker."""
        since = self._watched.since(tracker)
        if otherwise := self._watched.otherwise(tracker):
            self._otherwise[unique_id] = otherwise
        if joined := self._joined.pop(unique_id, None):
            self.marks[unique_id] = self._first_mark(since, joined)
            self._memory.async_save_later()
        counts_from = since and self._counts_from(self.marks.get(unique_id), since)
        if since and counts_from:
            self._due[unique_id] = counts_from + self._watched.wait, since
        else:
            self._due.pop(unique_id, None)

    def _first_mark(self, since: datetime | None, joined: datetime) -> Mark | None:
        """Return what to note of a tracker that is seen for the first time."""
        if since is None or not self._watched.was_so(since, joined):
            return None
        return Mark(since, joined if self._watched.wait else None)

    def _counts_from(self, mark: Mark | None, since: datetime) -> datetime | None:
        """Return when the wait began, None if there is nothing to wait for."""
        if mark is None:
            return since
        if mark.since == since:
            return mark.counts_from
        # An older report that is seen again is no new silence.
        return None if self._watched.is_absence and since < mark.since else since

    @callback
    def _async_tell_due(self, coordinators: Iterable[BikeTrackerCoordinator]) -> None:
        """Tell what is due of trackers that the service lists now."""
        if self._hass.state is not CoreState.running:
            return
        now = dt_util.utcnow()
        due = {unique_id for unique_id, (at, _) in self._due.items() if at <= now}
        for coordinator in coordinators if due else ():
            if not coordinator.last_update_success:
                continue
            for unique_id in due & coordinator.data.now.keys():
                _, since = self._due.pop(unique_id)
                self.marks[unique_id] = Mark(since, None)
                self._memory.async_save_later()
                tracker = coordinator.data.now[unique_id]
                self._tell(coordinator, tracker, since, self._otherwise.get(unique_id))
        self._async_set_timer(now)

    def _async_set_timer(self, now: datetime) -> None:
        """Come again when the next wait ends; those that are over wait for an answer."""
        if self._timer is not None:
            self._timer()
            self._timer = None
        next_at = min((at for at, _ in self._due.values() if at > now), default=None)
        if next_at is not None:
            seconds = (next_at - now).total_seconds()
            self._timer = async_call_later(self._hass, seconds, self._timer_job)
