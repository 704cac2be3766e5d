"""Home Assistant with accounts. It can be stopped, started and killed."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import TemporaryDirectory
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.bootstrap import async_load_base_functionality
from homeassistant.components.calendar.const import DATA_COMPONENT as DATA_CALENDARS
from homeassistant.config_entries import SOURCE_USER, ConfigEntry
from homeassistant.const import CONF_EMAIL, CONF_PASSWORD, CONF_URL
from homeassistant.core import CoreState, HomeAssistant, State
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import device_registry as dr
from homeassistant.loader import DATA_CUSTOM_COMPONENTS
from homeassistant.setup import async_setup_component
from homeassistant.util.async_ import get_scheduled_timer_handles
from pytest_homeassistant_custom_component.common import (
    async_fire_time_changed,
    async_test_home_assistant,
)

from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.database import Database
from custom_components.bike_tracker.tracking.rides import Ride
from tests.conftest import PASSWORD, resolve_names
from tests.tools.settle import settle
from tests.tools.simulator.server import Simulator

from .listener import Listener, automations, label_bikes

_EVER = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
_LIVE_AFTER = 12
"""Seconds from the set-up of an account until its live connection opens."""
# `async_fire_time_changed` also runs timers that are due within this number of seconds.
_AT_ONCE = 0.5


@dataclass
class Home:
    """A house in which Home Assistant is restarted. Each run continues with the data that the run before has stored."""

    freezer: FrozenDateTimeFactory
    simulator: Simulator
    storage: dict[str, Any]
    config_dir: str
    listener: Listener = field(default_factory=Listener)
    clock_off: timedelta = timedelta()
    """How far the house's clock is ahead of the true time."""
    settled: Callable[[], None] = lambda: None
    """Function to call each time all work under way has ended."""
    _hass: HomeAssistant | None = None
    _end: AsyncExitStack = field(default_factory=AsyncExitStack)

    @property
    def hass(self) -> HomeAssistant:
        """Return the Home Assistant that is running."""
        assert self._hass is not None
        return self._hass

    def utcnow(self) -> datetime:
        """Return the time by the clock of the house."""
        return datetime.now(UTC) + self.clock_off

    def entry(self, email: str) -> ConfigEntry:
        """Return the config entry of an account."""
        entries = self.hass.config_entries.async_entries(DOMAIN)
        return next(it for it in entries if it.data[CONF_EMAIL] == email)

    def owner(self, tracker: str) -> str | None:
        """Return the email of the account to which the device of a tracker belongs, or None."""
        if self._hass is None:
            return None
        find = dr.async_get(self.hass).async_get_device_by_identifier
        for entry in self.hass.config_entries.async_entries(DOMAIN):
            if find((DOMAIN, tracker), entry.entry_id):
                return str(entry.data[CONF_EMAIL])
        return None

    async def booked(self, tracker: str) -> list[Ride]:
        """Return the rides of a tracker in the database of its account."""
        owner = self.owner(tracker)
        assert owner is not None
        database: Database = self.entry(owner).runtime_data.coordinator.database
        return await database.rides(tracker, *_EVER)

    # Starts and stops of Home Assistant

    async def async_move_in(self, *emails: str) -> None:
        """Start Home Assistant, add these accounts as a user does, and wait until they are set up."""
        await self.async_start()
        url = {CONF_URL: self.simulator.url, CONF_PASSWORD: PASSWORD}
        for email in emails:
            flow = await self.hass.config_entries.flow.async_init(
                DOMAIN, context={"source": SOURCE_USER}, data=url | {CONF_EMAIL: email}
            )
            assert flow["type"] is FlowResultType.CREATE_ENTRY
            await self.async_settle()
            await self.async_wait(_LIVE_AFTER)
            # The automations of the stories run only for bikes with a label.
            label_bikes(self.hass)
        await self.async_wait(120)

    async def async_start(self, *, automations_first: bool = False) -> None:
        """Start Home Assistant with the stored data. Set up automations last or, with `automations_first`, first."""
        assert self._hass is None
        # Copy the data, because objects of the last run may still change the original.
        self._restore(deepcopy(self.storage))
        self._end = AsyncExitStack()
        hass = await self._end.enter_async_context(
            async_test_home_assistant(
                load_registries=False,
                config_dir=self.config_dir,
                initial_state=CoreState.not_running,
            )
        )
        self._hass = hass
        hass.data.pop(DATA_CUSTOM_COMPONENTS)
        resolve_names(hass)
        assert await async_load_base_functionality(hass)
        self.listener.async_listen(hass)
        components: list[tuple[str, dict[str, Any]]] = [
            (DOMAIN, {}),
            ("automation", {"automation": automations()}),
        ]
        for name, config in components[::-1] if automations_first else components:
            await async_setup_component(hass, name, config)
            await self.async_settle()
        await hass.async_start()
        await self.async_settle()

    async def async_stop(self) -> None:
        """If Home Assistant runs, stop it properly: it first writes everything."""
        if self._hass is None:
            return
        await self.hass.async_stop(force=True)
        await self.async_settle()
        # This process continues, so end the timers of all accounts and calendars.
        for entry in self.hass.config_entries.async_loaded_entries(DOMAIN):
            await entry.runtime_data.coordinator.async_shutdown()
        for calendar in self.hass.data[DATA_CALENDARS].entities:
            await calendar.async_will_remove_from_hass()
        await self._end.aclose()
        self._hass = None

    async def async_kill(self) -> None:
        """Kill Home Assistant: whatever is not written yet is lost."""
        folder, storage = Path(self.config_dir, ".storage"), deepcopy(self.storage)
        with TemporaryDirectory() as written:
            copytree(folder, written, dirs_exist_ok=True)
            self.listener.is_deaf = True
            await self.async_stop()
            self.listener.is_deaf = False
            rmtree(folder)
            copytree(written, folder)
        self._restore(storage)

    def _restore(self, storage: dict[str, Any]) -> None:
        self.storage.clear()
        self.storage.update(storage)

    def state(self, entity_id: str) -> State:
        """Return the state of an entity."""
        state = self.hass.states.get(entity_id)
        assert state is not None
        return state

    async def async_reload(self, email: str) -> None:
        """Reload an account."""
        await self.hass.config_entries.async_reload(self.entry(email).entry_id)
        await self.async_settle()

    # Time

    async def async_wait(self, seconds: float) -> None:
        """Move the clock by seconds. Pause at the time of each timer, so that it runs at its time."""
        await self.async_settle()
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while (left := until - loop.time()) > 0.001:
            self.freezer.tick(timedelta(seconds=until_next_timer(loop, left)))
            if self._hass is not None:
                async_fire_time_changed(self._hass)
            await self.async_settle()

    async def async_settle(self) -> None:
        """Wait until nothing is under way, except the live connection."""
        # After a burst of messages, one call is not enough.
        for _ in range(2):
            await settle(self._hass)
        self.settled()


def until_next_timer(loop: asyncio.AbstractEventLoop, at_most: float) -> float:
    """Return the seconds until the next timer. Leave out timers that are due now or almost now."""
    now, timers = loop.time(), get_scheduled_timer_handles(loop)
    waits = (timer.when() - now for timer in timers if not timer.cancelled())
    # The frozen clock counts in microseconds, so a shorter step might not move it.
    return max(0.001, min([at_most, *(wait for wait in waits if wait > _AT_ONCE)]))
