"""Conditions: what the service says, false where it says nothing."""

from datetime import timedelta
from typing import Any

from freezegun.api import FrozenDateTimeFactory
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import area_registry as ar, condition
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry
import voluptuous as vol

from custom_components.bike_tracker.const import DOMAIN
from tests.conftest import BLUE, EMAIL, RED

from .conftest import Ask
from .garage import Garage
from .test_rides import go

CONDITIONS = ("is_online", "is_offline", "is_silent", "is_moving", "is_not_moving")
MINUTES = {"for": {"minutes": 10}}
LONG = {"for": {"days": 9}}

DURATIONS: tuple[tuple[str, Any], ...] = (
    ("for", "-00:01:00"),
    ("for", "a while"),
    ("for", {"days": 366}),
    ("for", {"days": 3_000_000}),
    ("for", {"days": 1e300}),
)
"""Options that cannot be meant."""


@pytest.mark.parametrize("hours_back", [0, 1])
async def test_now(
    garage: Garage, ask: Ask, freezer: FrozenDateTimeFactory, hours_back: int
) -> None:
    """What the service says is so, the opposite is not; nor is that changed by a clock set back."""
    for motion, status, expected in (
        (False, "online", [True, False, False, False, True]),
        (True, "unknown", [False, True, False, True, False]),
    ):
        garage.simulator.report(RED, motion=motion)
        garage.simulator.set_status(RED, status)
        await garage.async_minutes(2)
        freezer.tick(-3600 * hours_back)
        assert [await ask(kind) for kind in CONDITIONS] == expected
        freezer.tick(3600 * hours_back)


async def test_for_at_least(garage: Garage, ask: Ask) -> None:
    """It must have been so for that long, through a restart too."""
    await garage.async_save()
    garage.simulator.report(RED, motion=False)
    garage.simulator.set_status(RED, "offline")
    garage.simulator.report(BLUE, motion=True)
    await garage.async_minutes(1)
    garage.simulator.report(BLUE, motion=False)
    await garage.async_minutes(2)
    await garage.async_restart()
    blue = {"device_id": [garage.device(BLUE)]}
    assert not await ask("is_offline", **MINUTES)
    assert not await ask("is_silent", **MINUTES)
    assert not await ask("is_not_moving", blue, **MINUTES)

    await garage.async_minutes(11)

    assert await ask("is_offline", **MINUTES)
    assert await ask("is_silent", **MINUTES)
    assert await ask("is_not_moving", blue, **MINUTES)
    assert not await ask("is_silent", **LONG)
    assert not await ask("is_silent")


@pytest.mark.parametrize(("missing", "is_over"), [(1, False), (0, True)])
async def test_end_of_the_wait(
    garage: Garage,
    ask: Ask,
    entry: MockConfigEntry,
    freezer: FrozenDateTimeFactory,
    missing: int,
    is_over: bool,
) -> None:
    """A wait of ten minutes is over after ten minutes, and not a microsecond earlier."""
    garage.simulator.set_status(RED, "offline")
    await garage.async_minutes(1)
    flag = entry.runtime_data.coordinator.data.states[RED].online
    time = flag.changed_at + timedelta(minutes=10, microseconds=-missing)
    freezer.move_to(time)
    assert await ask("is_offline", **MINUTES) is is_over


@pytest.mark.parametrize("interruption", ["server", "reload", "sign-in", "unassigned"])
async def test_nothing_is_known(garage: Garage, ask: Ask, interruption: str) -> None:
    """All are false, and none an error; then they are as before."""
    target = {"device_id": [garage.device(RED)]}
    before = [await ask(kind) for kind in CONDITIONS]
    await garage.async_begin(interruption)
    assert not any([await ask(kind, target) for kind in CONDITIONS])
    await garage.async_end(interruption)
    assert [await ask(kind) for kind in CONDITIONS] == before


async def test_any_or_all(hass: HomeAssistant, garage: Garage, ask: Ask) -> None:
    """One is enough, unless all are asked for; of none, not even all are."""
    area = ar.async_get(hass).async_create("Garage")
    target = {"area_id": [area.id]}
    assert not await ask("is_online", target, behavior="any")
    assert not await ask("is_online", target, behavior="all")

    for bike in (RED, BLUE):
        garage.put(bike, area_id=area.id)
    assert await ask("is_online", target, behavior="all")

    garage.simulator.set_status(RED, "offline")
    await garage.async_minutes(1)
    assert await ask("is_online", target)
    assert not await ask("is_online", target, behavior="all")

    garage.simulator.unassign(EMAIL, RED)
    await garage.async_minutes(1)
    assert not await ask("is_online", target, behavior="all")


@pytest.mark.parametrize("kind", CONDITIONS)
async def test_refused(
    hass: HomeAssistant, garage: Garage, ask: Ask, kind: str
) -> None:
    """What cannot be meant is refused, by name."""
    with pytest.raises(vol.Invalid, match="target"):
        await condition.async_validate_condition_config(
            hass, {"condition": f"{DOMAIN}.{kind}"}
        )
    for name, value in (("since", 1), ("behavior", "most"), *DURATIONS):
        with pytest.raises((vol.Invalid, HomeAssistantError), match=name):
            await ask(kind, **{name: value})


async def test_of_what_waited_for_the_account(garage: Garage) -> None:
    """The account that tells an alarm is one that conditions know."""
    # So many that they are set up in portions.
    for number in range(20):
        garage.simulator.add_device(f"{number}", name=f"Bike {number}", email=EMAIL)
    garage.simulator.report(RED, attributes={"alarm": "sos"})
    await garage.async_minutes(1)
    by_trigger, by_entity = (
        garage.automation("alarm_raised", alias=alias)
        | {
            "conditions": {
                "condition": f"{DOMAIN}.is_online",
                "target": {"device_id": garage.device(RED)},
            }
        }
        for alias in ("Trigger", "Entity")
    )
    by_entity["triggers"] = {
        "trigger": "event.received",
        "target": {"entity_id": "event.red_bike_alarm"},
        "options": {"event_type": ["tow"]},
    }
    by_entity["actions"] = {"event": "fired"}
    await garage.async_save(by_trigger, by_entity)
    await garage.async_begin("reload")
    garage.simulator.report(RED, attributes={"alarm": "tow"})
    await garage.async_end("reload")

    assert len(garage.runs) == 2


async def test_on_ride(garage: Garage, ask: Ask) -> None:
    """From the first report that shows movement up to the end of the ride."""
    assert not await ask("is_on_ride")
    go(garage, 600, speed=9.0, motion=True)
    await garage.async_minutes(1)
    assert await ask("is_on_ride")

    await garage.async_begin("server")
    assert not await ask("is_on_ride")
    await garage.async_end("server")
    await garage.async_minutes(35)
    assert not await ask("is_on_ride")
