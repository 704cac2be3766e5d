"""Data update coordinator: polls, and applies polls, push messages and the history."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, Final, override

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import CoreState, HassJob, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator
from homeassistant.util import dt as dt_util

from .api.models import Position
from .api.websocket import Message
from .const import DOMAIN, LOGGER
from .database import Database
from .devices import TrackerDevices, async_create_issue, async_delete_issue
from .polling import Service
from .polling.history import HistoryRequest
from .polling.live import Live
from .tracking import Account, log_errors
from .tracking.history import HistoryAnswer, UpdateContext, rides_before
from .tracking.state import Changes

_INTERVAL: Final = timedelta(seconds=60)
# Maximum number of reports to apply in one step of the event loop. Applying them costs
# 10 ms. If they are late, the tracker's log is replayed, which costs another 45 ms.
_REPORTS_AT_ONCE: Final = 200


class BikeTrackerCoordinator(DataUpdateCoordinator[Account]):
    """Polls an account, and applies the polls, push messages and history answers to its trackers."""

    config_entry: ConfigEntry

    def __init__(self, service: Service, database: Database) -> None:
        hass, entry = service.hass, service.entry
        super().__init__(
            hass,
            LOGGER,
            config_entry=entry,
            name=f"{DOMAIN} {entry.title}",
            update_interval=_INTERVAL,
        )
        self.data = Account(entry.title, database.content.states)
        self.changed = set[str]()
        """The `uniqueId` of each tracker that changed and whose listeners still have to be notified."""
        self.contacted = set[str]()
        """Like `changed`, for trackers of which only the time of the last contact changed."""
        self.database = database
        self.devices = TrackerDevices(hass, entry)
        self.service = service
        self._polling = asyncio.Lock()
        self.live = Live(
            *(self, service.client, self._async_apply_messages),
            database.content.has_been_live,
        )
        # Stop polling when Home Assistant stops, because it closes its HTTP sessions.
        stop = HassJob(self.async_shutdown)
        entry.async_on_unload(hass.async_add_shutdown_job(stop))

    @property
    def is_up(self) -> bool:
        """Return whether Home Assistant is running, the account is loaded, and its last poll succeeded."""
        is_loaded = self.config_entry.state is ConfigEntryState.LOADED
        is_running = self.hass.state is CoreState.running
        return self.last_update_success and is_loaded and is_running

    def signal(self, unique_id: str) -> str:
        """Return the name of the signal that is sent when a tracker changes.

        For the signal of its last contact, add `_contact` to the `uniqueId`. If a
        listener fails, Home Assistant logs the signal, so it contains no `uniqueId`.
        """
        return f"{DOMAIN}_changed_{self.config_entry.entry_id}_{hash(unique_id)}"

    @callback
    @override
    def async_add_listener(
        self, update_callback: Callable[[], None], context: Any = None
    ) -> Callable[[], None]:
        """Listen to every update or, if the context is a `uniqueId`, only to the signal of that tracker.

        The context may also end in `_contact`, as described in `signal`.
        """
        if context is None:
            return super().async_add_listener(update_callback)
        signal = self.signal(context)
        return async_dispatcher_connect(self.hass, signal, update_callback)

    # Polls

    @override
    async def async_refresh(self) -> None:
        await self._async_uninterrupted(super().async_refresh())

    @override
    async def async_request_refresh(self) -> None:
        """Poll now or, if the last request was only seconds ago, at the end of Home Assistant's cooldown."""
        await self._async_uninterrupted(super().async_request_refresh())

    async def _async_uninterrupted(self, poll: Coroutine[Any, Any, None]) -> None:
        """Poll to the end, even if the caller is canceled earlier."""
        # Poll in a separate task: Home Assistant would treat a canceled poll as failed.
        task = self.config_entry.async_create_background_task(
            self.hass, poll, f"{DOMAIN} poll on demand"
        )
        await asyncio.wait([task])

    @callback
    def async_sign_in(self, password: str) -> None:
        """Set a new password, and poll in the background."""
        self.service.client.password = password
        self.config_entry.async_create_background_task(
            self.hass, self.async_refresh(), f"{DOMAIN} poll after signing in"
        )

    @override
    async def _async_update_data(self) -> Account:
        # The user may have renamed the account: the log must show its new name.
        self.name = f"{DOMAIN} {self.config_entry.title}"
        # Apply earlier messages first, because the poll is newer. Messages that arrive
        # during the poll are applied after it.
        while self.live.messages:
            self._async_apply_messages()
            await asyncio.sleep(0)
        try:
            async with self._polling:
                await self._async_poll()
        finally:
            self._async_apply_messages()
        if self.service.positions.support.works and self.live.task is None:
            self.live.async_start()
        self._async_request_more()
        return self.data

    async def _async_poll(self) -> None:
        """Request the device list and the positions, and apply them."""
        has_missed = self.service.has_missed
        listed = await self.service.async_get_devices()
        devices = self.devices.async_own(listed)
        wanted = self.data.wanted(devices)
        positions = await self.service.positions.async_get(wanted)
        if positions:
            # Let other tasks run between reading and applying the positions.
            await asyncio.sleep(0)
        context = self._context(has_missed=has_missed)
        for changes in self.data.apply_poll(devices, positions, context):
            self._async_take(changes)
            if positions:
                await asyncio.sleep(0)
        self.service.answered_at = self.service.asked_at
        if listed:
            async_delete_issue(self.hass, self.config_entry, "no_trackers")
        else:
            async_create_issue(self.hass, self.config_entry, "no_trackers")

    def _context(self, *, has_missed: bool, is_complete: bool = False) -> UpdateContext:
        """Return the context of a poll or message that is applied now."""
        now, is_up, has_history = dt_util.utcnow(), self.is_up, self.service.has_history
        return UpdateContext(now, not is_up, is_complete, has_history, has_missed)

    @callback
    def _async_request_more(self) -> None:
        """Request missing reports, or rides from before the set-up, in the background if a request is due."""
        data, untils = self.data, self.database.content.backfill
        request = self.service.history.next_request(
            data.gaps, untils, data.trackers, dt_util.utcnow()
        )
        if request:
            self.config_entry.async_create_background_task(
                self.hass, self._async_ask_history(request), f"{DOMAIN} history"
            )

    async def _async_ask_history(self, request: HistoryRequest) -> None:
        """Send a request and apply its answer. An unexpected error postpones only the requests for this tracker."""
        history = self.service.history
        async with history.applying(request.tracker, self.config_entry.title):
            answer = await history.async_ask(request)
            if answer and request.is_backfill:
                await self._async_book(request, answer)
            elif answer:
                await self._async_apply_history(request, answer)
        if history.extra_requests.is_quick and self.last_update_success:
            self._async_request_more()

    async def _async_apply_history(
        self, request: HistoryRequest, answer: HistoryAnswer
    ) -> None:
        """Apply an answer in a thread, because thousands of reports would block the event loop.

        If a report changes the tracker before the thread ends, the gap stays open, so a
        later request fetches the reports again.
        """
        states, now = self.data.states, dt_util.utcnow()
        before = states.get(request.tracker)
        after = before and await asyncio.to_thread(before.with_history, answer, now)
        if after and states.get(request.tracker) is before:
            changes = self.data.apply_history(request.tracker, after, now)
            self.async_set_changes(changes)

    async def _async_book(self, request: HistoryRequest, answer: HistoryAnswer) -> None:
        # Find the rides in a thread: thousands of reports would block the event loop.
        rides, until = await asyncio.to_thread(
            rides_before, answer, request.start, dt_util.utcnow()
        )
        await self.database.async_book(request.tracker, rides, until)
        self.changed.add(request.tracker)
        self.async_update_listeners()

    @callback
    def _async_take(self, changes: Changes) -> None:
        """Store trackers that changed, and note all trackers whose listeners have to be notified later."""
        self.changed |= changes.keys
        self.contacted |= changes.contacts
        for unique_id in changes.keys & changes.after.keys():
            before, after = changes.before.get(unique_id), changes.after[unique_id]
            with log_errors(self.config_entry.title, "storing a tracker"):
                self.database.async_follow(before, after)
                self.devices.async_follow(after)

    # Between polls

    @callback
    def _async_apply_messages(self) -> None:
        """Apply waiting push messages, even while polls fail. During a poll, messages wait until its end."""
        if self._polling.locked() or not self.live.messages:
            return
        self.database.content.has_been_live = True
        context = self._context(
            has_missed=self.service.has_missed,
            is_complete=self.live.connected_since_before(self.service.answered_at),
        )
        changes: list[Changes] = []
        for message in self._portion():
            with log_errors(self.config_entry.title, "handling a push message"):
                changes.append(
                    self.data.apply_message(message.devices, message.positions, context)
                )
        self.async_set_changes(*changes)
        if self.live.messages:
            # Let other tasks run before the remaining messages are applied.
            self.hass.loop.call_soon(self._async_apply_messages)

    def _portion(self) -> list[Message]:
        """Remove the messages for one step from the queue, and return them with all reports in a last message.

        If each late report were applied alone, each would replay the tracker's log.
        """
        limit, portion, reports = _REPORTS_AT_ONCE, list[Message](), list[Position]()
        while self.live.messages and limit > 0:
            devices, positions = self.live.messages.pop(0)
            if devices:
                portion.append(Message(devices, []))
            if rest := positions[limit:]:
                self.live.messages.insert(0, Message([], rest))
            reports += positions[:limit]
            limit -= len(positions) + 1
        return [*portion, Message([], reports)]

    @callback
    def async_set_changes(self, *changes: Changes) -> None:
        """Store changes that come from no poll, notify listeners, and request the history if a gap needs it.

        If no other notification is under way, the listeners are notified at once.
        """
        for each in changes:
            self._async_take(each)
        if self.changed or self.contacted:
            self.async_update_listeners()
            # Without a gap, send no request here: rides from before the set-up can wait
            # for the next poll.
            if self.data.gaps and self.last_update_success:
                self._async_request_more()


def coordinators(hass: HomeAssistant) -> list[BikeTrackerCoordinator]:
    """Return the coordinators of all accounts that are loaded."""
    entries = hass.config_entries.async_loaded_entries(DOMAIN)
    return [entry.runtime_data.coordinator for entry in entries]
