"""Conditions: they follow the values of the service, and are false while the values are unknown."""

from datetime import timedelta

import pytest

from custom_components.bike_tracker.const import DOMAIN
from tests.blueprints.house import stories
from tests.conftest import BLUE, EMAIL, RED

from .garage import Garage

STORIES = """
Conditions match the values of the service, even after the clock was set back.
wait 2, true is_online is_not_moving, clock -60, true is_online is_not_moving

A ride lasts from the first report that shows movement up to its end.
of ride_started, prepare, become, wait 1, true is_online is_moving is_on_ride
begin server, true, end server, wait 35, true is_online is_moving

With a wait, the state must have lasted that long, even through a restart.
of started_moving, become, wait 1, undo
of went_offline, listen, become, wait 2, restart
true for=10, wait 11, true for=10 is_offline is_silent is_not_moving
true for=12960, true is_offline is_not_moving

Nothing is known in an outage, while the account is not loaded or refused, and of a bike that is not listed.
begin server, true, end server, true is_online is_not_moving
begin reload, true, end reload, true is_online is_not_moving
begin sign-in, true, end sign-in, true is_online is_not_moving
begin unassigned, true, end unassigned, true is_online is_not_moving
"""


@pytest.mark.parametrize("story", stories(STORIES, [""]))
async def test_story(garage: Garage, story: str) -> None:
    """At each `true` step of a story, the conditions in that step are true, and all others are false."""
    await garage.async_tell(story)


@pytest.mark.parametrize(("missing", "is_over"), [(1, False), (0, True)])
async def test_end_of_the_wait(garage: Garage, missing: int, is_over: bool) -> None:
    """A condition with a wait of ten minutes is false a microsecond before the end of the wait, and true at the end."""
    await garage.async_tell("of went_offline, become, wait 1")
    coordinator = garage.entry.runtime_data.coordinator
    # Stop polling: a poll that ends between the two questions would change the answers.
    await coordinator.async_shutdown()
    flag, wait = coordinator.data.states[RED].online, {"for": {"minutes": 10}}
    now = flag.changed_at + timedelta(minutes=10, microseconds=-missing)
    garage.bikes.freezer.move_to(now)
    assert await garage.async_ask("is_offline", **wait) is is_over
    # Until the next poll ends, it is not known whether the tracker reported again.
    coordinator.service.asked_at = now
    assert not await garage.async_ask("is_silent", **wait)


async def test_any_or_all(garage: Garage) -> None:
    """By default, a condition is true if it holds for at least one bike in the target.

    With the option *all*, it must hold for all bikes. Without bikes, it is false.
    """

    async def ask(kind: str = "is_online") -> list[bool]:
        every = [{}, {"behavior": "any"}, {"behavior": "all"}]
        return [await garage.async_ask(kind, target, **it) for it in every]

    target = garage.area()
    assert await ask() == [False, False, False]
    garage.area(RED, BLUE)
    assert await ask() == [True, True, True]
    await garage.async_tell("of went_offline, become, wait 1")
    assert await ask() == [True, True, False]
    # The guard is known even during an outage. A triggered guard counts as armed.
    await garage.async_tell("guard")
    assert await ask("is_guarded") == [True, True, False]
    await garage.async_tell("guard blue, of guard_triggered, become, wait 1")
    await garage.async_tell("begin server")
    assert await ask("is_guarded") == [True, True, True]
    assert await ask() == [False, False, False]
    await garage.async_tell("end server, begin unassigned")
    assert await ask() == [True, True, False]


async def test_of_what_waited_for_the_account(garage: Garage) -> None:
    """If the first update of a reloaded account starts an automation, its conditions for this account's bikes work."""
    # With twenty more trackers, the integration notifies entities and triggers in several
    # steps, and automations run between the steps.
    for number in range(20):
        garage.simulator.add_device(f"{number}", name=f"Bike {number}", email=EMAIL)
    garage.simulator.report(RED, attributes={"alarm": "sos"})
    await garage.async_minutes(1)
    target = {"device_id": garage.bikes.device().id}
    condition = {"condition": f"{DOMAIN}.is_online", "target": target}
    by_trigger, by_entity = (
        garage.automation("alarm_raised", alias=alias) | {"conditions": condition}
        for alias in ("Trigger", "Entity")
    )
    by_entity["triggers"] = {
        "trigger": "event.received",
        "target": {"entity_id": "event.red_bike_alarm"},
        "options": {"event_type": ["tow"]},
    }
    await garage.async_save(by_trigger, by_entity)
    await garage.async_tell("begin reload")
    garage.simulator.report(RED, attributes={"alarm": "tow"})
    await garage.async_tell("end reload = 2")
