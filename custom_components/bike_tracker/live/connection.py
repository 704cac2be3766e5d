"""When there is a live connection, and what becomes of it."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from time import monotonic
from typing import Final

from homeassistant.config_entries import (
    SIGNAL_CONFIG_ENTRY_CHANGED,
    ConfigEntry,
    ConfigEntryChange,
)
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers.dispatcher import async_dispatcher_connect
from homeassistant.util import dt as dt_util

from ..api import LiveClient, Message, TrackingError
from ..asking.later import Later
from ..const import DOMAIN, LOGGER
from ..identity import name_of
from .doubts import Doubts
from .inbox import Inbox
from .waits import Waits

# Not in the moment in which Home Assistant sets up all that it has.
_BEGIN_AFTER: Final = 10
# Where polls fail, what is asked beside them would fail as well, and a password that is
# refused must not lock the account: it has its turn once a poll succeeds.
_LOOK_AGAIN: Final = 60
# What is over sooner need not be told.
_LASTING: Final = 10 * 60
_TOLD_NOTHING: Final = "polls brought what it did not tell"


class LiveState(StrEnum):
    """What becomes of the live connection."""

    OFF = "off"
    """Positions are not offered, or polling is disabled."""
    CONNECTING = "connecting"
    LIVE = "live"
    WAITING = "waiting to be tried again"


@dataclass(slots=True)
class LiveReport:
    """What a maintainer wants to know of the live connection."""

    state: LiveState = LiveState.OFF
    since: datetime | None = None
    why: str | None = None
    """Why it ended last."""
    messages: int = 0
    reconnects: int = 0
    found_broken: int = 0
    """How often polls showed that it told nothing any more."""


class Live:
    """Listens to the service for as long as the entry is loaded.

    No failure of it goes further than this: it ends, and is tried again.
    """

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry,
        client: LiveClient,
        take_in: Callable[[Message], None],
        polls_succeed: Callable[[], bool],
        poll: Callable[[], None],
    ) -> None:
        """Begin when positions are offered; what messages tell goes into `take_in`.

        At first the server tells positions and no devices: whenever it begins anew,
        `poll` is called.
        """
        self.report = LiveReport()
        self._hass = hass
        self._entry = entry
        self._client = client
        self._polls_succeed = polls_succeed
        self._poll = poll
        self._inbox = Inbox(hass, entry, take_in)
        self._waits = Waits()
        self._doubts = Doubts()
        self._task: asyncio.Task[None] | None = None
        self._live_since: float | None = None
        self._told = False
        self._connect = Later(hass, entry, _BEGIN_AFTER, self._async_connect)
        self._tell_end = Later(hass, entry, _LASTING, self._async_tell_end)
        entry.async_on_unload(self._async_end)
        entry.async_on_unload(
            hass.bus.async_listen(EVENT_HOMEASSISTANT_STOP, self.async_take_in)
        )
        entry.async_on_unload(
            async_dispatcher_connect(
                hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._async_follow_entry
            )
        )

    @callback
    def async_take_in(self, _: Event | None = None) -> None:
        """Take in what waits for its second: a poll that begins is later, an end final."""
        self._inbox.async_flush()

    @callback
    def async_follow_poll(self, *, offered: bool, heard: bool, untold: bool) -> None:
        """Take in a poll that succeeded, and begin if it is time to.

        `offered` is whether the service answers with positions, `heard` whether a
        message told of trackers since the poll before, and `untold` whether the poll
        brought what a message should have told.
        """
        if self._entry.pref_disable_polling:
            return
        if self.report.state is LiveState.OFF:
            if offered and not self._connect.is_scheduled:
                self._connect.async_schedule()
        elif self._task is not None and self._live_since is not None:
            now = monotonic()
            if heard:
                self._waits.work(now - self._live_since)
            if self._doubts.are_grave(now, heard=heard, untold=untold):
                self.report.found_broken += 1
                # How long it told nothing is no time in which it was well.
                self._live_since = None
                self._task.cancel(_TOLD_NOTHING)

    @callback
    def _async_connect(self) -> None:
        if not self._polls_succeed():
            self._connect.async_schedule(_LOOK_AGAIN)
            return
        if self.report.state is not LiveState.OFF:
            self.report.reconnects += 1
        self._become(LiveState.CONNECTING)
        self._task = self._entry.async_create_background_task(
            self._hass, self._async_listen(), f"{DOMAIN} live"
        )
        # However it ends, be it by an error that nobody thought of.
        self._task.add_done_callback(self._async_try_again)

    async def _async_listen(self) -> None:
        async with aclosing(self._client.async_messages()) as messages:
            async for message in messages:
                self.report.messages += 1
                if self.report.state is not LiveState.LIVE:
                    self._async_begin()
                await self._inbox.async_put(message)

    @callback
    def _async_begin(self) -> None:
        """Take in that it works: a message came."""
        self._become(LiveState.LIVE)
        self._live_since = monotonic()
        self._doubts = Doubts()
        self._waits.work()
        self._tell_end.async_cancel()
        if not self._told:
            LOGGER.info(
                "%s: Live: the server tells news as it happens", name_of(self._entry)
            )
            self._told = True
        if self.report.reconnects:
            self._poll()

    @callback
    def _async_try_again(self, ended: asyncio.Task[None]) -> None:
        """Take in that it ended, or did not come about."""
        error = None if ended.cancelled() else ended.exception()
        if ended is not self._task or self._hass.is_stopping:
            return
        self._task = None
        self.report.why = _reason(error)
        live_since, self._live_since = self._live_since, None
        wait = self._waits.fail(
            0 if live_since is None else monotonic() - live_since,
            error.retry_after if isinstance(error, TrackingError) else None,
        )
        LOGGER.debug("Not live (%s); trying again in %.0f s", self.report.why, wait)
        self._become(LiveState.WAITING)
        self._connect.async_schedule(wait)
        if self._told and not self._tell_end.is_scheduled:
            self._tell_end.async_schedule()

    @callback
    def _async_tell_end(self) -> None:
        LOGGER.info(
            "%s: Live has ended (%s): "
            "news comes once a minute, and live is tried again",
            name_of(self._entry),
            self.report.why,
        )
        self._told = False

    @callback
    def _async_follow_entry(self, _: ConfigEntryChange, entry: ConfigEntry) -> None:
        """End together with polling, if a person disables that."""
        if entry is self._entry and entry.pref_disable_polling:
            self._async_end()

    @callback
    def _async_end(self) -> None:
        self._connect.async_cancel()
        self._tell_end.async_cancel()
        task, self._task = self._task, None
        self._live_since = None
        if task is not None:
            task.cancel()
        if self.report.state is not LiveState.OFF:
            self._become(LiveState.OFF)

    def _become(self, state: LiveState) -> None:
        self.report.state, self.report.since = state, dt_util.utcnow()


def _reason(error: BaseException | None) -> str:
    """Return why it ended, without anything that the server sent."""
    if error is None:
        return _TOLD_NOTHING
    return str(error) if isinstance(error, TrackingError) else type(error).__name__
