"""Polling: when to ask, what a failure means, and who is told of what came."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import Any, Final, override

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import CALLBACK_TYPE, CoreState, HomeAssistant, callback
from homeassistant.exceptions import ConfigEntryAuthFailed
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.helpers.start import async_at_started
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator, UpdateFailed
from homeassistant.util import dt as dt_util
from homeassistant.util.signal_type import SignalType

from .account import Account, Tracker, Trackers
from .api import (
    AuthenticationError,
    Device,
    InvalidResponseError,
    LiveClient,
    Message,
    News,
    Position,
    RedirectedError,
    ServiceUnavailableError,
    TrackingClient,
    TrackingError,
)
from .asking.later import Later
from .asking.positions import PositionLookup
from .asking.sign_in import SignIn
from .asking.waits import Backoff, Requests
from .const import DOMAIN, LOGGER
from .fleet.handover import async_hand_over
from .fleet.memory import Marks, Memory
from .fleet.oddities import Oddities
from .fleet.outage import async_begin_outage, async_end_outage
from .fleet.registries import Fleet
from .fleet.troubles import async_create_issue, async_delete_issue
from .identity import name_of
from .listeners import TrackerListeners
from .live import Live

_INTERVAL: Final = timedelta(seconds=60)
# The list and positions.
_REQUESTS_OF_A_POLL: Final = 2
# How long trackers that come back are shown where they were.
_MOVE_AFTER: Final = 5
# Automations begin to listen when Home Assistant has started, all of them in a moment.
_LISTEN_AFTER: Final = 5

_TRANSLATION_KEYS: Final = {
    InvalidResponseError: "invalid_response",
    RedirectedError: "redirected",
    ServiceUnavailableError: "service_unavailable",
}


type Answers = tuple[News[str, Device], News[str, Device], Mapping[str, Position]]


@dataclass(slots=True)
class Poll:
    """What a maintainer wants to know of the last poll."""

    time: datetime | None = None
    seconds: float | None = None
    last_error: str | None = None
    last_error_time: datetime | None = None


class BikeTrackerCoordinator(DataUpdateCoordinator[News[str, Tracker]]):
    """Polls the trackers of one account and tells the entities of those that changed."""

    config_entry: ConfigEntry
    account: Account
    fleet: Fleet
    positions: PositionLookup

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        client: TrackingClient,
        live: LiveClient,
    ) -> None:
        """Poll for this entry."""
        super().__init__(
            hass,
            LOGGER,
            config_entry=entry,
            name=_name(entry),
            update_interval=_INTERVAL,
            always_update=False,
        )
        self.client = client
        self.live = Live(
            hass,
            entry,
            live,
            self._async_hear,
            lambda: self.last_update_success,
            self._async_poll_anew,
        )
        self.poll = Poll()
        self._memory = Memory(hass, entry)
        self._tracker_listeners = TrackerListeners(hass, entry)
        self._backoff = Backoff()
        self._requests = Requests()
        self._sign_in = SignIn(hass, entry)
        self._move = Later(hass, entry, _MOVE_AFTER, self._async_move)
        self._listen = Later(hass, entry, _LISTEN_AFTER, self._async_tell_after_start)
        self._has_started = hass.state is CoreState.running
        self._asking: asyncio.Task[Answers] | None = None
        self._last_success: float | None = None
        self._oddities = Oddities(entry, client.devices)
        self.asked_at: datetime | None = None
        """When the poll was begun whose answer is known, in UTC."""
        self._added_at = 0.0
        # What listeners were told last; None is that they are unavailable.
        self._told: Trackers | None = None

    @override
    async def _async_setup(self) -> None:
        remembered = await self._memory.async_load()
        self.account = Account(remembered)
        self.fleet = Fleet(self.hass, self.config_entry)
        self.positions = PositionLookup(
            self.config_entry,
            self.client,
            self._requests,
            known=any(story.position for story in remembered.stories.values()),
        )
        for clean_up in (
            self._memory.async_close,
            partial(async_delete_issue, self.hass, self.config_entry, "no_trackers"),
            async_at_started(self.hass, self._async_on_start),
        ):
            self.config_entry.async_on_unload(clean_up)

    @override
    async def async_refresh(self) -> None:
        """Poll now."""
        await self._async_uninterrupted(super().async_refresh())

    @override
    async def async_request_refresh(self) -> None:
        """Poll now, or soon if there was a request just before."""
        await self._async_uninterrupted(super().async_request_refresh())

    async def _async_uninterrupted(self, poll: Coroutine[Any, Any, None]) -> None:
        """Poll to the end, even if whoever asked for it is cut short.

        Home Assistant takes a poll that is cut short for a failed one and tells nobody,
        which would hide a failure that comes next.
        """
        task = self.config_entry.async_create_background_task(
            self.hass, poll, f"{DOMAIN} poll on demand"
        )
        await asyncio.wait([task])

    async def async_stop(self) -> None:
        """Poll no more, and end at once what would outlive the session it needs."""
        await self.async_shutdown()
        if asking := self._asking:
            asking.cancel()
            await asyncio.wait([asking])

    @override
    async def _async_update_data(self) -> News[str, Tracker]:
        self.live.async_take_in()
        asked_at, began = dt_util.utcnow(), self.account.messages
        answers = await self._async_ask_until_stopped(began)
        if answers is None:
            return self.data
        listed, devices, positions = answers
        heard = self.account.heard_since_poll
        news = self.account.take(
            devices,
            positions,
            now=dt_util.utcnow(),
            came_back=self._came_back,
            began=began,
        )
        self.asked_at = asked_at
        if _is_to_be_remembered(news):
            self.async_remember()
        self._describe(news)
        self.live.async_follow_poll(
            offered=self.positions.offer.works, heard=heard, untold=_reports(news)
        )
        self._count_missing(listed.now)
        self._async_move_later()
        # Not what changed now alone: an error may have been in the way of the poll before.
        if self.data is not None and self.data.now is news.now:
            return self.data
        return news

    async def _async_ask_until_stopped(self, began: int) -> Answers | None:
        self._asking = self.config_entry.async_create_background_task(
            self.hass, self._async_ask(began), f"{DOMAIN} poll"
        )
        try:
            await asyncio.wait([self._asking])
            return None if self._asking.cancelled() else self._asking.result()
        finally:
            self._asking = None

    async def _async_ask(self, began: int) -> Answers:
        """Return the device list, what of it is ours, and positions that are wanted."""
        self.poll.time = dt_util.utcnow()
        start = monotonic()
        try:
            listed = await self._async_get_devices()
            await self._async_take_over(listed.now)
            devices = self.fleet.async_claim(listed)
            wanted = self.account.wanted(devices, began=began)
            return listed, devices, await self.positions.async_get(wanted)
        finally:
            self.poll.seconds = monotonic() - start

    @callback
    def _async_hear(self, message: Message) -> None:
        """Take in what the service said by itself, also while polls fail."""
        news = self.account.hear(
            message.devices,
            message.positions,
            now=dt_util.utcnow(),
            came_back=self._came_back,
        )
        self._async_tell(news)
        self._async_move_later()

    @callback
    def _async_poll_anew(self) -> None:
        """Poll now that a live connection began anew: it tells no devices at first.

        Not where that would be too many requests: the next poll comes within a minute.
        """
        if self.last_update_success and self._requests.spare >= _REQUESTS_OF_A_POLL:
            self.config_entry.async_create_background_task(
                self.hass, self.async_refresh(), f"{DOMAIN} poll"
            )

    async def _async_take_over(self, listed: Mapping[str, Device]) -> None:
        """Take over trackers of a list that another account has and lists no more."""
        for entry in self.hass.config_entries.async_loaded_entries(DOMAIN):
            giver: BikeTrackerCoordinator = entry.runtime_data.coordinator
            moving = self.fleet.elsewhere & listed.keys()
            moving = set(filter(giver.fleet.has_lost, moving))
            if not moving:
                continue
            for unique_id in moving:
                self.account.adopt(unique_id, giver.account)
            # What is known is never in no file, should Home Assistant be killed.
            await self._memory.async_save()
            for unique_id in filter(giver.fleet.has_lost, moving):
                if device := giver.fleet.device_of(unique_id):
                    await async_hand_over(self.hass, device, self.config_entry)
                giver.async_forget(unique_id)
                entry.runtime_data.entities.async_forget(unique_id)

    async def _async_get_devices(self) -> News[str, Device]:
        """Return the device list, or raise what the failure means to Home Assistant."""
        # A person may have renamed it.
        self.name = _name(self.config_entry)
        self._requests.note()
        try:
            devices = await self.client.async_get_devices()
        except TrackingError as err:
            self.poll.last_error = f"{type(err).__name__}: {err}"
            self.poll.last_error_time = self.poll.time
            async_begin_outage(
                self.hass, self.config_entry, str(err), self._last_success
            )
            # A failure says nothing of who is missing.
            self._last_success = None
            # Home Assistant keeps the failure, whose traceback would keep the answer.
            raise self._failure(err) from err.with_traceback(None)
        self._backoff.succeed()
        self._sign_in.async_succeed()
        async_end_outage(self.hass, self.config_entry)
        self._oddities.log()
        return devices

    def _failure(self, err: TrackingError) -> Exception:
        is_set_up = self.data is not None
        if not isinstance(err, AuthenticationError):
            self._sign_in.async_fail_otherwise()
            wait = self._backoff.fail(err.retry_after)
            # The first waits of a set-up are Home Assistant's own.
            is_obeyed = is_set_up or err.retry_after is not None
            return UpdateFailed(
                translation_domain=DOMAIN,
                translation_key=_TRANSLATION_KEYS.get(type(err), "cannot_connect"),
                translation_placeholders={"error": str(err)},
                retry_after=wait if is_obeyed else None,
            )
        if not is_set_up:
            return ConfigEntryAuthFailed(
                translation_domain=DOMAIN, translation_key="unauthorized"
            )
        # Not that error again, at which Home Assistant would end polling.
        return UpdateFailed(
            translation_domain=DOMAIN,
            translation_key="unauthorized",
            retry_after=self._sign_in.async_fail(),
        )

    @property
    def automations_listen(self) -> bool:
        """Return whether what happens is noticed, once it is told."""
        return self._has_started and self.hass.state is CoreState.running

    @callback
    def _async_on_start(self, _hass: HomeAssistant) -> None:
        self._async_move_later()
        if not self._has_started:
            self._listen.async_schedule()

    @callback
    def _async_tell_after_start(self) -> None:
        self._has_started = True
        self._tracker_listeners.async_call_all()

    @property
    def _came_back(self) -> bool:
        """Return whether the trackers were unavailable until now."""
        return (
            not self.last_update_success
            or self.config_entry.state is not ConfigEntryState.LOADED
            or not self.automations_listen
        )

    @callback
    def async_entity_added(self) -> None:
        """Take in that there is one more entity, which may be one of a tracker's."""
        self._added_at = monotonic()

    @callback
    def _async_move_later(self) -> None:
        """Let trackers that came back move soon, once automations listen."""
        is_running = self.hass.state is CoreState.running
        if self.account.holds_back and is_running and not self._move.is_scheduled:
            self._move.async_schedule()

    @callback
    def _async_move(self) -> None:
        to_wait = self._added_at + _MOVE_AFTER - monotonic()
        if to_wait > 0 or self.config_entry.state is not ConfigEntryState.LOADED:
            self._move.async_schedule(max(1, to_wait))
        # While they are unavailable they stay where they were: they come back once more.
        elif self.last_update_success:
            self._async_tell(self.account.move())

    @callback
    def _async_tell(self, news: News[str, Tracker]) -> None:
        """Tell what came between polls, which come as if nothing had."""
        if news.changed:
            self._describe(news)
            self.data = news
            self.async_remember()
            # While trackers are unavailable there is nothing to tell.
            if self.last_update_success:
                self.async_update_listeners()

    def _describe(self, news: News[str, Tracker]) -> None:
        """Let devices be called what the service calls them now."""
        known: Trackers = {} if self.data is None else self.data.now
        for unique_id in news.since(known):
            before, now = known.get(unique_id), news.now.get(unique_id)
            if now and (before is None or _description(before) != _description(now)):
                self.fleet.async_describe(now.device, now.firmware)

    @callback
    def async_remember(self) -> None:
        """Write what is known, and how far triggers are, within seconds."""
        self._memory.async_save_later()

    @callback
    def async_claim_marks(self) -> Marks:
        """Return how far triggers were before a restart, once."""
        marks, self._memory.marks = self._memory.marks, []
        return marks

    def _count_missing(self, listed: Mapping[str, Device]) -> None:
        """Remove trackers that are missing for too long; an empty list tells of none."""
        seconds = self._seconds_since_success()
        if not listed:
            async_create_issue(self.hass, self.config_entry, "no_trackers")
            return
        async_delete_issue(self.hass, self.config_entry, "no_trackers")
        was_missing = bool(self.account.remembered.missing)
        for unique_id in self.account.count_missing(self.fleet.had, seconds):
            self.fleet.async_remove(unique_id)
            self.async_forget(unique_id)
        if was_missing or self.account.remembered.missing:
            self.async_remember()

    def _seconds_since_success(self) -> float:
        """Return how long polls succeeded without a break, up to this one."""
        before, self._last_success = self._last_success, monotonic()
        return 0 if before is None else self._last_success - before

    @callback
    @override
    def async_add_listener(
        self, update_callback: CALLBACK_TYPE, context: Any = None
    ) -> Callable[[], None]:
        """Listen to one tracker, whose `uniqueId` is the context, or to every change."""
        if context is None:
            return super().async_add_listener(update_callback)
        return self._tracker_listeners.async_add(context, update_callback)

    @callback
    @override
    def async_update_listeners(self) -> None:
        """Tell those who listen to every change, then those to trackers that changed."""
        told = self._told
        self._told = self.data.now if self.last_update_success else None
        super().async_update_listeners()
        if told is None or self._told is None:
            self._tracker_listeners.async_call_all()
        else:
            self._tracker_listeners.async_call(self.data.since(told))
        self._async_tell_automations_of_answer()
        if self.data is not None:
            self.data = self.data.told()

    @callback
    @override
    def _async_refresh_finished(self) -> None:
        """Tell automations of each answer, after all others: one may wait for it."""
        self.hass.loop.call_soon(self._async_tell_automations_of_answer)

    @callback
    def _async_tell_automations_of_answer(self) -> None:
        if self.config_entry.state is ConfigEntryState.LOADED:
            self.async_tell_automations()

    @callback
    def async_tell_automations(self) -> None:
        """Tell those who listen to all accounts; of a failure there is nothing to tell."""
        if self.last_update_success:
            async_dispatcher_send(self.hass, SIGNAL_NEWS, self)

    @callback
    def async_forget(self, unique_id: str) -> None:
        """Forget all about a tracker whose device was removed."""
        self.fleet.async_forget(unique_id)
        self.account.forget(unique_id)
        self.async_remember()


SIGNAL_NEWS: Final[SignalType[BikeTrackerCoordinator]] = SignalType(f"{DOMAIN}_news")
"""Says that an account was heard of, with its coordinator."""


def _name(entry: ConfigEntry) -> str:
    return f"{DOMAIN} {name_of(entry)}"


def _description(tracker: Tracker) -> tuple[str | None, ...]:
    return tracker.device.name, tracker.device.model, tracker.firmware


def _is_to_be_remembered(news: News[str, Tracker]) -> bool:
    """Return whether there is of a tracker what was not to be remembered before."""
    return any(
        (before := news.before.get(unique_id)) is None
        or before.story is not news.now[unique_id].story
        for unique_id in news.changed & news.now.keys()
    )


def _reports(news: News[str, Tracker]) -> bool:
    """Return whether a tracker reported, which a live connection would have told."""
    return any(
        before.device.last_update != now.device.last_update
        or before.position != now.position
        for unique_id in news.changed
        if (before := news.before.get(unique_id)) and (now := news.now.get(unique_id))
    )
