"""A house with two bikes, automations from the blueprints, and their messages. Tests use this notation.

Steps are separated by commas. After `=` comes the number of messages in Home Assistant so far.

    use alarm red blue alarms=sos+tow  replaces the automation by one from the blueprint `alarm` with these inputs
    wait 5, until 22, seconds 1        moves the clock by 5 minutes, to 22:00, or by a second
    report red north=0.003 motion=yes  sends a report from 0.003 degrees north of home, and waits a minute
    alarm sos blue                     sends a report with an alarm
    go 0.02 blue                       lets a bike ride to a place 0.02 degrees north of home
    online red, offline red            changes the status of a tracker
    person ann home                    changes the place of a person
    fail, work                         begins and ends an outage of the service
    restart 10                         stops Home Assistant, and starts it again after 10 minutes
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
import re
import string
from typing import Any

from homeassistant.config import async_hass_config_yaml
from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import (
    EVENT_CALL_SERVICE,
    EVENT_HOMEASSISTANT_FINAL_WRITE,
    EVENT_HOMEASSISTANT_STOP,
    SERVICE_RELOAD,
)
from homeassistant.core import CoreState, Event, ServiceCall, callback
from homeassistant.helpers.aiohttp_client import async_get_clientsession
from homeassistant.helpers.event import RANDOM_MICROSECOND_MAX
from homeassistant.setup import async_setup_component
from homeassistant.util import dt as dt_util
from homeassistant.util.async_ import get_scheduled_timer_handles
from homeassistant.util.yaml import dump
import pytest
from pytest_homeassistant_custom_component.common import async_fire_time_changed

from custom_components.bike_tracker.const import DOMAIN
from tests.conftest import BLUE, RED, Bikes
from tests.tools.simulator.world import DEFAULT_LATITUDE

BIKES = {"red": RED, "blue": BLUE}
_AUTOMATION, _NOTIFICATION = "automation", "persistent_notification"
_ESCAPED = re.compile(rf"\\([{re.escape(string.punctuation)}])")
_VALUES: dict[str, Any] = {"yes": True, "no": False, "none": None}
# Invisible marks around names, addresses and times in right-to-left texts.
_ISOLATES = str.maketrans("", "", "\u200f\u2068\u2069")
# Each minute of a story ends this number of seconds after a poll.
_AFTER_POLL = 6
# A timer that is due in at most this number of seconds counts as due.
_RESOLUTION = 0.001


def stories(table: str, triggers: Sequence[str] = ()) -> Iterator[Any]:
    """Yield the stories of a table. An empty line separates stories. The first line of a story is its name.

    Lines that begin with a digit are the expected messages. If triggers are given, yield
    each story for each trigger, without messages.
    """
    for part in table.strip().split("\n\n"):
        name, *lines = part.splitlines()
        steps = ", ".join(line for line in lines if not line[:1].isdigit())
        messages = [line for line in lines if line[:1].isdigit()]
        for trigger in triggers:
            yield pytest.param(f"of {trigger}, {steps}", id=f"{name} {trigger}")
        if not triggers:
            yield pytest.param(steps, messages, id=name)


def _value(word: str) -> Any:
    """Convert a value in a step to True, False, None, a number or a text."""
    with suppress(ValueError):
        return float(word)
    return _VALUES.get(word, word)


def _line(tag: str, level: str = "", title: str = "", message: str = "") -> str:
    """Return a message as one line. If `message` is empty, the line shows that the message was removed."""
    kind = tag.removeprefix(f"{DOMAIN}_").removeprefix("night_").rpartition("_")[0]
    said = f"{level or kind}: {title} / {message}" if message else f"{kind} removed"
    line = f"{dt_util.now():%H:%M} {said}".replace("\n", " / ")
    return line.translate(_ISOLATES)


class House:
    """A Home Assistant with an account of two bikes. The test moves its clock."""

    def __init__(self, bikes: Bikes, phone: str = "") -> None:
        """Record all messages in Home Assistant and on Ben's phone. Set the clock to some seconds after a poll."""
        self.bikes, self.hass, self.simulator = bikes, bikes.hass, bikes.simulator
        self.entry, self._freezer, self._phone = bikes.entry, bikes.freezer, phone
        self.shown: list[str] = []
        """Messages in Home Assistant, as people see them: `22:01 kind: title / text`."""
        self.told: list[str] = []
        """Messages on the phone: `22:01 critical: title / text`."""
        self.pushes: list[ServiceCall] = []
        self._automations: list[dict[str, Any]] = []
        self.hass.bus.async_listen(EVENT_CALL_SERVICE, self._note)
        notify = ("notify", "mobile_app_ben_s_phone")
        self.hass.services.async_register(*notify, self._note_push)
        self._freezer.tick(_AFTER_POLL)

    @callback
    def _note(self, event: Event[Any]) -> None:
        if event.data["domain"] == _NOTIFICATION:
            data = event.data["service_data"]
            title, text = data.get("title", ""), data.get("message", "")
            # In Markdown, all punctuation must be escaped.
            assert not set(string.punctuation) & set(_ESCAPED.sub("", text))
            text = _ESCAPED.sub(r"\1", text)
            self.shown.append(_line(data["notification_id"], "", title, text))

    @callback
    def _note_push(self, push: ServiceCall) -> None:
        self.pushes.append(push)
        data, message = push.data.get("data", {}), push.data["message"]
        level = data.get("push", {}).get("interruption-level", "quiet")
        is_gone = message == "clear_notification"
        more = () if is_gone else (level, push.data["title"], message)
        self.told.append(_line(data["tag"], *more))

    async def async_tell(self, story: str) -> None:
        """Run the steps of a story. If a step ends with `= ` and a text, check the result of the step against this text."""
        for step in story.split(", "):
            happens, _, expected = step.partition("= ")
            verb, *words = happens.split() or ["nothing"]
            data = dict(word.split("=") for word in words if "=" in word)
            more = {key: _value(value) for key, value in data.items()}
            names = [word for word in words if "=" not in word]
            await getattr(self, f"_{verb}")(*names, **more)
            if expected:
                self._check(expected, step)

    def _check(self, expected: str, step: str) -> None:
        assert len(self.shown) == int(expected), step

    # Steps of a story: the method `_wait` is the step `wait`

    async def _nothing(self) -> None:
        """Do nothing. This is the step without a name, which only checks the result after its `=`."""

    async def _use(self, blueprint: str, *names: str, **inputs: Any) -> None:
        for key in {"alarms", "riders"} & inputs.keys():
            inputs[key] = inputs[key].split("+")
        if "phone" in names:
            inputs["phones"] = [self._phone]
        bikes = [BIKES[name] for name in names if name in BIKES]
        await self.async_automate(blueprint, *bikes, **inputs)

    async def _wait(self, minutes: str = "1") -> None:
        await self.async_minutes(int(minutes))

    async def _until(self, hour: str) -> None:
        """Move the clock forward to an hour in UTC, in one step. If a poll was due earlier, it runs at that hour."""
        now = dt_util.utcnow()
        then = now.replace(hour=int(hour), minute=0, second=0, microsecond=0)
        await self.async_seconds((then - now).total_seconds() % 86_400)
        await self._async_after_poll()

    async def _seconds(self, count: str) -> None:
        await self.async_seconds(int(count))

    async def _report(self, bike: str = "red", **more: Any) -> None:
        if "north" in more:
            more["latitude"] = DEFAULT_LATITUDE + more.pop("north")
        self.simulator.report(BIKES[bike], **more)
        await self._wait()

    async def _go(self, north: str, bike: str = "red") -> None:
        position = self.simulator.devices[BIKES[bike]].position
        assert position is not None
        start, end = position.latitude, DEFAULT_LATITUDE + float(north)
        for part in (0, 0.5, 1):
            await self._report(bike, latitude=start + (end - start) * part, motion=True)
        for _ in range(8):
            await self._report(bike, latitude=end, motion=False)

    async def _alarm(self, words: str, bike: str = "red") -> None:
        self.simulator.report(BIKES[bike], attributes={"alarm": words})

    async def _online(self, bike: str) -> None:
        self.simulator.set_status(BIKES[bike], "online")

    async def _offline(self, bike: str) -> None:
        self.simulator.set_status(BIKES[bike], "offline")

    async def _person(self, name: str, state: str) -> None:
        self.hass.states.async_set(f"person.{name}", state)

    async def _fail(self) -> None:
        self.simulator.fault("status-503")

    async def _work(self) -> None:
        self.simulator.fault(None)

    async def _restart(self, minutes: str = "1") -> None:
        await self._stop()
        self._freezer.tick(60 * int(minutes) - _AFTER_POLL)
        await self._start()

    # Home Assistant

    async def async_automate(
        self, blueprint: str, *trackers: str, **inputs: Any
    ) -> None:
        """Replace all automations by one from a blueprint. Fail if Home Assistant rejects it."""
        if trackers:
            devices = [self.bikes.device(tracker).id for tracker in trackers]
            inputs["bikes"] = {"device_id": devices}
        use = {"path": f"bike_tracker/{blueprint}.yaml", "input": inputs}
        await self.async_save({"id": "1", "alias": "Bikes", "use_blueprint": use})
        assert self.bikes.state("automation.bikes").state == "on"

    async def async_save(self, *automations: dict[str, Any]) -> None:
        """Replace all automations by these, as the editor does: write them to a file and reload it."""
        hass = self.hass
        for component in (_NOTIFICATION, _AUTOMATION):
            assert await async_setup_component(hass, component, {})
        configuration = Path(hass.config.path("configuration.yaml"))
        text = dump({_AUTOMATION: list(automations)})
        await hass.async_add_executor_job(configuration.write_text, text)
        await hass.services.async_call(_AUTOMATION, SERVICE_RELOAD, blocking=True)
        await self._async_settle()

    async def async_minutes(self, count: int) -> None:
        """Move the clock forward by `count` minutes. Each minute ends `_AFTER_POLL` seconds after a poll."""
        for _ in range(count):
            await self.async_seconds(60 - _AFTER_POLL)
            await self._async_after_poll()

    async def _async_after_poll(self) -> None:
        """Move the clock by `_AFTER_POLL` single seconds, so that timers that a poll started end one after another."""
        for _ in range(_AFTER_POLL):
            await self.async_seconds(1)

    async def async_seconds(self, seconds: float) -> None:
        """Move the clock forward by `seconds` in one step, and run all timers that are due."""
        self._freezer.tick(seconds)
        if self.entry.state is ConfigEntryState.LOADED:
            self.entry.runtime_data.coordinator.last_exception = None
        if not self._is_anything_due:
            return
        async_fire_time_changed(self.hass)
        # Do not wait until Home Assistant is idle: while an automation waits, Home
        # Assistant is never idle.
        while self._polls:
            await asyncio.sleep(0)
        await self._async_settle()

    @property
    def _is_anything_due(self) -> bool:
        # Make the check of `async_fire_time_changed`, but without running the timers.
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

    async def _stop(self) -> None:
        """Simulate a stop of Home Assistant: fire the events of a stop, and unload the account and automations."""
        hass = self.hass
        self._automations = (await async_hass_config_yaml(hass))[_AUTOMATION]
        hass.set_state(CoreState.stopping)
        hass.bus.async_fire_internal(EVENT_HOMEASSISTANT_STOP)
        await self._async_settle()
        hass.bus.async_fire_internal(EVENT_HOMEASSISTANT_FINAL_WRITE)
        await self._async_settle()
        # Unload the account in the state `stopped`, because Home Assistant then writes
        # files without a delay.
        hass.set_state(CoreState.stopped)
        await hass.config_entries.async_unload(self.entry.entry_id)
        await self.async_save()
        hass.set_state(CoreState.not_running)

    async def _start(self) -> None:
        """Start Home Assistant again, with the automations from before the stop."""
        hass = self.hass
        await self.async_save(*self._automations)
        if self.entry.state is ConfigEntryState.NOT_LOADED:
            await hass.config_entries.async_setup(self.entry.entry_id)
        await hass.async_start()
        await self._async_after_poll()

    async def _async_settle(self) -> None:
        """Wait until automations have run, and until the service's answers to all requests have been applied."""
        for _ in range(20):
            await asyncio.sleep(0)
            # If the clock moved before the answer, the request would time out.
            while self._asks:
                await asyncio.sleep(0)

    @property
    def _asks(self) -> bool:
        connector = async_get_clientsession(self.hass).connector
        assert connector is not None
        # The live connection stays open, so do not count it.
        used = connector._acquired  # noqa: SLF001
        if any(not getattr(each, "upgraded", False) for each in used):
            return True
        # A thread applies an answer of the history.
        tasks = asyncio.all_tasks()
        return any(task.get_name() == f"{DOMAIN} history" for task in tasks)
