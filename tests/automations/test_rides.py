"""Automations on rides: each fired once, whatever comes in between."""

from datetime import datetime, timedelta
from typing import Any

from homeassistant.helpers.translation import async_load_integrations
import pytest

from custom_components.bike_tracker.const import DOMAIN
from tests.conftest import RED

from .garage import Garage

TRIGGERS = ("ride_started", "ride_ended")


def go(garage: Garage, metres: float, **more: Any) -> None:
    """Let the red bike report from so many metres farther north."""
    position = garage.simulator.devices[RED].position
    assert position is not None
    latitude = position.latitude + metres / 111_195
    garage.simulator.report(RED, latitude=latitude, **more)


async def async_prepare(garage: Garage, trigger: str) -> None:
    """Let the bike ride if the end of that is waited for, and seem to have arrived."""
    if trigger == "ride_ended":
        go(garage, 300, speed=9.0, motion=True)
        await garage.async_minutes(1)
        go(garage, 300, speed=0.0, motion=False)
        await garage.async_minutes(1)


def become(garage: Garage, trigger: str) -> None:
    """Let the bike set off, or be seen where it arrived some minutes ago."""
    if trigger == "ride_started":
        go(garage, 300, speed=9.0, motion=True)
    else:
        go(garage, 0)


@pytest.mark.parametrize("trigger", TRIGGERS)
async def test_fires_at_once(garage: Garage, trigger: str) -> None:
    """It is fired with the poll that brings it, and what it is about."""
    await async_prepare(garage, trigger)
    await garage.async_listen(trigger)
    await garage.async_minutes(5)
    assert garage.runs == []

    become(garage, trigger)
    became = garage.now
    await garage.async_minutes(5)

    [run] = garage.runs
    assert run.at - became <= timedelta(minutes=1)
    assert timedelta() <= became - run.since < timedelta(minutes=8)
    about = run.about()
    word = trigger.removeprefix("ride_")
    assert about.pop("description").startswith(
        "Red bike started a ride" if word == "started" else "Red bike ended a ride: 0.6"
    )
    assert about == {
        "device_id": garage.device(RED),
        "entity_id": garage.entity(RED),
        "name": "Red bike",
        "since": run.since,
    }


async def test_what_is_fired_of_a_ride(garage: Garage) -> None:
    """The attributes of the ride are variables of the run."""
    variables = ("started_at", "ended_at", "distance", "duration", "maximum_speed")
    await garage.async_save(
        *(garage.automation(it, alias=it, fired=variables) for it in TRIGGERS)
    )
    for _ in range(2):
        go(garage, 300, speed=9.0, motion=True)
        await garage.async_minutes(1)
    for _ in range(6):
        go(garage, 0, speed=0.0, motion=False)
        await garage.async_minutes(1)

    started, ended = garage.runs
    assert started.variables["ended_at"] is None
    assert float(started.variables["distance"]) == pytest.approx(0.3, abs=0.01)
    assert float(started.variables["maximum_speed"]) == pytest.approx(16.7)
    assert float(ended.variables["distance"]) == pytest.approx(0.6, abs=0.01)
    begin, end = (
        datetime.fromisoformat(ended.variables[name])
        for name in ("started_at", "ended_at")
    )
    duration = float(ended.variables["duration"])
    assert (end - begin).total_seconds() == pytest.approx(duration, abs=1)


@pytest.mark.parametrize(
    ("language", "said"),
    [("de", "Red bike hat eine Fahrt beendet: 0,6 km in "), ("tlh", "Red bike: ride")],
)
async def test_sentence_of_another_language(
    garage: Garage, language: str, said: str
) -> None:
    """A message needs nothing but what a trigger tells, in the language of the house.

    One that is not loaded yet keeps nothing from being told.
    """
    garage.hass.config.language = language
    if language == "de":
        await async_load_integrations(garage.hass, {DOMAIN})
    await async_prepare(garage, "ride_ended")
    await garage.async_listen("ride_ended")
    await garage.async_minutes(5)
    become(garage, "ride_ended")
    await garage.async_minutes(5)

    [run] = garage.runs
    assert run.variables["description"].startswith(said)
