"""Filling gaps: the service's own history is asked for soon after something lacks."""

from collections.abc import Callable
from dataclasses import dataclass, field

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..account import Account, Tracker
from ..api import News
from ..const import DOMAIN
from .service import Service
from .timer import Timer


@dataclass(slots=True, eq=False)
class Filling:
    """Asks for the gaps of an account, and has told in time what waits for the answer."""

    hass: HomeAssistant
    entry: ConfigEntry
    service: Service
    account: Account
    came_back: Callable[[], bool]
    """Returns whether the trackers are unavailable."""
    tell: Callable[[News[str, Tracker]], None]
    _timer: Timer = field(init=False)

    def __post_init__(self) -> None:
        """Wait until something lacks."""
        self._timer = Timer(self.hass, self.entry, 0, self._async_on_time)

    @callback
    def async_look(self) -> None:
        """Ask for what lacks, if it is time to; come again when the wait for it is over."""
        now = dt_util.utcnow()
        if self.service.history.next_of(self.account.gaps, now):
            self.entry.async_create_background_task(
                self.hass, self._async_ask(), f"{DOMAIN} history"
            )
        if until := self.account.waits_until:
            self._timer.async_schedule(max(0, (until - now).total_seconds()))

    async def _async_ask(self) -> None:
        account = self.account
        answer = await self.service.history.async_ask(
            account.gaps, account.trackers, dt_util.utcnow()
        )
        if answer is not None:
            tracker, past = answer
            now = dt_util.utcnow()
            self.tell(
                account.take_past(tracker, past, now=now, came_back=self.came_back())
            )
        # While trackers are unavailable nothing is told: a poll does once they are back.
        if not self.came_back():
            # The next answer comes in a minute: too late for what waits.
            self.tell(account.wait_no_more(dt_util.utcnow()))

    @callback
    def _async_on_time(self) -> None:
        if not self.came_back():
            self.tell(
                self.account.after_time(
                    now=dt_util.utcnow(), has_history=self.service.has_history
                )
            )
