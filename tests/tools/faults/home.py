"""A Home Assistant with bikes whose service has faults, and the effects that a user would notice."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from logging import INFO, WARNING
from socket import AF_INET, AI_NUMERICHOST, EAI_NONAME, gaierror
from typing import Any
from unittest.mock import patch

from aiohttp import ThreadedResolver
from freezegun.api import FrozenDateTimeFactory
from homeassistant.const import ATTR_LATITUDE, CONF_PASSWORD
from homeassistant.core import HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_fire_time_changed,
)

from custom_components.bike_tracker.api import TrackingClient
from custom_components.bike_tracker.const import DOMAIN
from tests.tools.settle import settle
from tests.tools.simulator import Simulator
from tests.tools.simulator.faults import Fault
from tests.tools.simulator.render import Endpoint

from ..story.home import until_next_timer
from .decided import NAME_NOT_FOUND

# Seconds after which the client gives up waiting for an answer.
_PATIENCE = 30
# Seconds until a restarting server comes back by itself. Tests end the fault earlier.
_LONG = 3600.0

type States = dict[str, dict[str, str]]
"""The states of entities, by tracker and by key of the entity."""
type Registries = dict[str, dict[str, Any]]


@dataclass
class Home:
    """Home Assistant with one account. The clock is frozen."""

    hass: HomeAssistant
    freezer: FrozenDateTimeFactory
    simulator: Simulator
    entry: MockConfigEntry
    trouble: Fault
    caplog: pytest.LogCaptureFixture | None = None
    is_live: bool = False
    """Whether the home has a live connection, which is a task that never ends."""
    polls: int = field(default=0, init=False)
    """How often the device list was requested, even if the request did not reach the server."""

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Count polls, and resolve any server name to the simulator."""
        ask = TrackingClient.async_get_devices

        async def counted(client: TrackingClient) -> Any:
            self.polls += 1
            return await ask(client)

        async def resolve(*_: Any, **__: Any) -> list[dict[str, Any]]:
            at = {"hostname": "", "host": "127.0.0.1", "port": self.simulator.port}
            how = {"family": AF_INET, "proto": 0, "flags": AI_NUMERICHOST}
            return [at | how]

        monkeypatch.setattr(TrackingClient, "async_get_devices", counted)
        monkeypatch.setattr(ThreadedResolver, "resolve", resolve)

    # Steps

    @contextmanager
    def in_trouble(
        self, path: Endpoint | None = None, every: int = 1
    ) -> Iterator[None]:
        """In this context, let all requests fail, or all requests to one endpoint, or every n-th request."""
        if (name := self.trouble.name) == NAME_NOT_FOUND:
            error = gaierror(EAI_NONAME, "Name or service not known")
            with patch.object(ThreadedResolver, "resolve", side_effect=error):
                yield
            return
        self.simulator.fault(name, path=path, seconds=_LONG, every=every)
        yield
        self.simulator.fault(None)

    async def wait(self, seconds: float) -> None:
        """Move the clock by seconds, and run everything that is due."""
        self._tick(seconds)
        await self._settle()

    async def wait_until_due(self, at_most: float) -> None:
        """Move the clock to the next timer, but at most by this number of seconds. So a day needs few steps."""
        await self.wait(until_next_timer(self.hass.loop, at_most))

    async def unload(self) -> None:
        """Unload the account, as before a restart."""
        await self.hass.config_entries.async_unload(self.entry.entry_id)

    async def set_up(self) -> None:
        """Set the account up, as after a restart."""
        self.hass.async_create_task(
            self.hass.config_entries.async_setup(self.entry.entry_id)
        )
        await self._settle()

    async def next_poll(self, *marks: int, of_positions: bool = False) -> int | None:
        """Wait for a poll, or a request for positions. Return at which of these marks, in seconds, it comes, or None.

        Home Assistant polls up to a second too early, and up to half a second late, so a
        mark includes two seconds before it and one after it. Fail if the poll or request
        comes between two marks.
        """

        def count() -> int:
            return self.position_requests if of_positions else self.polls

        passed, before = 0, count()
        for mark in marks:
            await self.wait(mark - 2 - passed)
            assert count() == before, f"before {mark} s"
            await self.wait(3)
            passed = mark + 1
            if count() > before:
                return mark
        return None

    async def sign_in_again(self, password: str) -> None:
        """Enter the password that Home Assistant requests."""
        [flow] = self.hass.config_entries.flow.async_progress()
        await self.hass.config_entries.flow.async_configure(
            flow["flow_id"], {CONF_PASSWORD: password}
        )
        await self._settle()

    def _tick(self, seconds: float) -> None:
        self.freezer.tick(timedelta(seconds=seconds))
        async_fire_time_changed(self.hass)

    async def _settle(self) -> None:
        """Wait until nothing is under way. If an answer is slow, move the clock until it is sent or given up."""
        settled = asyncio.create_task(
            settle(self.hass)
            if self.is_live
            else self.hass.async_block_till_done(wait_background_tasks=True)
        )
        while self.simulator.faults and not settled.done():
            while self.simulator.slow_answers:
                await self._be_patient(self.simulator.slow_answers.popleft())
            await asyncio.sleep(0)
        await settled

    async def _be_patient(self, seconds: float) -> None:
        """Move the clock until a slow answer is sent, or until the client gives up waiting for it."""
        polls = self.polls
        self._tick(min(seconds, _PATIENCE - 1))
        if seconds >= _PATIENCE:
            await asyncio.sleep(0)
            assert self.polls == polls
            self._tick(2)

    # Observations

    @property
    def asks_to_sign_in(self) -> bool:
        """Whether Home Assistant requests the password from the user."""
        return any(self.entry.async_get_active_flows(self.hass, {"reauth"}))

    @property
    def requests(self) -> int:
        """How many requests have reached the server, for any path."""
        records = self.simulator.record, self.simulator.other_record
        return sum(record.counts.total() for record in records)

    @property
    def position_requests(self) -> int:
        """How often positions were requested."""
        return self.simulator.record.counts["/api/positions"]

    def places(self) -> dict[str, str]:
        """Return the coordinates that are shown for each tracker, as text."""
        return {tracker: values["tracker"] for tracker, values in self.states().items()}

    def true_places(self) -> dict[str, str]:
        """Return the coordinates of each tracker at the service, in the same form as `places`."""
        return {
            tracker: f"{device.position.latitude}, {device.position.longitude}"
            for tracker, device in self.simulator.devices.items()
            if device.position is not None
        }

    def states(self) -> States:
        """Return the states of all entities, and device names. An entity on the map has coordinates as its state."""
        registry = er.async_get(self.hass)
        states: States = {}
        for entity in er.async_entries_for_config_entry(registry, self.entry.entry_id):
            tracker, _, key = entity.unique_id.partition("_")
            state = self.hass.states.get(entity.entity_id)
            value = "missing" if state is None else state.state
            if state is not None and ATTR_LATITUDE in state.attributes:
                value = "{latitude}, {longitude}".format(**state.attributes)
            states.setdefault(tracker, {})[key or "tracker"] = value
        find = dr.async_get(self.hass).async_get_device_by_identifier
        for tracker, values in states.items():
            device = find((DOMAIN, tracker), self.entry.entry_id)
            values["name"] = (device and device.name) or "missing"
        return states

    def registries(self) -> Registries:
        """Return the registry entries of the account's devices and entities, without the times of changes."""
        entry_id = self.entry.entry_id
        devices = dr.async_entries_for_config_entry(dr.async_get(self.hass), entry_id)
        entities = er.async_entries_for_config_entry(er.async_get(self.hass), entry_id)
        kept = {item.id: dict(item.extended_dict) for item in entities}
        kept |= {item.id: dict(item.dict_repr) for item in devices}
        for item in kept.values():
            del item["modified_at"]
        return kept

    def log(self) -> list[str]:
        """Return the integration's new lines from level INFO on, and all new warnings and errors. Fail on a traceback."""
        assert self.caplog is not None
        records = [
            record
            for record in self.caplog.records
            # Leave out lines about the simulator, which runs in the same process.
            if record.name not in {"asyncio", "aiohttp.access"}
            and record.levelno >= (INFO if DOMAIN in record.name else WARNING)
            # This line only repeats the `reason` of the config entry, which tests check.
            and not record.getMessage().startswith("Config entry '")
        ]
        self.caplog.clear()
        assert not any(record.exc_info for record in records)
        return [record.getMessage() for record in records]
