"""A garage with bikes: what becomes of them, and what automations tell of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import Event, HomeAssistant, callback
from homeassistant.helpers import (
    area_registry as ar,
    device_registry as dr,
    entity_registry as er,
)
from homeassistant.util import dt as dt_util
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.bike_tracker.const import DOMAIN
from tests.blueprints.house import House
from tests.conftest import BLUE, EMAIL, PASSWORD, RED
from tests.tools.simulator.server import Simulator

INTERRUPTIONS = ("server", "restart", "reload", "sign-in", "unassigned")
# Five is a prime: steps of one to four places come by all of them, each time from another one.
_EACH_AFTER_EACH = (
    *(
        INTERRUPTIONS[number * step % len(INTERRUPTIONS)]
        for step in range(1, len(INTERRUPTIONS))
        for number in range(len(INTERRUPTIONS))
    ),
    INTERRUPTIONS[0],
)
_FIRED = "fired"
# The longest that anything takes to be right again after a failure, in minutes.
_AGAIN = 7


@dataclass(frozen=True)
class Run:
    """A run of an automation."""

    at: datetime
    variables: dict[str, Any]
    """What the trigger gave it, as text."""

    @property
    def since(self) -> datetime:
        """Since when it is so, as it says."""
        return datetime.fromisoformat(self.variables["since"])

    def about(self) -> dict[str, Any]:
        """Return what all triggers tell."""
        names = ("device_id", "entity_id", "name", "description")
        return {name: self.variables[name] for name in names} | {"since": self.since}

    def is_over(self, wait: timedelta, *, within: int) -> bool:
        """Return whether it ran when a wait was over, within so many minutes."""
        late = self.at - self.since - wait
        return timedelta() <= late < timedelta(minutes=within)


class Garage(House):
    """A house of which one sees what triggers tell."""

    def __init__(
        self,
        hass: HomeAssistant,
        freezer: FrozenDateTimeFactory,
        entry: MockConfigEntry,
        simulator: Simulator,
    ) -> None:
        """Note what is told."""
        super().__init__(hass, freezer, entry)
        self.simulator = simulator
        self.runs: list[Run] = []
        self._down: set[str] = set()
        hass.bus.async_listen(_FIRED, self._note_run)

    @callback
    def _note_run(self, event: Event[Any]) -> None:
        self.runs.append(Run(dt_util.utcnow(), event.data))

    @property
    def hass(self) -> HomeAssistant:
        """Return Home Assistant."""
        return self._hass

    @property
    def now(self) -> datetime:
        """Return the time."""
        return dt_util.utcnow()

    def entity(self, tracker: str, key: str = "online") -> str:
        """Return the ID of a binary sensor."""
        entity_id = er.async_get(self._hass).async_get_entity_id(
            "binary_sensor", DOMAIN, f"{tracker}_{key}"
        )
        assert entity_id is not None
        return entity_id

    def put(self, tracker: str, **where: Any) -> None:
        """Give a tracker's device another area, or labels."""
        dr.async_get(self._hass).async_update_device(self.device(tracker), **where)

    def area_of_both(self) -> str:
        """Return the ID of an area that both bikes are in."""
        area = ar.async_get(self._hass).async_create("Garage")
        for bike in (RED, BLUE):
            self.put(bike, area_id=area.id)
        return area.id

    def add_device_of_another(self, identifier: Any, **where: Any) -> None:
        """Add a device of another integration, which may name it as it likes."""
        other = MockConfigEntry(domain="another")
        other.add_to_hass(self._hass)
        registry = dr.async_get(self._hass)
        device = registry.async_get_or_create(
            config_entry_id=other.entry_id, identifiers={identifier}
        )
        registry.async_update_device(device.id, **where)

    def automation(
        self,
        trigger: str,
        *,
        target: dict[str, Any] | None = None,
        alias: str = "Bikes",
        fired: Iterable[str] = (),
        **options: Any,
    ) -> dict[str, Any]:
        """Return an automation that tells what its trigger gives it.

        `fired` are more variables than all triggers have.
        """
        variables = ("device_id", "entity_id", "name", "since", "before")
        return {
            "id": alias,
            "alias": alias,
            "mode": "queued",
            "triggers": [
                {
                    "trigger": f"{DOMAIN}.{trigger}",
                    "target": target or {"device_id": self.device(RED)},
                    **({"options": options} if options else {}),
                }
            ],
            "actions": [
                {
                    "event": _FIRED,
                    "event_data": {
                        name: f"{{{{ trigger.{name} | default(none) }}}}"
                        for name in (*variables, "description", *fired)
                    },
                }
            ],
        }

    async def async_listen(self, trigger: str, **more: Any) -> None:
        """Save the only automation."""
        await self.async_save(self.automation(trigger, **more))
        alias = more.get("alias", "Bikes").lower()
        state = self._hass.states.get(f"automation.{alias}")
        assert state is not None
        assert state.state == "on"

    # What becomes of the red bike

    async def async_prepare(self, trigger: str) -> None:
        """Let the bike be otherwise than the trigger tells."""
        if trigger == "came_online":
            self.simulator.set_status(RED, "offline")
        if trigger == "stopped_moving":
            self.simulator.report(RED, motion=True)
        self.simulator.touch([RED])
        await self.async_minutes(2)

    def become(self, trigger: str, *, at_once: bool = False) -> None:
        """Let the bike become what the trigger tells, with or without a wait."""
        match trigger:
            case "went_offline":
                self.simulator.set_status(RED, "offline")
            case "came_online":
                self.simulator.set_status(RED, "online")
            case "became_silent":
                # One that is silent for a day in a minute.
                age = timedelta(days=1, minutes=-1) if at_once else timedelta()
                self.simulator.set_last_update(RED, self.now - age)
            case _:
                self.simulator.report(RED, motion=trigger == "started_moving")

    # What comes in between

    async def async_begin(self, interruption: str) -> None:
        """Let it begin, and be noticed."""
        self._down.add(interruption)
        match interruption:
            case "server":
                self.simulator.fault("status-503")
            case "restart":
                await self.async_stop()
            case "reload":
                if "restart" not in self._down:
                    await self._hass.config_entries.async_unload(self._entry.entry_id)
            case "sign-in":
                self.simulator.set_password(EMAIL, "another")
            case "unassigned":
                self.simulator.unassign(EMAIL, RED)
        await self._async_pass(3)

    async def async_end(self, interruption: str) -> None:
        """Let it end, and everything be well again."""
        self._down.discard(interruption)
        match interruption:
            case "server":
                self.simulator.fault(None)
            case "restart":
                await self.async_start()
            case "reload":
                if "restart" not in self._down and self._is_unloaded:
                    await self._hass.config_entries.async_setup(self._entry.entry_id)
            case "sign-in":
                self.simulator.set_password(EMAIL, PASSWORD)
            case "unassigned":
                self.simulator.assign(EMAIL, RED)
        await self._async_pass(_AGAIN)

    async def async_interrupt(self) -> None:
        """Let each interruption come and go after each other one."""
        for interruption in _EACH_AFTER_EACH:
            await self.async_begin(interruption)
            await self.async_end(interruption)

    @property
    def _is_unloaded(self) -> bool:
        return self._entry.state is ConfigEntryState.NOT_LOADED

    async def _async_pass(self, minutes: int) -> None:
        if "restart" in self._down:
            self._freezer.tick(60 * minutes)
        else:
            await self.async_minutes(minutes)
