"""When there is a live connection, and what becomes of it."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from time import monotonic
from typing import Final, NamedTuple

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
from ..asking.timer import Timer
from ..asking.waits import LIVE, NEVER_OFFERED, NONE_FAILED, Row, Waits, obeyed
from ..const import DOMAIN, LOGGER
from ..identity import name_of
from .inbox import Inbox

# Not in the moment in which Home Assistant sets up all that it has.
_BEGIN_AFTER: Final = 10
# Where polls fail, what is asked beside them would fail as well, and a password that is
# refused must not lock the account: it has its turn once a poll succeeds.
_LOOK_AGAIN: Final = 60
# What is over sooner need not be told.
_LASTING: Final = 10 * 60
# After so many seconds it is well, and waits begin with the first again.
_WELL_AFTER: Final = 5 * 60
# Polls in a row with news that it did not tell, the first of them so many seconds ago.
_TOO_MANY_UNTOLD: Final = 3
_TOO_LONG_UNTOLD: Final = 60
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

    def become(self, state: LiveState) -> None:
        """Take in another state."""
        self.state, self.since = state, dt_util.utcnow()


class Connection(NamedTuple):
    """A connection of which messages came."""

    began: float
    """By the monotonic clock."""
    untold: Row = NONE_FAILED
    """Polls in a row that brought news of which it said nothing.

    Connections of this kind are known to die without a word.
    """

    def after_poll(self, *, heard: bool, untold: bool) -> Connection:
        """Return this after a poll: of one without news nothing is to be learned."""
        row = NONE_FAILED if heard else self.untold
        return self._replace(untold=row.another() if untold else row)

    @property
    def is_well(self) -> bool:
        """Return whether it has lasted."""
        return monotonic() - self.began >= _WELL_AFTER

    @property
    def is_broken(self) -> bool:
        """Return whether polls showed that it tells nothing any more."""
        too_many = self.untold.tries >= _TOO_MANY_UNTOLD
        return too_many and monotonic() - self.untold.since > _TOO_LONG_UNTOLD


@dataclass(slots=True, eq=False)
class Live:
    """Listens to the service for as long as the entry is loaded.

    It begins when positions are offered. No failure of it goes further than this: it
    ends, and is tried again.
    """

    hass: HomeAssistant
    entry: ConfigEntry
    client: LiveClient
    take_in: Callable[[Message], None]
    polls_succeed: Callable[[], bool]
    poll: Callable[[], None]
    """Called whenever it begins anew: the server tells positions then, and no devices."""
    report: LiveReport = field(default_factory=LiveReport)
    _inbox: Inbox = field(init=False)
    _connect: Timer = field(init=False)
    _tell_end: Timer = field(init=False)
    _task: asyncio.Task[None] | None = None
    _connection: Connection | None = None
    _failures: Row = NONE_FAILED
    _waits: Waits = NEVER_OFFERED
    _told: bool = False

    def __post_init__(self) -> None:
        """Wait until positions are offered."""
        hass, entry = self.hass, self.entry
        self._inbox = Inbox(hass, entry, self.take_in)
        self._connect = Timer(hass, entry, _BEGIN_AFTER, self._async_connect)
        self._tell_end = Timer(hass, entry, _LASTING, self._async_tell_end)
        for stop in (
            self._async_end,
            hass.bus.async_listen(EVENT_HOMEASSISTANT_STOP, self.async_take_in),
            async_dispatcher_connect(
                hass, SIGNAL_CONFIG_ENTRY_CHANGED, self._async_follow_entry
            ),
        ):
            entry.async_on_unload(stop)

    @callback
    def async_take_in(self, _: Event | None = None) -> None:
        """Take in what waits for its second: a poll that begins is later, an end final."""
        self._inbox.async_flush()

    def stood_at(self, time: datetime | None) -> bool:
        """Return whether it tells since before a time what happens: nothing lacks."""
        since = self.report.since if self.report.state is LiveState.LIVE else None
        return since is not None and time is not None and since < time

    @callback
    def async_follow_poll(self, *, offered: bool, heard: bool, untold: bool) -> None:
        """Take in a poll that succeeded, and begin if it is time to.

        `offered` is whether the service answers with positions, `heard` whether a
        message told of trackers since the poll before, and `untold` whether the poll
        brought what a message should have told.
        """
        if self.entry.pref_disable_polling:
            return
        if self.report.state is LiveState.OFF:
            if offered and not self._connect.is_scheduled:
                self._connect.async_schedule()
        elif self._task is not None and self._connection is not None:
            self._connection = self._connection.after_poll(heard=heard, untold=untold)
            if heard and self._connection.is_well:
                self._failures = NONE_FAILED
            if self._connection.is_broken:
                self.report.found_broken += 1
                # How long it told nothing is no time in which it was well.
                self._connection = None
                self._task.cancel(_TOLD_NOTHING)

    @callback
    def _async_connect(self) -> None:
        if not self.polls_succeed():
            self._connect.async_schedule(_LOOK_AGAIN)
            return
        if self.report.state is not LiveState.OFF:
            self.report.reconnects += 1
        self.report.become(LiveState.CONNECTING)
        self._task = self.entry.async_create_background_task(
            self.hass, self._async_listen(), f"{DOMAIN} live"
        )
        # However it ends, be it by an error that nobody thought of.
        self._task.add_done_callback(self._async_try_again)

    async def _async_listen(self) -> None:
        async with aclosing(self.client.async_messages()) as messages:
            async for message in messages:
                self.report.messages += 1
                if self.report.state is not LiveState.LIVE:
                    self._async_begin()
                await self._inbox.async_put(message)

    @callback
    def _async_begin(self) -> None:
        """Take in that it works: a message came."""
        self.report.become(LiveState.LIVE)
        self._connection = Connection(monotonic())
        if self._waits is not LIVE:
            self._waits, self._failures = LIVE, NONE_FAILED
        self._tell_end.async_cancel()
        if not self._told:
            LOGGER.info(
                "%s: Live: the server tells news as it happens", name_of(self.entry)
            )
            self._told = True
        if self.report.reconnects:
            self.poll()

    @callback
    def _async_try_again(self, ended: asyncio.Task[None]) -> None:
        """Take in that it ended, or did not come about."""
        error = None if ended.cancelled() else ended.exception()
        if ended is not self._task or self.hass.is_stopping:
            return
        self.report.why = _reason(error)
        if self._connection is not None and self._connection.is_well:
            self._failures = NONE_FAILED
        self._task = self._connection = None
        self._failures = self._failures.another()
        wait = self._waits.after(self._failures)
        if isinstance(error, TrackingError) and error.retry_after is not None:
            wait = max(wait, obeyed(error.retry_after))
        LOGGER.debug("Not live (%s); trying again in %.0f s", self.report.why, wait)
        self.report.become(LiveState.WAITING)
        self._connect.async_schedule(wait)
        if self._told and not self._tell_end.is_scheduled:
            self._tell_end.async_schedule()

    @callback
    def _async_tell_end(self) -> None:
        LOGGER.info(
            "%s: Live has ended (%s): "
            "news comes once a minute, and live is tried again",
            name_of(self.entry),
            self.report.why,
        )
        self._told = False

    @callback
    def _async_follow_entry(self, _: ConfigEntryChange, entry: ConfigEntry) -> None:
        """End together with polling, if a person disables that."""
        if entry is self.entry and entry.pref_disable_polling:
            self._async_end()

    @callback
    def _async_end(self) -> None:
        self._connect.async_cancel()
        self._tell_end.async_cancel()
        task, self._task = self._task, None
        self._connection = None
        if task is not None:
            task.cancel()
        if self.report.state is not LiveState.OFF:
            self.report.become(LiveState.OFF)


def _reason(error: BaseException | None) -> str:
    """Return why it ended, without anything that the server sent."""
    if error is None:
        return _TOLD_NOTHING
    return str(error) if isinstance(error, TrackingError) else type(error).__name__
