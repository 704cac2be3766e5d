"""When there is a live connection, and what becomes of it."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from time import monotonic
from typing import Final

from homeassistant.config_entries import ConfigEntry
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..api import Message, TrackingClient, TrackingError, async_messages
from ..const import DOMAIN, LOGGER
from ..polling.backoff import (
    LIVE_BACKOFF,
    NO_FAILURES,
    UNSUPPORTED_BACKOFF,
    FailureStreak,
    clamp_retry_after,
)
from ..polling.timer import Timer
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


@dataclass(slots=True)
class Connection:
    """A connection of which messages came, all times by the monotonic clock."""

    ending: asyncio.Timeout
    """By which it can be ended."""
    began: float
    heard_at: float = 0.0
    untold: FailureStreak = NO_FAILURES
    """Polls since the last message that brought news of which it said nothing.

    Connections of this kind are known to die without a word.
    """

    @property
    def is_broken(self) -> bool:
        """Return whether polls showed that it tells nothing any more."""
        too_many = self.untold.length >= _TOO_MANY_UNTOLD
        return too_many and monotonic() - self.untold.since > _TOO_LONG_UNTOLD

    @property
    def was_well(self) -> bool:
        """Return whether it had lasted: how long it told nothing does not count."""
        until = self.heard_at if self.is_broken else monotonic()
        return until - self.began >= _WELL_AFTER


@dataclass(slots=True, eq=False)
class Live:
    """Listens to the service for as long as the entry is loaded.

    It begins when positions are offered. No failure of it goes further than this: it
    ends, and is tried again.
    """

    hass: HomeAssistant
    entry: ConfigEntry
    client: TrackingClient
    take_in: Callable[[Message], None]
    polls_succeed: Callable[[], bool]
    poll: Callable[[], None]
    """Called whenever it begins anew: the server tells positions then, and no devices."""
    report: LiveReport = field(default_factory=LiveReport)
    _inbox: Inbox = field(init=False)
    _begin: Timer = field(init=False)
    _task: asyncio.Task[None] | None = None
    _connection: Connection | None = None
    _told: bool = False
    """Whether the log says that it is there."""

    def __post_init__(self) -> None:
        """Wait until positions are offered."""
        self._inbox = Inbox(self.hass, self.entry, self.take_in)
        self._begin = Timer(self.hass, self.entry, self._async_begin)
        self.entry.async_on_unload(
            self.hass.bus.async_listen(EVENT_HOMEASSISTANT_STOP, self.async_take_in)
        )

    @callback
    def async_take_in(self, _: Event | None = None) -> None:
        """Take in what waits for its second: a poll that begins is later, an end final."""
        self._inbox.async_flush()

    def stood_at(self, time: datetime | None) -> bool:
        """Return whether it tells since before a time what happens: nothing lacks."""
        since = self.report.since if self.report.state is LiveState.LIVE else None
        return since is not None and time is not None and since < time

    @callback
    def async_follow_poll(self, *, offered: bool, untold: bool) -> None:
        """Take in a poll that succeeded, and begin if it is time to.

        `offered` is whether the service answers with positions, and `untold` whether the
        poll brought what a message should have told.
        """
        if self._task is None or self._task.done():
            is_wanted = offered and not self.entry.pref_disable_polling
            if is_wanted and not self._begin.is_scheduled:
                self._begin.async_schedule(_BEGIN_AFTER)
        # Of a poll without news nothing is to be learned.
        elif untold and (connection := self._connection) is not None:
            connection.untold = connection.untold.another()
            if connection.is_broken and not connection.ending.expired():
                self.report.found_broken += 1
                connection.ending.reschedule(self.hass.loop.time())

    @callback
    def _async_begin(self) -> None:
        self._connection = None
        self._task = self.entry.async_create_background_task(
            self.hass, self._async_stay(), f"{DOMAIN} live"
        )

    async def _async_stay(self) -> None:
        """Listen, and begin anew however that ends."""
        waits, failures, ended_at = UNSUPPORTED_BACKOFF, NO_FAILURES, 0.0
        while True:
            while not self.polls_succeed():
                await asyncio.sleep(_LOOK_AGAIN)
            asked_for = await self._async_try()
            if self._connection is not None:
                if waits is UNSUPPORTED_BACKOFF or self._connection.was_well:
                    failures = NO_FAILURES
                waits, ended_at, self._connection = LIVE_BACKOFF, monotonic(), None
            failures = failures.another()
            wait = waits.after(failures)
            if asked_for is not None:
                wait = max(wait, clamp_retry_after(asked_for))
            LOGGER.debug("Not live (%s); trying again in %.0f s", self.report.why, wait)
            self.report.become(LiveState.WAITING)
            if self._told and monotonic() - ended_at >= _LASTING:
                self._told = False
                LOGGER.info(
                    "%s: Live has ended (%s): "
                    "news comes once a minute, and live is tried again",
                    self.entry.title,
                    self.report.why,
                )
            await asyncio.sleep(wait)

    async def _async_try(self) -> float | None:
        """Listen until that ends; return how long the server asks to wait, if it does."""
        if self.report.state is not LiveState.OFF:
            self.report.reconnects += 1
        self.report.become(LiveState.CONNECTING)
        asked_for = None
        try:
            await self._async_listen()
        except Exception as err:  # noqa: BLE001 - one that nobody thought of, too
            self.report.why = _reason(err)
            asked_for = getattr(err, "retry_after", None)
        return asked_for

    async def _async_listen(self) -> None:
        async with (
            asyncio.timeout(None) as ending,
            aclosing(async_messages(self.client)) as messages,
        ):
            async for message in messages:
                self.report.messages += 1
                connection = self._connection or self._async_connected(ending)
                connection.heard_at, connection.untold = monotonic(), NO_FAILURES
                await self._inbox.async_put(message)

    @callback
    def _async_connected(self, ending: asyncio.Timeout) -> Connection:
        """Take in that it works: a message came."""
        self.report.become(LiveState.LIVE)
        self._connection = Connection(ending, monotonic())
        if not self._told:
            self._told = True
            LOGGER.info(
                "%s: Live: the server tells news as it happens", self.entry.title
            )
        if self.report.reconnects:
            self.poll()
        return self._connection


def _reason(error: Exception) -> str:
    """Return why it ended, without anything that the server sent."""
    if isinstance(error, TimeoutError):
        return _TOLD_NOTHING
    return str(error) if isinstance(error, TrackingError) else type(error).__name__
