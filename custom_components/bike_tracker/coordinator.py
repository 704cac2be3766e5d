"""Polling: ask, take in the answer, and tell those who listen what is different."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, override

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import CALLBACK_TYPE, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator
from homeassistant.util import dt as dt_util
from homeassistant.util.signal_type import SignalType

from .account import Account, Tracker, Trackers
from .api import Device, LiveClient, Message, News
from .asking.coming_back import ComingBack
from .asking.filling import Filling
from .asking.service import Service
from .const import DOMAIN, LOGGER
from .fleet.handover import async_hand_over
from .fleet.memory import Marks, Memory
from .fleet.registries import Fleet, device_of
from .fleet.ride_book import RideBook
from .fleet.troubles import async_create_issue, async_delete_issue
from .identity import name_of
from .listeners import TrackerListeners
from .live import Live

_INTERVAL: Final = timedelta(seconds=60)


class BikeTrackerCoordinator(DataUpdateCoordinator[News[str, Tracker]]):
    """Polls the trackers of one account and tells the entities of those that changed."""

    config_entry: ConfigEntry

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        service: Service,
        live: LiveClient,
        memory: Memory,
        rides: RideBook,
    ) -> None:
        """Poll for this entry; memory and ride book are loaded."""
        super().__init__(
            hass,
            LOGGER,
            config_entry=entry,
            name=_name(entry),
            update_interval=_INTERVAL,
            always_update=False,
        )
        self.account = Account(memory.remembered)
        self.fleet = Fleet(hass, entry)
        self.service = service
        self.live = Live(
            hass,
            entry,
            live,
            self._async_hear,
            lambda: self.last_update_success,
            self._async_poll_anew,
        )
        self.rides = rides
        self._memory = memory
        entry.async_on_unload(partial(async_delete_issue, hass, entry, "no_trackers"))
        self._tracker_listeners = TrackerListeners(hass, entry)
        self._filling = Filling(
            hass, entry, service, self.account, self._came_back, self._async_tell
        )
        self._coming_back = ComingBack(
            hass, entry, self._async_move, self._tracker_listeners.async_call_all
        )

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
        """Poll no more."""
        await self.async_shutdown()
        await self.service.async_stop()

    @override
    async def _async_update_data(self) -> News[str, Tracker]:
        self.live.async_take_in()
        # A person may have renamed it.
        self.name = _name(self.config_entry)
        answer = await self.service.async_ask(self.account, self._async_claim)
        if answer is None:
            return self.data
        came_back = self._came_back()
        news = self.account.take(
            answer.devices,
            answer.positions,
            now=dt_util.utcnow(),
            came_back=came_back,
            began=answer.began,
            has_history=self.service.has_history,
        )
        self._follow(news, came_back=came_back)
        self._filling.async_look()
        self.live.async_follow_poll(
            offered=answer.offers_positions, untold=_reports(news)
        )
        self._count_missing(answer.listed, answer.seconds)
        # Not what changed now alone: an error may have been in the way of the poll before.
        if self.data is not None and self.data.now is news.now:
            return self.data
        return news

    @callback
    def _async_hear(self, message: Message) -> None:
        """Take in what the service said by itself, also while polls fail."""
        came_back = self._came_back()
        news = self.account.hear(
            message.devices,
            message.positions,
            now=dt_util.utcnow(),
            came_back=came_back,
            is_whole=self.live.stood_at(self.asked_at),
            has_history=self.service.has_history,
        )
        self._async_tell(news, came_back=came_back)

    @callback
    def async_arm(self, unique_id: str) -> bool:
        """Guard a listed tracker where it is; return whether that is known."""
        news = self.account.arm(unique_id, dt_util.utcnow())
        if news:
            self._async_tell(news)
        return news is not None

    @callback
    def async_disarm(self, unique_id: str) -> None:
        """Guard a listed tracker no more."""
        self._async_tell(self.account.disarm(unique_id))

    @callback
    def _async_poll_anew(self) -> None:
        """Poll now that a live connection began anew: it tells no devices at first.

        Not where that would be too many requests: the next poll comes within a minute.
        """
        if self.last_update_success and self.service.has_time:
            self.config_entry.async_create_background_task(
                self.hass, self.async_refresh(), f"{DOMAIN} poll"
            )

    async def _async_claim(self, listed: News[str, Device]) -> News[str, Device]:
        """Return those trackers of a list that are this account's."""
        await self._async_take_over(listed.now)
        return self.fleet.async_claim(listed)

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
                await self.rides.async_adopt(unique_id, giver.rides)
            # What is known is never in no file, should Home Assistant be killed.
            await self._memory.async_save()
            for unique_id in filter(giver.fleet.has_lost, moving):
                if device := giver.fleet.device_of(unique_id):
                    await async_hand_over(self.hass, device, self.config_entry)
                giver.async_forget(unique_id)
                entry.runtime_data.entities.async_forget(unique_id)

    async def async_inherit(
        self, entry: ConfigEntry, account: Account, rides: RideBook
    ) -> None:
        """Take over the listed trackers of an entry that is being removed."""
        for unique_id in self.fleet.elsewhere:
            if device := device_of(self.hass, unique_id, entry.entry_id):
                self.account.adopt(unique_id, account)
                await self.rides.async_adopt(unique_id, rides)
                await self._memory.async_save()
                await async_hand_over(self.hass, device, self.config_entry)
                self.fleet.had.add(unique_id)

    @property
    def asked_at(self) -> datetime | None:
        """Return when the poll was begun whose answer is known, in UTC."""
        return self.account.asked_at

    @property
    def automations_listen(self) -> bool:
        """Return whether what happens is noticed, once it is told."""
        return self._coming_back.automations_listen

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
        self._coming_back.async_entity_added()

    @callback
    def _async_move(self) -> None:
        """Let trackers move to where they are."""
        # While they are unavailable they stay where they were: they come back once more.
        if self.last_update_success:
            self._async_tell(self.account.move())

    @callback
    def _async_tell(self, news: News[str, Tracker], *, came_back: bool = False) -> None:
        """Tell what came between polls, which come as if nothing had."""
        self._follow(news, came_back=came_back)
        if news.changed:
            self.data = news
        # While trackers are unavailable there is nothing to tell, nor to ask for.
        if news.changed and self.last_update_success:
            self.async_update_listeners()
            self._filling.async_look()

    def _follow(self, news: News[str, Tracker], *, came_back: bool) -> None:
        """Let devices be called what the service calls them, and the rest follow."""
        self.rides.async_follow(news)
        if _is_to_be_remembered(news):
            self.async_remember()
        known: Trackers = {} if self.data is None else self.data.now
        for unique_id in news.since(known):
            before, now = known.get(unique_id), news.now.get(unique_id)
            if now and (before is None or _description(before) != _description(now)):
                self.fleet.async_describe(now.device, now.firmware)
        if came_back or _comes_back(news):
            self._coming_back.async_wait()

    @callback
    def async_remember(self) -> None:
        """Write what is known, and how far triggers are, within seconds."""
        self._memory.async_save_later()

    @callback
    def async_claim_marks(self) -> Marks:
        """Return how far triggers were before a restart, once."""
        return self._memory.take_marks()

    def _count_missing(self, listed: Mapping[str, Device], seconds: float) -> None:
        """Remove trackers that are missing for too long; an empty list tells of none."""
        if not listed:
            async_create_issue(self.hass, self.config_entry, "no_trackers")
            return
        async_delete_issue(self.hass, self.config_entry, "no_trackers")
        for unique_id in self.account.count_missing(self.fleet.had, seconds):
            self.fleet.async_remove(unique_id)
            self.async_forget(unique_id)
        if self.account.remembered.missing:
            self.async_remember()

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
        super().async_update_listeners()
        self._tracker_listeners.async_tell(
            self.data if self.last_update_success else None
        )
        self._async_tell_automations_of_answer()
        if self.data is not None:
            self.data = self.data.told()

    @callback
    @override
    def _async_refresh_finished(self) -> None:
        """Tell automations of each answer, after all others: one may wait for it."""
        self.hass.loop.call_soon(self._async_tell_automations_of_answer)
        self.hass.loop.call_soon(async_dispatcher_send, self.hass, SIGNAL_POLLED, self)

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
        self.rides.async_forget(unique_id)
        self.async_remember()


SIGNAL_NEWS: Final[SignalType[BikeTrackerCoordinator]] = SignalType(f"{DOMAIN}_news")
"""Says that an account was heard of, with its coordinator."""
SIGNAL_POLLED: Final[SignalType[BikeTrackerCoordinator]] = SignalType(
    f"{DOMAIN}_polled"
)
"""Says that an account was polled, whatever came of it, with its coordinator."""


def _name(entry: ConfigEntry) -> str:
    return f"{DOMAIN} {name_of(entry)}"


def _description(tracker: Tracker) -> tuple[str | None, ...]:
    return tracker.device.name, tracker.device.model, tracker.firmware


def _comes_back(news: News[str, Tracker]) -> bool:
    """Return whether a tracker is back that is shown where it was."""
    return any(
        (tracker := news.now.get(unique_id)) and tracker.story.shown
        for unique_id in news.changed
    )


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
