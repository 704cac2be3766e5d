"""The websocket connection: connect, receive push messages, reconnect.

The connection is optional: polls stay the same with and without it.
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

from ..api import TrackingClient
from ..api.errors import TrackingError
from ..api.websocket import Message, async_messages
from ..const import DOMAIN, LOGGER
from .backoff import HOUR, LIVE_BACKOFF, UNSUPPORTED_BACKOFF, Failures

# Leave the first seconds to Home Assistant's own set-up.
_CONNECT_AFTER_SECONDS: Final = 10
# Do not connect while polls fail: if the password was rejected, more attempts could
# lock the account. Until polls succeed again, check once a minute.
_CHECK_POLLS_SECONDS: Final = 60
# After a connection that lasted at least this long, the next wait is the shortest
# again.
_STABLE_AFTER: Final = timedelta(minutes=5)


@dataclass(slots=True)
class LiveReport:
    """State of the connection, for diagnostics."""

    state: str = "off"
    """`"off"` before the first attempt. If positions do not work or polling is disabled, no attempt is made."""
    since: datetime = field(default_factory=dt_util.utcnow)
    why: str | None = None
    """The error that ended the last connection or attempt; None before the first error."""
    messages: int = 0
    reconnects: int = 0

    def set_state(self, state: str) -> None:
        """Set the state and its start time."""
        self.state, self.since = state, dt_util.utcnow()


@dataclass(slots=True, eq=False, repr=False)
class Live:
    """Receives push messages while the entry is loaded.

    Every error ends the connection, and a new connection is opened later. No error
    affects polls.
    """

    coordinator: DataUpdateCoordinator[Any]
    client: TrackingClient
    async_apply: Callable[[], None]
    """Callback that applies the received messages."""
    has_worked: bool
    """Whether a connection worked before this set-up."""
    messages: list[Message] = field(default_factory=list)
    """Received messages that are not applied yet."""
    report: LiveReport = field(default_factory=LiveReport)
    task: asyncio.Task[None] | None = None

    def connected_since_before(self, time: datetime) -> bool:
        """Return whether the current connection began before a time; False while not connected."""
        return self.report.state == "live" and self.report.since < time

    @callback
    def async_start(self) -> None:
        """Connect after ten seconds, in the background, unless polling is disabled."""
        entry = self.coordinator.config_entry
        if entry and not entry.pref_disable_polling:
            self.task = entry.async_create_background_task(
                self.coordinator.hass, self._async_run(), f"{DOMAIN} live"
            )

    async def async_stop(self) -> None:
        """Disconnect. No more messages are received."""
        if self.task:
            self.task.cancel()
            await asyncio.wait([self.task])

    async def _async_run(self) -> None:
        """Connect, and reconnect after every end of the connection."""
        await asyncio.sleep(_CONNECT_AFTER_SECONDS)
        backoff = LIVE_BACKOFF if self.has_worked else UNSUPPORTED_BACKOFF
        failures = Failures()
        while True:
            while not self.coordinator.last_update_success:
                await asyncio.sleep(_CHECK_POLLS_SECONDS)
            error = await self._async_connect()
            if self.report.state == "live":
                lasted = dt_util.utcnow() - self.report.since
                if backoff is UNSUPPORTED_BACKOFF or lasted >= _STABLE_AFTER:
                    failures = Failures()
                backoff = LIVE_BACKOFF
            failures = failures.another(backoff)
            # The server's `Retry-After` may lengthen the wait, but not shorten it.
            wait = max(failures.wait, min(error.retry_after or 0, HOUR))
            await self._async_wait(wait, error)

    async def _async_wait(self, seconds: float, error: TrackingError) -> None:
        name = self.coordinator.name
        LOGGER.debug("%s: Not live (%s); next try in %.0f s", name, error, seconds)
        self.report.why = str(error)
        self.report.set_state("waiting to reconnect")
        await asyncio.sleep(seconds)

    async def _async_connect(self) -> TrackingError:
        """Connect, and receive messages until the connection ends. Return the error that ended it."""
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
        except Exception as err:  # noqa: BLE001 - reconnect after any error
            error = TrackingError(type(err).__name__)
        return error

    @callback
    def _async_receive(self, message: Message) -> None:
        self.report.messages += 1
        if self.report.state == "connecting":
            self._async_connected()
        # A report arrives as two messages: the device and its position. If messages
        # arrive together, apply all of them in one step.
        if not self.messages:
            self.coordinator.hass.loop.call_soon(self.async_apply)
        self.messages.append(message)

    @callback
    def _async_connected(self) -> None:
        """Set the state to "live". After a reconnect, poll: the server pushes current positions, but no devices."""
        self.report.set_state("live")
        if self.report.reconnects:
            self.coordinator.hass.async_create_background_task(
                self.coordinator.async_refresh(), f"{DOMAIN} poll"
            )
