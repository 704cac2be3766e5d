"""Polling: what is asked when, and what a failure means."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from types import MappingProxyType
from typing import Any, Final, override

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import CALLBACK_TYPE, CoreState, HomeAssistant, callback
from homeassistant.exceptions import ConfigEntryAuthFailed
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator, UpdateFailed
from homeassistant.util import dt as dt_util

from .api import (
    AuthenticationError,
    Device,
    InvalidResponseError,
    Position,
    RedirectedError,
    ServiceUnavailableError,
    TrackingClient,
    TrackingError,
)
from .backoff import Backoff
from .const import DOMAIN, LOGGER
from .fleet import Fleet
from .listeners import TrackerListeners
from .memory import Memory
from .positions import PositionLookup
from .turns import in_turns

_INTERVAL: Final = timedelta(seconds=60)
_SECOND_TRY_AFTER: Final = 60

_TRANSLATION_KEYS: Final = {
    InvalidResponseError: "invalid_response",
    RedirectedError: "redirected",
    ServiceUnavailableError: "service_unavailable",
}


@dataclass(frozen=True, slots=True)
class Tracker:
    """What is known of one tracker. Another object means that something changed."""

    device: Device
    position: Position | None


type Trackers = Mapping[str, Tracker]


@dataclass(slots=True)
class Poll:
    """What a maintainer wants to know of the last poll."""

    time: datetime | None = None
    seconds: float | None = None
    last_error: str | None = None
    last_error_time: datetime | None = None


class BikeTrackerCoordinator(DataUpdateCoordinator[Trackers]):
    """Polls the trackers of one account and tells the entities of those that changed."""

    config_entry: ConfigEntry

    def __init__(
        self, hass: HomeAssistant, entry: ConfigEntry, client: TrackingClient
    ) -> None:
        """Poll for this entry."""
        super().__init__(
            hass,
            LOGGER,
            config_entry=entry,
            name=DOMAIN,
            update_interval=_INTERVAL,
            always_update=False,
        )
        self.client = client
        self.poll = Poll()
        self._memory = Memory(hass, entry.entry_id)
        self._tracker_listeners = TrackerListeners(hass, entry)
        self._backoff = Backoff()
        self._unauthorized = False
        self.changed: set[str] = set()
        """Trackers that the last poll changed, added or took away, by `uniqueId`."""
        # They outlast a poll that is cut short: what is news to the entities as well.
        self._news: set[str] = set()
        self._unpublished: set[str] = set()
        self._published_success = True

    @override
    async def _async_setup(self) -> None:
        remembered = await self._memory.async_load()
        self.positions = PositionLookup(self.client, remembered.positions)
        self.fleet = Fleet(self.hass, self.config_entry, remembered.missing)

    @override
    async def _async_refresh(self, *args: Any, **kwargs: Any) -> None:
        try:
            await super()._async_refresh(*args, **kwargs)
        except asyncio.CancelledError:
            # Home Assistant takes a poll that is cut short for a failed one and tells
            # nobody, which would hide a failure that comes next.
            self.last_update_success = self._published_success
            raise

    @override
    async def _async_update_data(self) -> Trackers:
        self.poll.time = dt_util.utcnow()
        start = monotonic()
        was_missing = bool(self.fleet.missing)
        try:
            listed = await self._async_get_devices()
            if self._shutdown_requested:
                return self.data
            self._news |= self.client.devices.changed
            devices = self.fleet.async_update(listed, self._news)
            self._news |= self.fleet.came
            for unique_id in self.fleet.async_remove_gone():
                self.positions.forget(unique_id)
            moved = await self.positions.async_update(
                devices, self._news, self._movable()
            )
        finally:
            self.poll.seconds = monotonic() - start
        if moved or was_missing or self.fleet.missing:
            self._memory.async_save_later()
        return await self._async_snapshot(devices)

    async def _async_get_devices(self) -> dict[str, Device]:
        """Return the device list, or raise what the failure means to Home Assistant."""
        try:
            devices = await self.client.async_get_devices()
        except TrackingError as err:
            self.poll.last_error = f"{type(err).__name__}: {err}"
            self.poll.last_error_time = self.poll.time
            self.fleet.async_fail()
            # Home Assistant keeps the failure, whose traceback would keep the answer.
            raise self._failure(err) from err.with_traceback(None)
        self._unauthorized = False
        self._backoff.succeed()
        return devices

    def _failure(self, err: TrackingError) -> Exception:
        if isinstance(err, AuthenticationError):
            return self._unauthorized_failure()
        self._unauthorized = False
        asked_for = getattr(err, "retry_after", None)
        return UpdateFailed(
            translation_domain=DOMAIN,
            translation_key=_TRANSLATION_KEYS.get(type(err), "cannot_connect"),
            translation_placeholders={"error": str(err)},
            retry_after=self._backoff.fail(asked_for),
        )

    def _unauthorized_failure(self) -> Exception:
        """Ask to sign in again, but while running not at the first 401.

        Home Assistant stops polling once it asks, and a server may err once.
        """
        if self.data is None or self._unauthorized:
            return ConfigEntryAuthFailed(
                translation_domain=DOMAIN, translation_key="unauthorized"
            )
        self._unauthorized = True
        return UpdateFailed(
            translation_domain=DOMAIN,
            translation_key="unauthorized",
            retry_after=_SECOND_TRY_AFTER,
        )

    def _movable(self) -> Trackers:
        """Return the trackers that may get another position in this poll.

        A tracker that comes back, from an outage or a restart, first comes back where
        it was and moves with the next poll. Home Assistant's zone triggers ignore what
        changes from unavailable, so a ride away meanwhile would go unnoticed.
        """
        came_back = self.data is None or not self.last_update_success
        # Automations begin to listen when Home Assistant has started.
        if came_back or self.hass.state is not CoreState.running:
            return MappingProxyType({})
        return self.data

    async def _async_snapshot(self, devices: Mapping[str, Device]) -> Trackers:
        """Return the trackers; those that did not change are the same objects."""
        before: Trackers = self.data or MappingProxyType({})
        if not self._news:
            return before
        snapshot, changed = dict(before), set()
        async for some in in_turns(self._news):
            for unique_id in some:
                old, device = before.get(unique_id), devices.get(unique_id)
                new = None if device is None else self._tracker(device, old)
                if new == old:
                    continue
                changed.add(unique_id)
                if new is None:
                    del snapshot[unique_id]
                else:
                    snapshot[unique_id] = new
        self._news.clear()
        self._unpublished |= changed
        return MappingProxyType(snapshot) if changed else before

    def _tracker(self, device: Device, before: Tracker | None) -> Tracker:
        if before is None or before.device.name != device.name:
            self.fleet.async_rename(device)
        return Tracker(device, self.positions.known.get(device.unique_id))

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
        self.changed, self._unpublished = self._unpublished, set()
        super().async_update_listeners()
        if self._published_success != self.last_update_success:
            self._published_success = self.last_update_success
            self._tracker_listeners.async_call_all()
        else:
            self._tracker_listeners.async_call(self.changed)

    @callback
    def async_forget(self, unique_id: str) -> None:
        """Forget all about a tracker whose device was removed."""
        self.fleet.async_forget(unique_id)
        self.positions.forget(unique_id)
        self._memory.async_save_later()

    async def async_unload(self) -> None:
        """Stop polling, and write down what is to be remembered."""
        await self.async_shutdown()
        await self._memory.async_close()
