"""One poll: the device list, then positions that are wanted; and what a failure means."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Final, NamedTuple

from homeassistant.config_entries import ConfigEntry, ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ConfigEntryAuthFailed
from homeassistant.helpers.update_coordinator import UpdateFailed
from homeassistant.util import dt as dt_util

from ..api import (
    AuthenticationError,
    Changes,
    Device,
    InvalidResponseError,
    Position,
    RedirectedError,
    ServiceUnavailableError,
    TrackingClient,
    TrackingError,
)
from ..const import DOMAIN
from ..registry.no_contact import async_begin_outage, async_end_outage
from ..tracking import Account, Began
from .extra_requests import ExtraRequests
from .history import History
from .positions import PositionLookup
from .refused_positions import Offer
from .refused_sign_in import async_ask_no_more, async_ask_person
from .waits import NONE_FAILED, PASSING, Row, spare_requests

# The list and positions.
_REQUESTS_OF_A_POLL: Final = 2
_TRANSLATION_KEYS: Final = {
    InvalidResponseError: "invalid_response",
    RedirectedError: "redirected",
    ServiceUnavailableError: "service_unavailable",
}

type Own = Callable[[Changes[str, Device]], Changes[str, Device]]
"""Returns those trackers of a list that are this account's."""


class Answer(NamedTuple):
    """What one poll brought."""

    began: Began
    listed: Mapping[str, Device]
    """All trackers that the service listed, those of another account too."""
    devices: Changes[str, Device]
    """Those that are this account's."""
    positions: Mapping[str, Position]
    offers_positions: bool
    """Whether the service answers with positions, as far as is known."""


@dataclass(slots=True)
class Poll:
    """What a maintainer wants to know of the last poll."""

    time: datetime | None = None
    seconds: float | None = None
    last_error: str | None = None
    last_error_time: datetime | None = None


@dataclass(slots=True, eq=False)
class Service:
    """Asks the service on behalf of one account."""

    hass: HomeAssistant
    entry: ConfigEntry
    client: TrackingClient
    positions: PositionLookup
    history: History
    poll: Poll = field(default_factory=Poll)
    _failed: Row = NONE_FAILED
    _refused: Row = NONE_FAILED
    _last_success: float | None = None

    @property
    def has_time(self) -> bool:
        """Return whether one more poll would not be too many requests."""
        return spare_requests(self.client) >= _REQUESTS_OF_A_POLL

    @property
    def has_history(self) -> bool:
        """Return whether the service may tell what trackers reported before."""
        offers = self.positions.offer.is_made is True
        return offers and self.history.may_tell

    async def async_ask(self, account: Account, own: Own) -> Answer:
        """Return what a poll brings, or raise UpdateFailed or ConfigEntryAuthFailed."""
        self.poll.time = dt_util.utcnow()
        began, start = account.begin_poll(self.poll.time), monotonic()
        try:
            listed = await self._async_get_devices()
            self._last_success = monotonic()
            devices = own(listed)
            positions = await self.positions.async_get(
                account.wanted(devices, began=began)
            )
            offered = self.positions.offer.works
            return Answer(began, listed.after, devices, positions, offered)
        finally:
            self.poll.seconds = monotonic() - start

    async def _async_get_devices(self) -> Changes[str, Device]:
        """Return the device list, or raise what the failure means to Home Assistant."""
        try:
            devices = await self.client.async_get_devices()
        except TrackingError as err:
            self.poll.last_error = f"{type(err).__name__}: {err}"
            self.poll.last_error_time = self.poll.time
            async_begin_outage(self.hass, self.entry, str(err), self._last_success)
            self._last_success = None
            # Home Assistant keeps the failure, whose traceback would keep the answer.
            raise self._failure(err) from err.with_traceback(None)
        if self._refused.tries:
            async_ask_no_more(self.hass, self.entry)
        self._failed = self._refused = NONE_FAILED
        async_end_outage(self.hass, self.entry)
        return devices

    def _failure(self, err: TrackingError) -> UpdateFailed | ConfigEntryAuthFailed:
        if isinstance(err, AuthenticationError):
            return self._refusal()
        # Once the person was asked to sign in, only a success ends that row.
        if self._refused.tries < 2:
            self._refused = NONE_FAILED
        self._failed = self._failed.another()
        wait = PASSING.after(self._failed, err.retry_after)
        # The first waits of a set-up are Home Assistant's own.
        is_obeyed = self._is_set_up or err.retry_after is not None
        return UpdateFailed(
            translation_domain=DOMAIN,
            translation_key=_TRANSLATION_KEYS.get(type(err), "cannot_connect"),
            translation_placeholders={"error": str(err)},
            retry_after=wait if is_obeyed else None,
        )

    def _refusal(self) -> UpdateFailed | ConfigEntryAuthFailed:
        if not self._is_set_up:
            return ConfigEntryAuthFailed(
                translation_domain=DOMAIN, translation_key="unauthorized"
            )
        self._refused = self._refused.another()
        # Not that error again, at which Home Assistant would end polling.
        return UpdateFailed(
            translation_domain=DOMAIN,
            translation_key="unauthorized",
            retry_after=async_ask_person(self.hass, self.entry, self._refused),
        )

    @property
    def _is_set_up(self) -> bool:
        return self.entry.state is ConfigEntryState.LOADED


def create_service(
    hass: HomeAssistant,
    entry: ConfigEntry,
    client: TrackingClient,
    *,
    offers_positions: bool,
) -> Service:
    """Return what asks for an entry; take whether positions are known of a restart."""
    positions = PositionLookup(entry, client, Offer(offers_positions or None))
    return Service(hass, entry, client, positions, History(client, ExtraRequests()))
