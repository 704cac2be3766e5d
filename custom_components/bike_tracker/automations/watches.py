"""All triggers of all automations: which is to look at which tracker, and when."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import chain, count
from operator import itemgetter
from typing import Any, Final
from weakref import WeakKeyDictionary

from homeassistant.core import (
    CALLBACK_TYPE,
    CoreState,
    HassJob,
    HomeAssistant,
    callback,
)
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.event import async_call_later
from homeassistant.helpers.singleton import singleton
from homeassistant.helpers.start import async_at_started
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..account import Tracker, Trackers
from ..const import DOMAIN, LOGGER
from ..coordinator import SIGNAL_NEWS, BikeTrackerCoordinator
from ..fleet.memory import MARKS
from .kinds import Item
from .marks import Mark, OldFile, Recalled
from .targets import async_get_targets
from .watch import Watch

# Registries change often at once.
_FOLLOW_TARGETS_AFTER: Final = 1

type Look = tuple[BikeTrackerCoordinator, str, Watch]
"""A tracker, and a trigger that is to look at it."""


class Watches:
    """Lets triggers look at a tracker that is another one, or when a wait is over.

    An outage, a reload or a tracker that is not listed ends no wait: one that is over
    meanwhile is told with the first answer that still says so.
    """

    def __init__(self, hass: HomeAssistant, old: OldFile) -> None:
        """Begin to listen to all accounts."""
        self._hass = hass
        self._old = old
        self._targets = async_get_targets(hass)
        # With trackers whose marks were perhaps written before a restart.
        self._watches: dict[Watch, set[str]] = {}
        self._by_tracker: defaultdict[str, dict[Watch, None]] = defaultdict(dict)
        # What was taken in of each account: its trackers, by which answer.
        self._heard: WeakKeyDictionary[
            BikeTrackerCoordinator, tuple[Trackers, datetime | None]
        ] = WeakKeyDictionary()
        # When waits are over, unless they ended before.
        self._ends: list[tuple[datetime, int, str, Watch]] = []
        self._number = count()
        # Those that are to look with the next answer.
        self._waiting: dict[tuple[str, Watch], None] = {}
        self._timer: tuple[datetime, CALLBACK_TYPE] | None = None
        self._is_following = False
        self._start: CALLBACK_TYPE | None = None
        self._targets.on_change.append(self._async_follow_later)
        self._stop_listening = async_dispatcher_connect(
            hass, SIGNAL_NEWS, self._async_on_news
        )
        hass.data[MARKS] = self._written

    def _written(self, unique_ids: Collection[str]) -> list[dict[str, Any]]:
        """Return how far triggers are with these trackers.

        Runs beside the event loop, which may change marks meanwhile: hence the copies.
        """
        copies = [(watch.key, dict(watch.marks)) for watch in list(self._watches)]
        return [
            {"trigger": key, "trackers": written}
            for key, marks in copies
            if (written := {name: marks[name] for name in marks if name in unique_ids})
        ]

    @callback
    def async_add(self, watch: Watch) -> CALLBACK_TYPE:
        """Let a trigger begin where it was; the function returned ends it."""
        unique_ids = self._targets.trackers_in(watch.target)
        is_running = self._hass.state is CoreState.running
        # One that begins later is of an automation that is new or was off.
        self._watches[watch] = set() if is_running else set(unique_ids)
        self._join(watch, unique_ids)
        self._remember()
        if is_running:
            self._look(self._at(unique_ids, watch))
        elif self._start is None:
            self._start = async_at_started(self._hass, self._async_on_start)
        return partial(self._async_remove, watch)

    @callback
    def _async_remove(self, watch: Watch) -> None:
        """Remember no more of it, unless it ends with Home Assistant."""
        if not self._hass.is_stopping:
            self._remember()
        self._leave(watch, set(watch.marks))
        del self._watches[watch]
        self._async_follow_later()
        if not self._watches:
            self._close()

    def _close(self) -> None:
        """End with the last trigger; the next one begins anew."""
        self._stop_listening()
        self._targets.on_change.remove(self._async_follow_later)
        if self._start:
            self._start()
        self._ends.clear()
        self._set_timer(dt_util.utcnow())
        del self._hass.data[MARKS], self._hass.data[_WATCHES]

    def _join(self, watch: Watch, unique_ids: Iterable[str]) -> None:
        now = dt_util.utcnow()
        for unique_id in unique_ids:
            watch.marks[unique_id] = Mark(now)
            self._by_tracker[unique_id][watch] = None
        for coordinator, unique_id, _ in self._at(unique_ids, watch):
            watch.join(unique_id, coordinator.data.now[unique_id], now)

    def _leave(self, watch: Watch, unique_ids: Iterable[str]) -> None:
        for unique_id in unique_ids:
            del watch.marks[unique_id]
            watch.ends.pop(unique_id, None)
            self._waiting.pop((unique_id, watch), None)
            del self._by_tracker[unique_id][watch]
            if not self._by_tracker[unique_id]:
                del self._by_tracker[unique_id]

    # When to look

    @callback
    def _async_on_start(self, _hass: HomeAssistant) -> None:
        self._start = None
        self._heard.clear()
        self._look(chain.from_iterable(map(self._news, self._coordinators())))

    @callback
    def _async_on_news(self, coordinator: BikeTrackerCoordinator) -> None:
        self._look(self._news(coordinator))

    @callback
    def _async_on_time(self, _now: datetime) -> None:
        self._timer = None
        self._look(())

    @callback
    def _async_follow_later(self) -> None:
        if not self._is_following:
            self._is_following = True
            job = HassJob(self._async_follow, cancel_on_shutdown=True)
            async_call_later(self._hass, _FOLLOW_TARGETS_AFTER, job)

    @callback
    def _async_follow(self, _now: datetime) -> None:
        """Follow what came into targets, or left them, and triggers that ended."""
        self._is_following = False
        self._ends = [end for end in self._ends if end[-1] in self._watches]
        heapify(self._ends)
        looks: list[Look] = []
        for watch in self._watches:
            targets = self._targets.trackers_in(watch.target)
            if targets == watch.marks.keys():
                continue
            joined = targets - watch.marks.keys()
            self._leave(watch, watch.marks.keys() - targets)
            self._join(watch, joined)
            self._remember()
            looks += self._at(joined, watch)
        self._look(looks)

    # Who is to look

    def _coordinators(self) -> Iterator[BikeTrackerCoordinator]:
        for entry in self._hass.config_entries.async_loaded_entries(DOMAIN):
            yield entry.runtime_data.coordinator

    def _remember(self) -> None:
        for coordinator in self._coordinators():
            coordinator.async_remember()

    def _at(self, unique_ids: Iterable[str], watch: Watch) -> Iterator[Look]:
        """Yield those of some trackers that are listed: others are news once they are."""
        coordinators = list(self._coordinators())
        for unique_id in unique_ids:
            for coordinator in coordinators:
                if unique_id in coordinator.data.now:
                    yield coordinator, unique_id, watch

    def _news(self, coordinator: BikeTrackerCoordinator) -> Iterator[Look]:
        """Yield what is new of an account since it was last heard of."""
        news = coordinator.data
        if coordinator not in self._heard:
            self._heard[coordinator] = {}, None
            self._recall(coordinator)
        known, asked_at = self._heard[coordinator]
        self._heard[coordinator] = news.now, coordinator.asked_at
        changed = news.since(known) & news.now.keys()
        for unique_id in changed & self._by_tracker.keys():
            before, now = known.get(unique_id), news.now[unique_id]
            for watch in self._by_tracker[unique_id]:
                if before is None or watch.kind.reads(before) != watch.kind.reads(now):
                    yield coordinator, unique_id, watch
        if asked_at != coordinator.asked_at:
            for unique_id, watch in list(self._waiting):
                if unique_id in news.now:
                    del self._waiting[unique_id, watch]
                    yield coordinator, unique_id, watch

    def _ended(self, now: datetime) -> Iterator[Look]:
        """Yield those whose wait is over."""
        while self._ends and self._ends[0][0] <= now:
            at, _, unique_id, watch = heappop(self._ends)
            if watch.ends.get(unique_id) == at:
                del watch.ends[unique_id]
                yield from self._at([unique_id], watch)

    # What becomes of it

    def _look(self, looks: Iterable[Look]) -> None:
        """Tell what is due, oldest first, and come again when the next wait is over."""
        if self._hass.state is not CoreState.running:
            return
        now = dt_util.utcnow()
        due: list[tuple[datetime, Look, Tracker, Item]] = []
        for look in dict.fromkeys(chain(looks, self._ended(now))):
            coordinator, unique_id, watch = look
            if not coordinator.last_update_success:
                self._waiting[unique_id, watch] = None
                continue
            tracker = coordinator.data.now[unique_id]
            for at, item in watch.to_tell(unique_id, tracker):
                if watch.waits and at > now:
                    self._come_again(at, unique_id, watch)
                elif watch.kind.is_silence and at > (coordinator.asked_at or at):
                    self._waiting[unique_id, watch] = None
                else:
                    due.append((at, look, tracker, item))
        for _, look, tracker, item in sorted(due, key=itemgetter(0)):
            self._tell(look, tracker, item)
        self._set_timer(now)

    def _come_again(self, at: datetime, unique_id: str, watch: Watch) -> None:
        # What ends later is found out by then: each report puts silence off.
        if unique_id not in watch.ends or at < watch.ends[unique_id]:
            watch.ends[unique_id] = at
            heappush(self._ends, (at, next(self._number), unique_id, watch))

    def _tell(self, look: Look, tracker: Tracker, item: Item) -> None:
        coordinator, unique_id, watch = look
        mark = watch.marks.get(unique_id)
        # What was told before this may have ended the trigger.
        if mark is None or (mark.told and item.at <= mark.told):
            return
        watch.marks[unique_id] = mark._replace(told=item.at)
        coordinator.async_remember()
        try:
            watch.tell(coordinator, tracker, item)
        except Exception:  # noqa: BLE001 - the others are told all the same
            LOGGER.exception("Unexpected error running a trigger")

    def _set_timer(self, now: datetime) -> None:
        at = self._ends[0][0] if self._ends else None
        if self._timer:
            if self._timer[0] == at:
                return
            self._timer[1]()
            self._timer = None
        if at:
            job = HassJob(self._async_on_time, cancel_on_shutdown=True)
            seconds = (at - now).total_seconds()
            self._timer = at, async_call_later(self._hass, seconds, job)

    # What was written before

    def _recall(self, coordinator: BikeTrackerCoordinator) -> None:
        """Let triggers go on where they were with an account's trackers."""
        recalled = Recalled(coordinator.async_claim_marks() or self._old.items)
        for watch, unsure in self._watches.items():
            if here := unsure & coordinator.fleet.had:
                unsure -= here
                written = recalled.take(watch.key)
                for unique_id in here & written.keys() & watch.marks.keys():
                    if mark := recalled.mark(written[unique_id]):
                        watch.marks[unique_id] = mark
        coordinator.async_remember()
        heard = sum(coordinator in self._heard for coordinator in self._coordinators())
        entries = self._hass.config_entries.async_entries(
            DOMAIN, include_disabled=False
        )
        if self._old.is_there and heard == len(entries):
            self._old.async_remove_later()


_WATCHES: HassKey[Watches] = HassKey(f"{DOMAIN}_watches")


@singleton(_WATCHES, async_=True)
async def async_get_watches(hass: HomeAssistant) -> Watches:
    """Return all triggers that are listening."""
    old = OldFile(hass)
    await old.async_load()
    return Watches(hass, old)
