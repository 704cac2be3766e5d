"""All triggers of all automations: which is to look at which tracker, and when."""

from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from functools import cache, partial
from itertools import chain
import json
from operator import itemgetter
from typing import Any, Final
from weakref import WeakKeyDictionary

from homeassistant.const import EVENT_HOMEASSISTANT_STARTED
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
from homeassistant.helpers.singleton import singleton
from homeassistant.util import dt as dt_util
from homeassistant.util.hass_dict import HassKey

from ..const import DOMAIN, LOGGER
from ..coordinator import SIGNAL_NEWS, BikeTrackerCoordinator
from ..registry.storage import MARKS, SOON
from ..tracking import Trackers
from .attached_trigger import AttachedTrigger
from .kinds import Item
from .targets import coordinators, trackers_in

# Registries change often at once.
_FOLLOW_AFTER: Final = 1
_NEVER: Final = datetime.max.replace(tzinfo=UTC)

type Look = tuple[BikeTrackerCoordinator, str, AttachedTrigger]
"""A tracker, and a trigger that is to look at it."""


class AttachedTriggers:
    """Lets triggers look at a tracker that is another one, or when a wait is over.

    An outage, a reload or a tracker that is not listed ends no wait: one that is over
    meanwhile is told with the first answer that still says so.
    """

    def __init__(self, hass: HomeAssistant) -> None:
        """Begin to listen to all accounts."""
        self._hass = hass
        # When each is to look again, whatever is heard until then.
        self._attached: dict[AttachedTrigger, datetime] = {}
        # Looked up once until a registry changes.
        self._trackers_in = cache(lambda target: trackers_in(hass, json.loads(target)))
        # What was taken in of each account.
        self._heard = WeakKeyDictionary[BikeTrackerCoordinator, Trackers]()
        self._timer: tuple[datetime, CALLBACK_TYPE] = _NEVER, lambda: None
        hass.data[MARKS] = self._written
        async_dispatcher_connect(hass, SIGNAL_NEWS, self._async_on_news)
        hass.bus.async_listen(EVENT_HOMEASSISTANT_STARTED, self._async_on_start)
        for registry_updated in (
            er.EVENT_ENTITY_REGISTRY_UPDATED,
            dr.EVENT_DEVICE_REGISTRY_UPDATED,
            ar.EVENT_AREA_REGISTRY_UPDATED,
        ):
            hass.bus.async_listen(str(registry_updated), self._async_on_registry)

    def _written(self, unique_ids: Collection[str]) -> list[dict[str, Any]]:
        """Return how far triggers are with these trackers, beside the event loop."""
        return [
            {"trigger": trigger.key, "trackers": marks}
            for trigger in [*self._attached]
            if (marks := trigger.written(unique_ids))
        ]

    @callback
    def async_add(self, trigger: AttachedTrigger) -> CALLBACK_TYPE:
        """Let a trigger begin where it was; the function returned ends it."""
        self._attached[trigger] = _NEVER
        self._look(self._follow(trigger))
        return partial(self._async_remove, trigger)

    @callback
    def _async_remove(self, trigger: AttachedTrigger) -> None:
        """Remember no more of it, unless it ends with Home Assistant."""
        if not self._hass.is_stopping:
            self._remember()
        del self._attached[trigger]
        trigger.marks.clear()

    def _remember(self) -> None:
        for coordinator in coordinators(self._hass):
            coordinator.store.async_write_within(SOON)

    # When to look

    @callback
    def _async_on_start(self, _event: Event) -> None:
        self._look(chain.from_iterable(map(self._news, coordinators(self._hass))))

    @callback
    def _async_on_news(self, coordinator: BikeTrackerCoordinator) -> None:
        self._look(self._news(coordinator))

    @callback
    def _async_on_registry(self, _event: Event[Any]) -> None:
        # Nobody asked since it was empty: that is followed in a moment.
        if self._trackers_in.cache_info().currsize:
            self._trackers_in.cache_clear()
            follow = HassJob(self._async_on_targets, cancel_on_shutdown=True)
            async_call_later(self._hass, _FOLLOW_AFTER, follow)

    @callback
    def _async_on_targets(self, _now: datetime) -> None:
        self._look([*chain.from_iterable(map(self._follow, self._attached))])

    @callback
    def _async_on_time(self, now: datetime) -> None:
        self._timer = _NEVER, self._timer[1]
        self._look([*self._ended(now, is_silence=False)])
        # Silence is told by an answer alone.
        waits = (
            at for trigger, at in self._attached.items() if not trigger.kind.is_silence
        )
        self._set_timer(min(waits, default=_NEVER))

    def _set_timer(self, at: datetime) -> None:
        """Come then, if not before."""
        if at < self._timer[0]:
            self._timer[1]()
            job = HassJob(self._async_on_time, cancel_on_shutdown=True)
            seconds = (at - dt_util.utcnow()).total_seconds()
            self._timer = at, async_call_later(self._hass, seconds, job)

    # Who is to look

    def _follow(self, trigger: AttachedTrigger) -> list[Look]:
        """Follow what came into a trigger's target, or left it; look at what came."""
        unique_ids = self._trackers_in(trigger.target)
        if unique_ids == trigger.marks.keys():
            return []
        looks = [*self._at(unique_ids - trigger.marks.keys(), trigger)]
        listed = {name: account.data.after[name] for account, name, _ in looks}
        # One that begins later is of an automation that is new or was off.
        is_unsure = self._hass.state is not CoreState.running
        trigger.follow(unique_ids, listed, dt_util.utcnow(), is_unsure=is_unsure)
        self._remember()
        return looks

    def _at(
        self, unique_ids: Iterable[str], trigger: AttachedTrigger
    ) -> Iterator[Look]:
        """Yield those of some trackers that are listed: others are news once they are."""
        for coordinator in coordinators(self._hass):
            for unique_id in unique_ids & coordinator.data.after.keys():
                yield coordinator, unique_id, trigger

    def _news(self, coordinator: BikeTrackerCoordinator) -> Iterator[Look]:
        """Yield what is new of an account since it was last heard of."""
        if coordinator not in self._heard:
            self._recall(coordinator)
        changes, known = coordinator.data, self._heard.get(coordinator, {})
        self._heard[coordinator] = changes.after
        for unique_id in changes.changed_since(known) & changes.after.keys():
            before, now = known.get(unique_id), changes.after[unique_id]
            for trigger in self._attached:
                if unique_id in trigger.marks and (
                    before is None
                    or trigger.kind.reads(before) != trigger.kind.reads(now)
                ):
                    yield coordinator, unique_id, trigger
        asked_at = coordinator.account.asked_at or dt_util.utcnow()
        yield from self._ended(asked_at, is_silence=True)

    def _ended(self, by: datetime, *, is_silence: bool) -> Iterator[Look]:
        """Yield those whose wait is over, or was put off meanwhile."""
        for trigger, at in self._attached.items():
            if at <= by and trigger.kind.is_silence is is_silence:
                ended = {name for name, end in trigger.waits.items() if end <= by}
                for unique_id in ended:
                    del trigger.waits[unique_id]
                self._attached[trigger] = min(trigger.waits.values(), default=_NEVER)
                yield from self._at(ended & trigger.marks.keys(), trigger)

    # What becomes of it

    def _look(self, looks: Iterable[Look]) -> None:
        """Tell what is due, oldest first."""
        if self._hass.state is CoreState.running:
            now = dt_util.utcnow()
            due = [found for look in looks for found in self._due(look, now)]
            for _, look, item in sorted(due, key=itemgetter(0)):
                self._tell(look, item)

    def _due(self, look: Look, now: datetime) -> Iterator[tuple[datetime, Look, Item]]:
        """Yield what is due, and when it became so; come again for the rest."""
        coordinator, unique_id, trigger = look
        if not coordinator.last_update_success:
            # All of it is news once the service answers.
            self._heard.pop(coordinator, None)
            return
        is_silence = trigger.kind.is_silence
        by = trigger.kind.judged_at(coordinator.account.asked_at, now)
        for at, item in trigger.to_tell(unique_id, coordinator.data.after[unique_id]):
            if at <= by or not (trigger.wait or is_silence):
                yield at, look, item
            # Each report puts silence off: nothing to note.
            elif at < trigger.waits.get(unique_id, _NEVER):
                trigger.waits[unique_id] = at
                self._attached[trigger] = min(at, self._attached[trigger])
                if not is_silence:
                    self._set_timer(at)

    def _tell(self, look: Look, item: Item) -> None:
        coordinator, unique_id, trigger = look
        mark = trigger.marks.get(unique_id)
        # What was told before this may have ended the trigger.
        if mark is None or (mark.told and item.at <= mark.told):
            return
        trigger.marks[unique_id] = mark._replace(told=item.at)
        coordinator.store.async_write_within(SOON)
        try:
            trigger.tell(coordinator, unique_id, item)
        except Exception:  # noqa: BLE001 - the others are told all the same
            LOGGER.exception("Unexpected error running a trigger")

    # What was written before

    def _recall(self, coordinator: BikeTrackerCoordinator) -> None:
        """Let triggers go on where they were with an account's trackers."""
        written = coordinator.store.take_marks()
        for trigger in self._attached:
            trigger.recall(coordinator.account.remembered.stories, written)
        coordinator.store.async_write_within(SOON)


@singleton(HassKey[AttachedTriggers](f"{DOMAIN}_attached"))
def attached_triggers(hass: HomeAssistant) -> AttachedTriggers:
    """Return all triggers that are listening."""
    return AttachedTriggers(hass)
