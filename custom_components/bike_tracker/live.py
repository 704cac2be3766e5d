"""The websocket connection: connect, receive, reconnect.

Never depended on: polls stay as they are, and are the truth.
"""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from homeassistant.core import callback
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator
from homeassistant.util import dt as dt_util

from .api.client import TrackingClient
from .api.errors import TrackingError
from .api.websocket import Message, async_messages
from .const import DOMAIN, LOGGER
from .polling.backoff import HOUR, LIVE_BACKOFF, UNSUPPORTED_BACKOFF, Failures

# Not in the moment in which Home Assistant sets up all that it has.
_CONNECT_AFTER: Final = 10
# Where polls fail, what is asked beside them would fail as well, and a password that is
# refused must not lock the account: it has its turn once a poll succeeds.
_LOOK_AGAIN: Final = 60
# After so long it works well, and waits begin with the first again.
_WORKS_WELL: Final = timedelta(minutes=5)


@dataclass(slots=True)
class LiveReport:
    """The connection, for diagnostics."""

    state: str = "off"
    """Off where positions are not offered, or polling is disabled."""
    since: datetime = field(default_factory=dt_util.utcnow)
    why: str | None = None
    """Why it ended last."""
    messages: int = 0
    reconnects: int = 0

    def set_state(self, state: str) -> None:
        """Set the state, as of now."""
        self.state, self.since = state, dt_util.utcnow()


@dataclass(slots=True, eq=False, repr=False)
class Live:
    """Receives push messages for as long as the entry is loaded.

    No failure of it goes further than this: it ends, and is tried again.
    """

    coordinator: DataUpdateCoordinator[Any]
    client: TrackingClient
    async_apply: Callable[[], None]
    """Applies push messages, as soon as all that came at once are there."""
    messages: list[Message] = field(default_factory=list)
    """Those that are not applied yet."""
    report: LiveReport = field(default_factory=LiveReport)
    task: asyncio.Task[None] | None = None

    def connected_since_before(self, time: datetime) -> bool:
        """Return whether messages came since before a time."""
        return self.report.state == "live" and self.report.since < time

    @callback
    def async_start(self) -> None:
        """Connect soon, unless polling is disabled."""
        entry = self.coordinator.config_entry
        if entry and not entry.pref_disable_polling:
            self.task = entry.async_create_background_task(
                self.coordinator.hass, self._async_run(), f"{DOMAIN} live"
            )

    async def _async_run(self) -> None:
        """Connect, and again however that ends."""
        await asyncio.sleep(_CONNECT_AFTER)
        backoff, failures = UNSUPPORTED_BACKOFF, Failures()
        while True:
            while not self.coordinator.last_update_success:
                await asyncio.sleep(_LOOK_AGAIN)
            error = await self._async_connect()
            if self.report.state == "live":
                lasted = dt_util.utcnow() - self.report.since
                if backoff is UNSUPPORTED_BACKOFF or lasted >= _WORKS_WELL:
                    failures = Failures()
                backoff = LIVE_BACKOFF
            failures = failures.another(backoff)
            # A server only makes it longer: what never worked is asked for rarely.
            wait = max(failures.wait, min(error.retry_after or 0, HOUR))
            await self._async_wait(wait, error)

    async def _async_wait(self, seconds: float, error: TrackingError) -> None:
        LOGGER.debug("Not live (%s); trying again in %.0f s", error, seconds)
        self.report.why = str(error)
        self.report.set_state("waiting to be tried again")
        await asyncio.sleep(seconds)

    async def _async_connect(self) -> TrackingError:
        """Receive messages until the connection ends; return how it did."""
        if self.report.state != "off":
            self.report.reconnects += 1
        self.report.set_state("connecting")
        error = TrackingError("connection closed")
        try:
            async with aclosing(async_messages(self.client)) as messages:
                async for message in messages:
                    self._async_receive(message)
        except TrackingError as err:
            error = err.with_traceback(None)
        except Exception as err:  # noqa: BLE001 - an unexpected one, too
            error = TrackingError(type(err).__name__)
        return error

    @callback
    def _async_receive(self, message: Message) -> None:
        self.report.messages += 1
        if self.report.state == "connecting":
            self._async_connected()
        # A report is two messages: all that came at once is notified of once.
        if not self.messages:
            self.coordinator.hass.loop.call_soon(self.async_apply)
        self.messages.append(message)

    @callback
    def _async_connected(self) -> None:
        """Poll after a reconnect: the server sends positions then, and no devices."""
        self.report.set_state("live")
        if self.report.reconnects and self.coordinator.last_update_success:
            self.coordinator.hass.async_create_background_task(
                self.coordinator.async_refresh(), f"{DOMAIN} poll"
            )
