"""A house with two bikes: automations made from the blueprints, and what they tell."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
import re
import string
from types import MappingProxyType
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.components.persistent_notification import (
    DOMAIN as NOTIFICATION_DOMAIN,
)
from homeassistant.config import async_hass_config_yaml
from homeassistant.config_entries import ConfigEntryState, ConfigSubentry
from homeassistant.const import (
    EVENT_CALL_SERVICE,
    EVENT_HOMEASSISTANT_FINAL_WRITE,
    EVENT_HOMEASSISTANT_STOP,
    SERVICE_RELOAD,
)
from homeassistant.core import Context, CoreState, Event, HomeAssistant, callback
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.event import RANDOM_MICROSECOND_MAX
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from homeassistant.util.async_ import get_scheduled_timer_handles
from homeassistant.util.yaml import dump
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
)

from custom_components.bike_tracker.const import DOMAIN
from tests.conftest import RED
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import DEFAULT_LATITUDE

_AUTOMATION = "automation"
_NIGHT = {"night_begins": "22:00:00", "night_ends": "06:00:00"}
_ESCAPED = re.compile(rf"\\([{re.escape(string.punctuation)}])")
_VALUES: dict[str, Any] = {"yes": True, "no": False, "none": None}
# Templates that became true have to stay so for some seconds.
_AFTER_POLL = 6
# Timers that ring within so many seconds are due.
_RESOLUTION = 0.001


def shown(markdown: str) -> str:
    """Return what Home Assistant makes of Markdown in which each sign stands for itself."""
    assert not set(string.punctuation) & set(_ESCAPED.sub("", markdown))
    return _ESCAPED.sub(r"\1", markdown)


def stories(table: str, triggers: Sequence[str] = ()) -> Iterator[Any]:
    """Yield the stories of a table, each after a line that says what it shows.

    Lines that begin with a digit are the messages. With triggers, there is a story of each.
    """
    for part in table.strip().split("\n\n"):
        name, *lines = part.splitlines()
        steps = ", ".join(line for line in lines if not line[:1].isdigit())
        messages = [line for line in lines if line[:1].isdigit()]
        for trigger in triggers:
            yield pytest.param(f"of {trigger}, {steps}", id=f"{name} {trigger}")
        if not triggers:
            yield pytest.param(steps, messages, id=name)


class House:
    """Home Assistant with the trackers set up, in which time passes on demand."""

    def __init__(
        self,
        hass: HomeAssistant,
        freezer: FrozenDateTimeFactory,
        entry: MockConfigEntry,
    ) -> None:
        """Note down every persistent notification."""
        self.notifications: list[dict[str, str]] = []
        """All that were made so far, as they are shown, those that were replaced too."""
        self.gone: list[str] = []
        """The IDs of those that were taken away."""
        self.hass, self.entry = hass, entry
        self._freezer = freezer
        self._automations: list[dict[str, Any]] = []
        hass.bus.async_listen(EVENT_CALL_SERVICE, self._note)
        freezer.tick(_AFTER_POLL)

    @callback
    def _note(self, event: Event[Any]) -> None:
        notification = event.data["service_data"]
        if event.data["domain"] != NOTIFICATION_DOMAIN:
            return
        if event.data["service"] == "dismiss":
            self.gone.append(notification["notification_id"])
            return
        message = shown(notification["message"])
        self.notifications.append({**notification, "message": message})

    async def async_tell(self, story: str) -> None:
        """Let all steps of a story happen, and check what comes after a `=`."""
        for step in story.split(", "):
            happens, _, expected = step.partition("= ")
            verb, *words = happens.split() or ["nothing"]
            data = dict(word.split("=") for word in words if "=" in word)
            more: Any = {key: _VALUES.get(value, value) for key, value in data.items()}
            names = [word for word in words if "=" not in word]
            await getattr(self, f"_{verb}")(*names, **more)
            if expected:
                self._check(expected, step)

    async def _nothing(self) -> None:
        """Look only."""

    def _check(self, expected: str, step: str) -> None:
        raise NotImplementedError

    async def _wait(self, minutes: str = "1") -> None:
        await self.async_minutes(int(minutes))

    @property
    def fired(self) -> list[str]:
        """The messages of the notifications."""
        return [notification["message"] for notification in self.notifications]

    @property
    def titles(self) -> list[str]:
        """The titles of the notifications."""
        return [notification["title"] for notification in self.notifications]

    def device(self, tracker: str) -> str:
        """Return the ID of a tracker's device."""
        device = dr.async_get(self.hass).async_get_device_by_identifier(
            (DOMAIN, tracker), self.entry.entry_id
        )
        assert device is not None
        return device.id

    def state(self, entity_id: str) -> str:
        """Return the state of an entity."""
        state = self.hass.states.get(entity_id)
        assert state is not None
        return state.state

    async def async_guard(
        self, bike: str, action: str = "arm_away", context: Context | None = None
    ) -> None:
        """Arm the guard of a bike, or disarm it; with a context, a person does."""
        await self.hass.services.async_call(
            "alarm_control_panel",
            f"alarm_{action}",
            {"entity_id": f"alarm_control_panel.{bike}_guard"},
            blocking=True,
            context=context,
        )

    async def async_automate(
        self, blueprint: str, *trackers: str, **inputs: Any
    ) -> None:
        """Make an automation of a blueprint, or change the one there is."""
        if trackers:
            inputs["bikes"] = {"device_id": [self.device(each) for each in trackers]}
        use = {"path": f"bike_tracker/{blueprint}.yaml", "input": inputs}
        await self.async_save({"id": "1", "alias": "Bikes", "use_blueprint": use})
        state = self.hass.states.get("automation.bikes")
        assert state is not None
        assert state.state == "on"

    async def async_night_guard(self, *trackers: str, **data: Any) -> None:
        """Add a night guard for some bikes, or change the only one."""
        entries, bikes = self.hass.config_entries, list(map(self.device, trackers))
        if not self.entry.subentries:
            await self.async_save()
        data = {"name": "Night", "bikes": bikes, **_NIGHT, **data}
        for subentry in self.entry.subentries.values():
            entries.async_update_subentry(self.entry, subentry, data=data)
            break
        else:
            new = ConfigSubentry(
                data=MappingProxyType(data),
                subentry_type="night_guard",
                title="Night",
                unique_id=None,
            )
            entries.async_add_subentry(self.entry, new)
        await self._async_settle()

    async def async_save(self, *automations: dict[str, Any]) -> None:
        """Save the automations as the editor does."""
        hass = self.hass
        for component in (NOTIFICATION_DOMAIN, _AUTOMATION):
            assert await async_setup_component(hass, component, {})
        configuration = Path(hass.config.path("configuration.yaml"))
        text = dump({_AUTOMATION: list(automations)})
        await hass.async_add_executor_job(configuration.write_text, text)
        await hass.services.async_call(_AUTOMATION, SERVICE_RELOAD, blocking=True)
        await self._async_settle()

    async def async_minutes(self, count: int) -> None:
        """Let minutes pass, each with a poll some seconds before it ends."""
        for _ in range(count):
            await self.async_seconds(60 - _AFTER_POLL)
            await self._async_after_poll()

    async def async_until(self, hour: int) -> None:
        """Let time pass in one go until an hour, by which a poll is due."""
        now = dt_util.utcnow()
        then = now.replace(hour=hour, minute=0, second=0, microsecond=0)
        seconds = (then - now).total_seconds() % 86_400
        await self.async_seconds(seconds)
        await self._async_after_poll()

    async def _async_after_poll(self) -> None:
        """Let what comes seconds after a poll come one after the other."""
        for _ in range(_AFTER_POLL):
            await self.async_seconds(1)

    async def async_seconds(self, seconds: float) -> None:
        """Let seconds pass in one go."""
        self._freezer.tick(seconds)
        if self.entry.state is ConfigEntryState.LOADED:
            self.entry.runtime_data.coordinator.last_exception = None
        if not self._is_anything_due:
            return
        async_fire_time_changed(self.hass)
        # Not until Home Assistant is done: while an automation waits it never is.
        while self._polls:
            await asyncio.sleep(0)
        await self._async_settle()

    @property
    def _is_anything_due(self) -> bool:
        # As `async_fire_time_changed` has it, which takes a while to find that out.
        by = self.hass.loop.time() + RANDOM_MICROSECOND_MAX / 1_000_000
        return any(
            timer.when() <= by + _RESOLUTION and not timer.cancelled()
            for timer in get_scheduled_timer_handles(self.hass.loop)
        )

    @property
    def _polls(self) -> bool:
        if self.entry.state is not ConfigEntryState.LOADED:
            return self.entry.state is ConfigEntryState.SETUP_IN_PROGRESS
        coordinator = self.entry.runtime_data.coordinator
        service, failure = coordinator.service, coordinator.last_exception
        is_over = failure or service.answered_at == service.asked_at
        return service.asked_at == dt_util.utcnow() and not is_over

    async def async_restart(self, *, down: float = 60) -> None:
        """Restart all of Home Assistant that the automation sees; `down` in seconds."""
        await self.async_stop()
        self._freezer.tick(down - _AFTER_POLL)
        await self.async_start()

    async def async_stop(self) -> None:
        """Stop Home Assistant, as far as automations and the trackers see it."""
        hass = self.hass
        self._automations = (await async_hass_config_yaml(hass))[_AUTOMATION]
        hass.set_state(CoreState.stopping)
        hass.bus.async_fire_internal(EVENT_HOMEASSISTANT_STOP)
        await self._async_settle()
        hass.bus.async_fire_internal(EVENT_HOMEASSISTANT_FINAL_WRITE)
        await self._async_settle()
        # Unloading is the test's own: what it writes is not put off any more.
        hass.set_state(CoreState.stopped)
        await hass.config_entries.async_unload(self.entry.entry_id)
        await self.async_save()
        hass.set_state(CoreState.not_running)

    async def async_start(self) -> None:
        """Start it with the automations it had."""
        hass = self.hass
        await self.async_save(*self._automations)
        if self.entry.state is ConfigEntryState.NOT_LOADED:
            await hass.config_entries.async_setup(self.entry.entry_id)
        await hass.async_start()
        await self._async_after_poll()

    async def _async_settle(self) -> None:
        """Let what happened trigger the automations, and the service answer them."""
        for _ in range(20):
            await asyncio.sleep(0)
            # Time that passed before would be up for the answer.
            while self._asks:
                await asyncio.sleep(0)

    @property
    def _asks(self) -> bool:
        connector = async_get_clientsession(self.hass).connector
        assert connector is not None
        # Those of the live connection stay.
        used = connector._acquired  # noqa: SLF001
        return any(not getattr(each, "upgraded", False) for each in used)


async def async_ride(
    simulator: Simulator, house: House, *, by: float, tracker: str = RED
) -> None:
    """Have a bike ride to a place so many degrees north of home, and stand."""
    position = simulator.devices[tracker].position
    assert position is not None
    start, end = position.latitude, DEFAULT_LATITUDE + by
    for part in (0, 0.5, 1):
        latitude = start + (end - start) * part
        simulator.report(tracker, latitude=latitude, motion=True)
        await house.async_minutes(1)
    for _ in range(8):
        simulator.report(tracker, latitude=end, motion=False)
        await house.async_minutes(1)
