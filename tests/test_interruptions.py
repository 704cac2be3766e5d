"""Polls, set-ups and reloads that are interrupted, or that run at the same time."""

import asyncio
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from homeassistant.const import Platform
from homeassistant.setup import async_setup_component
import pytest

from custom_components.bike_tracker import async_remove_config_entry_device, coordinator
from custom_components.bike_tracker.api import TrackingClient

from .conftest import BLUE, EMAIL, RED, Bikes
from .tools.simulator.render import Endpoint

MANY = [f"35{number:013}" for number in range(300)]


def online(bikes: Bikes, tracker: str = RED) -> str | None:
    """Return the state of a tracker's connectivity, or None if the entity does not exist."""
    return bikes.value_of(f"{tracker}_online", Platform.BINARY_SENSOR)


@pytest.mark.parametrize(
    ("path", "then"),
    [("positions", [(None, "off")]), ("devices", [("status-503", "unavailable")])],
)
async def test_poll_that_is_cut_short(
    ready: Bikes, path: Endpoint, then: list[tuple[str | None, str]]
) -> None:
    """If `update_entity` is canceled during its poll, for example because a script restarts, later polls show the changes.

    Later polls also show an outage and its end.
    """
    assert await async_setup_component(ready.hass, "homeassistant", {})
    ready.simulator.set_status(RED, "offline")
    ready.simulator.report(BLUE, latitude=48.1)
    ready.simulator.fault("no-answer", path=path, times=1)
    ready.simulator.record.clear()
    action, fields = "update_entity", {"entity_id": "device_tracker.red_bike"}
    call = ready.hass.services.async_call(
        "homeassistant", action, fields, blocking=True
    )
    task = asyncio.create_task(call)
    while f"/api/{path}" not in ready.simulator.record.counts:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert online(ready) == "on"
    for fault, shown in (*then, (None, "off")):
        ready.simulator.fault(fault)
        await ready.poll(61 if fault else 120)
        assert online(ready) == shown


async def test_armed_while_a_poll_is_taken_in(ready: Bikes) -> None:
    """If a guard is armed between the answers and their effect, the arming and the changes of the poll are shown."""
    await ready.async_report(motion=False)
    ready.simulator.report(RED, motion=False)
    ready.simulator.set_status(RED, "offline")
    arm = SimpleNamespace(sleep=lambda _: ready.async_guard(), wait=asyncio.wait)
    with patch.object(coordinator, "asyncio", arm):
        await ready.coordinator.async_refresh()
    assert ready.value_of(f"{RED}_guard", Platform.ALARM_CONTROL_PANEL) == "armed_away"
    assert online(ready) == "off"


async def test_reload_meanwhile(ready: Bikes, caplog: pytest.LogCaptureFixture) -> None:
    """If an account is reloaded while trackers are added, each tracker is added one time, and shows its status."""
    for tracker in MANY:
        ready.simulator.add_device(tracker, email=EMAIL)
    await ready.coordinator.async_refresh()
    assert len(ready.hass.states.async_entity_ids("device_tracker")) < len(MANY)
    caplog.clear()
    await ready.hass.config_entries.async_reload(ready.entry.entry_id)
    await ready.poll()
    for tracker in MANY:
        ready.simulator.set_status(tracker, "offline")
    await ready.poll()
    assert {online(ready, tracker) for tracker in MANY} == {"off"}
    assert "already exists" not in caplog.text


async def test_delete_button_while_the_tracker_comes_back(ready: Bikes) -> None:
    """If a poll lists a tracker again, a user cannot delete this tracker, even while the poll is still under way."""
    device = ready.device(RED)
    ready.simulator.unassign(EMAIL, RED)
    await ready.poll()
    ready.simulator.assign(EMAIL, RED)
    ready.simulator.report(BLUE, latitude=48.1)
    allowed = list[bool]()

    async def _positions(*_: object) -> dict[int, Any]:
        allowed.append(
            await async_remove_config_entry_device(ready.hass, ready.entry, device)
        )
        return {}

    with patch.object(TrackingClient, "async_get_positions", _positions):
        await ready.poll()
    assert allowed and not any(allowed)
