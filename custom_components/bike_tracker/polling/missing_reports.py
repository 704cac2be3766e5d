"""Reports that lack: the service's own history is asked for them soon after."""

from collections.abc import Callable
from dataclasses import dataclass, field

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.util import dt as dt_util

from ..api import Changes
from ..const import DOMAIN
from ..tracking import Account, Moment, Tracker
from .history import Question
from .service import Service
from .timer import Timer


@dataclass(slots=True, eq=False)
class MissingReports:
    """Asks for the gaps of an account, and has told in time what waits for the answer."""

    hass: HomeAssistant
    entry: ConfigEntry
    service: Service
    account: Account
    moment: Callable[[], Moment]
    tell: Callable[[Changes[str, Tracker]], None]
    _timer: Timer = field(init=False)

    def __post_init__(self) -> None:
        """Wait until something lacks."""
        self._timer = Timer(self.hass, self.entry, self._async_on_time)

    @callback
    def async_look(self) -> None:
        """Ask for what lacks, if it is time to; come again when the wait for it is over."""
        now, account = dt_util.utcnow(), self.account
        question = self.service.history.next_of(account.gaps, account.trackers, now)
        if question:
            self.entry.async_create_background_task(
                self.hass, self._async_ask(question), f"{DOMAIN} history"
            )
        if until := account.waits_until:
            self._timer.async_schedule(max(0, (until - now).total_seconds()))

    async def _async_ask(self, question: Question) -> None:
        if past := await self.service.history.async_ask(question):
            moment = self.moment()
            self.tell(self.account.take_past(question.tracker, past, moment))
        # While trackers are unavailable nothing is told: a poll does once they are back.
        if not (moment := self.moment()).came_back:
            # The next answer comes in a minute: too late for what waits.
            self.tell(self.account.wait_no_more(moment))

    @callback
    def _async_on_time(self) -> None:
        if not (moment := self.moment()).came_back:
            self.tell(self.account.after_time(moment))
