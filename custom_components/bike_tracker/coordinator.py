"""Polling: ask, take in the answer, and tell those who listen what is different."""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping
from datetime import timedelta
from functools import partial
from itertools import batched
from typing import Any, Final, override

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import CALLBACK_TYPE, CoreState, Event, HomeAssistant, callback
from homeassistant.helpers.dispatcher import (
    async_dispatcher_connect,
    async_dispatcher_send,
)
from homeassistant.helpers.start import async_at_started
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator
from homeassistant.util import dt as dt_util
from homeassistant.util.signal_type import SignalType

from .api import Changes, Device, Message
from .const import DOMAIN, LOGGER
from .live import Live
from .polling.history import HistoryRequest
from .polling.poll import Answer, Service
from .polling.timer import Timer
from .registry.devices import TrackerDevices
from .registry.repair_issues import async_create_issue, async_delete_issue
from .registry.ride_book import RideBook
from .registry.storage import SOON, TrackerStore
from .tracking import Account, Moment, Tracker, Trackers

_INTERVAL: Final = timedelta(seconds=60)
SILENT: Final = timedelta(minutes=5)
"""How old the last report of a tracker is that reports no more for now."""
_START_SECONDS: Final = 5
# Fifteen milliseconds of work where each has nine entities.
_TRACKERS_AT_ONCE: Final = 100


class BikeTrackerCoordinator(DataUpdateCoordinator[Changes[str, Tracker]]):
    """Polls the trackers of one account and tells the entities of those that changed."""

    config_entry: ConfigEntry

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        service: Service,
        store: TrackerStore,
        rides: RideBook,
    ) -> None:
        """Poll for this entry, whose files are read."""
        super().__init__(
            hass,
            LOGGER,
            config_entry=entry,
            name=_name(entry),
            update_interval=_INTERVAL,
            always_update=False,
        )
        self.account = Account(store.remembered)
        self.store = store
        self.rides = rides
        """The rides of the account that are over."""
        self.devices = TrackerDevices(hass, entry)
        self.service = service
        self.live = Live(self, service.client, self._async_handle_message)
        # Messages that arrived during a poll; None while there is none under way.
        self._waiting_messages: list[Message] | None = None
        self.adding: set[str] = set()
        """Trackers whose entities are being added."""
        # Those that entities were notified of last; None is that they are unavailable.
        self._notified: Trackers | None = None
        self._silent_before = dt_util.utcnow() - SILENT
        self._has_started = hass.state is CoreState.running
        self._starting = Timer(hass, entry, self._async_on_started)
        if not self._has_started:
            entry.async_on_unload(async_at_started(hass, self._async_on_start))
        entry.async_on_unload(partial(async_delete_issue, hass, entry, "no_trackers"))
        entry.async_on_unload(
            hass.bus.async_listen(EVENT_HOMEASSISTANT_STOP, self._async_on_stop)
        )

    # Polls

    @override
    async def async_refresh(self) -> None:
        """Poll now."""
        await self._async_uninterrupted(super().async_refresh())

    @override
    async def async_request_refresh(self) -> None:
        """Poll now, or soon if there was a request just before."""
        await self._async_uninterrupted(super().async_request_refresh())

    async def _async_uninterrupted(self, poll: Coroutine[Any, Any, None]) -> None:
        """Poll to the end, even if whoever asked for it is cut short."""
        # Home Assistant would take it for a failed one, and tell nobody of the next.
        task = self.config_entry.async_create_background_task(
            self.hass, poll, f"{DOMAIN} poll on demand"
        )
        await asyncio.wait([task])

    async def _async_on_stop(self, _event: Event) -> None:
        """Poll no more: what somebody asked for would find its connections closed."""
        await self.async_shutdown()

    @override
    async def _async_update_data(self) -> Changes[str, Tracker]:
        # A person may have renamed it.
        self.name = _name(self.config_entry)
        self._waiting_messages = waiting = list[Message]()
        try:
            answer, changes = await self._async_poll()
        finally:
            # A poll wins over messages before it, and later ones are applied after it.
            self._waiting_messages = None
            for message in waiting:
                self._async_handle_message(message)
        if answer.offers_positions:
            self.live.async_start()
        self._async_follow_list(answer.listed)
        await asyncio.sleep(0)
        # Not what changed now alone: an error may have been in the way of the poll before,
        # and a message may have come meanwhile.
        is_known = self.data is not None and self.data.after is self.account.trackers
        return self.data if is_known else changes

    async def _async_poll(self) -> tuple[Answer, Changes[str, Tracker]]:
        """Return an answer, and what changed by it."""
        answer = await self.service.async_ask(self.account, self.devices.async_own)
        # Reading, applying and notifying of thousands of reports are three goes of the
        # loop.
        await asyncio.sleep(0)
        moment = self._moment()
        changes = self.account.take(
            answer.devices, answer.positions, moment, answer.began
        )
        self._follow(changes)
        self._async_request_history()
        return answer, changes

    def _moment(self, *, is_whole: bool = False) -> Moment:
        """Return what is known of this moment, for what is taken in."""
        came_back = (
            not self.last_update_success
            or not self._is_loaded
            or not self.automations_listen
        )
        return Moment(dt_util.utcnow(), came_back, is_whole, self.service.has_history)

    @property
    def _is_loaded(self) -> bool:
        return self.config_entry.state is ConfigEntryState.LOADED

    # Between polls

    @callback
    def _async_handle_message(self, message: Message) -> None:
        """Handle a push message, also while polls fail; during a poll it waits."""
        if self._waiting_messages is not None:
            self._waiting_messages.append(message)
            return
        is_whole = self.live.connected_since_before(self.account.asked_at)
        moment = self._moment(is_whole=is_whole)
        try:
            changes = self.account.hear(message.devices, message.positions, moment)
            self.async_tell(changes)
        except Exception:  # noqa: BLE001 - the next message is handled all the same
            LOGGER.exception(
                "%s: Unexpected error handling a push message", self.config_entry.title
            )

    @property
    def automations_listen(self) -> bool:
        """Return whether what happens is noticed, once it is told."""
        return self._has_started and self.hass.state is CoreState.running

    @callback
    def _async_request_history(self) -> None:
        """Ask for reports that may be missing, if it is time to."""
        account, history = self.account, self.service.history
        now = dt_util.utcnow()
        if request := history.next_request(account.gaps, account.trackers, now):
            self.config_entry.async_create_background_task(
                self.hass, self._async_apply_history(request), f"{DOMAIN} history"
            )

    async def _async_apply_history(self, request: HistoryRequest) -> None:
        answer = await self.service.history.async_ask(request)
        for part in answer.parts() if answer else ():
            moment = self._moment()
            self.async_tell(self.account.apply_history(request.tracker, part, moment))
            await asyncio.sleep(0)

    @callback
    def _async_on_start(self, _hass: HomeAssistant) -> None:
        """Wait for automations: all of them begin to listen in a moment."""
        self._starting.async_schedule(_START_SECONDS)

    @callback
    def _async_on_started(self) -> None:
        """Tell what could not be told before."""
        self._has_started = True
        if self.data is not None:
            self._async_notify_all()

    @callback
    def async_tell(self, changes: Changes[str, Tracker]) -> None:
        """Tell what came between polls, which come as if nothing had."""
        self._follow(changes)
        if changes.keys:
            self.data = changes
        # While trackers are unavailable there is nothing to tell, nor to ask for.
        if changes.keys and self.last_update_success:
            self.async_update_listeners()
            self._tell_automations()
            self._async_request_history()

    def _follow(self, changes: Changes[str, Tracker]) -> None:
        known = {} if self.data is None else self.data.after
        if known is changes.after:
            return
        self.store.async_follow(changes)
        self.rides.async_follow(changes)
        self.devices.async_update_names(changes, known)

    # Who listens

    @callback
    @override
    def async_add_listener(
        self, update_callback: CALLBACK_TYPE, context: Any = None
    ) -> Callable[[], None]:
        """Listen to one tracker, whose `uniqueId` is the context, or to every change."""
        if context is None:
            return super().async_add_listener(update_callback)
        return async_dispatcher_connect(
            self.hass, self._signal(context), update_callback
        )

    def _signal(self, unique_id: str) -> SignalType[()]:
        """Return the signal that a tracker changed."""
        return SignalType(f"{DOMAIN}_{self.config_entry.entry_id}_{unique_id}")

    @callback
    @override
    def async_update_listeners(self) -> None:
        """Notify who listens to every change, then those to trackers that changed."""
        super().async_update_listeners()
        if self.data is not None:
            self._async_notify_changed()

    @callback
    def _async_notify_changed(self) -> None:
        notified, self._notified = self._notified, None
        if self.last_update_success:
            self._notified = self.data.after
        if notified is None or self._notified is None:
            # What is our own was available in an outage: also that of one that left the list.
            self._async_notify(self.data.after.keys() | self.data.keys)
        else:
            self._async_notify(self.data.changed_since(notified))
        self.data = self.data.without_before()

    @callback
    def _async_notify_silent(self) -> None:
        """Notify who listens to trackers whose last report became five minutes old."""
        since, self._silent_before = self._silent_before, dt_util.utcnow() - SILENT
        if self.last_update_success:
            self._async_notify(
                [
                    unique_id
                    for unique_id, tracker in self.account.trackers.items()
                    if (at := tracker.device.last_update)
                    and since < at <= self._silent_before
                ]
            )

    @callback
    def _async_notify_all(self) -> None:
        self._async_notify(self.data.after.keys())

    @callback
    def _async_notify(self, unique_ids: Collection[str]) -> None:
        """Notify who listens to these trackers."""
        self.config_entry.async_create_task(self.hass, self._async_send(unique_ids))

    async def _async_send(self, unique_ids: Collection[str]) -> None:
        for batch in batched(unique_ids, _TRACKERS_AT_ONCE, strict=False):
            if len(unique_ids) > _TRACKERS_AT_ONCE:
                await asyncio.sleep(0)
            for unique_id in batch:
                async_dispatcher_send(self.hass, self._signal(unique_id))

    @callback
    @override
    def _async_refresh_finished(self) -> None:
        """Tell automations of each answer: one may wait for it."""
        self._async_notify_silent()
        self._tell_automations()
        self.hass.loop.call_soon(async_dispatcher_send, self.hass, SIGNAL_POLLED, self)

    def _tell_automations(self) -> None:
        """Tell them after all others; of a failure there is nothing to tell."""
        if self.last_update_success and self._is_loaded:
            tell = self.hass.loop.call_soon
            tell(async_dispatcher_send, self.hass, SIGNAL_NEWS, self)

    # Trackers that leave the list

    @callback
    def _async_follow_list(self, listed: Mapping[str, Device]) -> None:
        """Ask the person for trackers while the account has none."""
        if listed:
            async_delete_issue(self.hass, self.config_entry, "no_trackers")
        else:
            async_create_issue(self.hass, self.config_entry, "no_trackers")

    @callback
    def async_forget(self, unique_id: str) -> None:
        """Forget all about a tracker whose device was removed."""
        self.account.forget(unique_id)
        self.rides.async_forget(unique_id)
        self.store.async_write_within(SOON)


SIGNAL_NEWS: Final[SignalType[BikeTrackerCoordinator]] = SignalType(f"{DOMAIN}_news")
"""Says that an account was heard of, with its coordinator."""
SIGNAL_POLLED: Final[SignalType[BikeTrackerCoordinator]] = SignalType(
    f"{DOMAIN}_polled"
)
"""Says that an account was polled, whatever came of it, with its coordinator."""


def _name(entry: ConfigEntry) -> str:
    return f"{DOMAIN} {entry.title}"
