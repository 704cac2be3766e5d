"""What the night guard tells beside thefts."""

from pathlib import Path
from typing import Any

from homeassistant.core import CoreState, HomeAssistant
from homeassistant.helpers import device_registry as dr, entity_registry as er
from homeassistant.helpers.template import Template
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    MockUser,
    async_mock_service,
)

from tests.blueprints.house import House
from tests.conftest import BLUE, BOB, EMAIL, PASSWORD, RED, MakeEntry
from tests.tools.simulator.server import Simulator
from tests.tools.simulator.world import DEFAULT_LATITUDE

from .test_night import ANN, BEN, BLUE_GUARD, GUARD, async_by_hand, be, parked, steal

__all__ = ["parked"]


def told(house: House) -> list[tuple[str, str]]:
    """Return titles and texts of all messages so far."""
    return [(it["title"], it["message"]) for it in house.notifications]


@pytest.mark.parametrize(
    ("distances", "level", "title"),
    [
        ((1112, 0), "time-sensitive", "Red bike is moving with ann"),
        ((1112, 1112), "critical", "Red bike is being moved"),
        ((0, 0), "critical", "Red bike is being moved"),
    ],
)
async def test_rider(
    hass: HomeAssistant,
    simulator: Simulator,
    parked: House,
    phones: list[str],
    distances: tuple[float, float],
    level: str,
    title: str,
) -> None:
    """A message that one rider moves the bike does not ring on a muted phone."""
    pushes = async_mock_service(hass, "notify", "mobile_app_ben_s_phone")
    await parked.async_night_guard(
        RED, phones=phones[1:], riders=[ANN, BEN], night_begins="12:00:00"
    )
    await parked.async_minutes(2)
    assert parked.state(GUARD) == "armed_away"
    for person, meters in zip((ANN, BEN), distances, strict=True):
        be(hass, person, meters)
    steal(simulator)
    await parked.async_minutes(1)
    [push] = pushes
    assert push.data["title"] == title
    assert push.data["data"]["push"]["interruption-level"] == level


async def test_not_guarded(
    hass: HomeAssistant,
    simulator: Simulator,
    parked: House,
    entity_registry: er.EntityRegistry,
) -> None:
    """One message at nightfall names all bikes with the reason; what lasts is told once."""
    for number in range(50):
        simulator.add_device(f"{number}", name=f"Bike {number:02}", email=EMAIL)
        simulator.report(f"{number}", motion=False)
    simulator.add_device("new", name="New bike", email=EMAIL)
    simulator.override_position("new", "fixTime", None)
    for number in range(25):
        simulator.set_disabled(f"{number}", disabled=True)
    await parked.async_minutes(2)
    entity_registry.async_update_entity(
        BLUE_GUARD, disabled_by=er.RegistryEntryDisabler.USER
    )
    await parked.async_night_guard()
    await parked.async_until(22)
    assert parked.state(GUARD) == "armed_away"
    assert parked.state("alarm_control_panel.bike_49_guard") == "armed_away"
    assert parked.state("alarm_control_panel.bike_00_guard") == "disarmed"
    [(title, text)] = told(parked)
    assert title == "Not guarded tonight"
    lines = text.split("\n")
    assert len(lines) == 27
    assert "Bike 00: disabled" in lines
    assert "Blue bike: disabled" in lines
    assert "New bike: its place is not known" in lines
    await parked.async_until(6)
    await parked.async_until(22)
    assert len(told(parked)) == 1
    simulator.fault("status-503")
    await parked.async_minutes(20)
    [_, (title, text)] = told(parked)
    assert title == "No contact with the tracking service"
    assert text.count("Bike ") == 25


async def test_stolen_at_nightfall(simulator: Simulator, parked: House) -> None:
    """A bike that is on its way with its guard triggered is not guarded tonight."""
    await parked.async_night_guard(RED, night_begins="12:05:00", follow=False)
    await parked.async_guard("red_bike", "arm_away")
    for minute in range(1, 8):
        steal(simulator, latitude=DEFAULT_LATITUDE + 0.01 * minute)
        await parked.async_minutes(1)
    assert told(parked)[-1] == (
        "Not guarded tonight",
        "Red bike: being moved, and not disarmed",
    )


async def test_outage(simulator: Simulator, parked: House) -> None:
    """After 15 minutes one message says that a theft would go unnoticed, and one that it is over."""
    simulator.add_device("new", name="New bike", email=EMAIL, latitude=None)
    await parked.async_night_guard(night_begins="12:05:00")
    await parked.async_minutes(6)
    simulator.fault("status-503")
    await parked.async_minutes(10)
    assert told(parked) == [("Not guarded tonight", "New bike: its place is not known")]
    await parked.async_minutes(30)
    both = "Blue bike, Red bike: guarded"
    assert told(parked)[1:] == [
        (
            "No contact with the tracking service",
            f"{both}, but without contact since 12:07. A theft would go unnoticed.",
        )
    ]
    simulator.fault(None)
    await parked.async_minutes(7)
    assert told(parked)[2:] == [
        ("Contact with the tracking service again", f"{both} as before.")
    ]


async def test_outage_of_a_bike_that_left(simulator: Simulator, parked: House) -> None:
    """A bike that left the account with its guard on is not among those that are told of."""
    await parked.async_night_guard(night_begins="12:05:00")
    await parked.async_minutes(6)
    simulator.unassign(EMAIL, BLUE)
    await parked.async_minutes(1)
    simulator.fault("status-503")
    await parked.async_minutes(20)
    [(_, text)] = told(parked)
    assert text.startswith("Red bike: guarded")


@pytest.mark.parametrize("minutes_before", [1, 0])
async def test_disarmed_by_a_person(
    hass: HomeAssistant,
    hass_admin_user: MockUser,
    simulator: Simulator,
    parked: House,
    minutes_before: int,
) -> None:
    """Nobody is told that a bike is guarded that a person disarmed, before or in an outage."""
    await parked.async_night_guard(RED, night_begins="12:00:00")
    await parked.async_minutes(2)
    if minutes_before:
        await async_by_hand(hass, hass_admin_user, "disarm")
        await parked.async_minutes(minutes_before)
    simulator.fault("status-503")
    await parked.async_minutes(20)
    assert len(told(parked)) == (0 if minutes_before else 1)
    await async_by_hand(hass, hass_admin_user, "disarm")
    simulator.fault(None)
    await parked.async_minutes(7)
    assert parked.state(GUARD) == "disarmed"
    # The message about the outage is taken away.
    assert len(told(parked)) == (0 if minutes_before else 1)
    assert not hass.data["persistent_notification"]


async def test_dusk_in_an_outage(simulator: Simulator, parked: House) -> None:
    """Bikes that should be guarded by now are told about as well, if their place is known."""
    simulator.add_device("new", name="New bike", email=EMAIL, latitude=None)
    await parked.async_minutes(2)
    await parked.async_night_guard(night_begins="13:00:00")
    simulator.fault("status-503")
    await parked.async_minutes(40)
    assert told(parked) == []
    await parked.async_until(13)
    assert parked.state(GUARD) == "disarmed"
    [(title, text)] = told(parked)
    assert title == "No contact with the tracking service"
    assert text.startswith("Blue bike, Red bike: ")


@pytest.mark.parametrize("is_offline", [True, False])
async def test_silent_tracker(
    simulator: Simulator, parked: House, is_offline: bool
) -> None:
    """A guarded bike whose tracker went offline or stopped reporting is told about once."""
    await parked.async_night_guard(RED, night_begins="12:05:00")
    for _ in range(20):
        simulator.report(RED, motion=False)
        await parked.async_minutes(1)
    if is_offline:
        simulator.set_status(RED, "offline")
    await parked.async_minutes(14)
    assert told(parked) == []
    await parked.async_minutes(50 if not is_offline else 2)
    [(title, text)] = told(parked)
    since = "12:22" if is_offline else "12:20"
    kind = "been offline" if is_offline else "not reported"
    assert title == f"Red bike has {kind} since {since}"
    assert (
        text
        == f"Red bike: guarded, but without contact since {since}. A theft would go unnoticed."
    )
    await parked.async_minutes(90)
    assert len(told(parked)) == 1


async def test_silent_tracker_of_another_bike(
    simulator: Simulator, parked: House
) -> None:
    """A night guard sends nothing about a bike that is not its own."""
    await parked.async_night_guard(BLUE, night_begins="12:05:00")
    await parked.async_guard("red_bike")
    simulator.set_status(RED, "offline")
    await parked.async_minutes(20)
    assert told(parked) == []


@pytest.mark.parametrize("minutes", [5, 6])
async def test_silent_trackers(
    simulator: Simulator, parked: House, minutes: int
) -> None:
    """Trackers that fall silent within five minutes are one message; a later one replaces it."""
    await parked.async_night_guard(night_begins="12:02:00")
    for minute in range(12 + minutes):
        for bike in (RED, BLUE) if minute < 12 else (BLUE,):
            simulator.report(bike, motion=False)
        await parked.async_minutes(1)
    await parked.async_minutes(58 - minutes)
    assert told(parked) == []
    await parked.async_minutes(3)
    [(title, text)] = told(parked)
    if minutes == 6:
        assert title == "Red bike has not reported since 12:12"
        await parked.async_minutes(6)
        [_, (title, text)] = told(parked)
    assert title == "Bikes: No contact"
    assert text.splitlines() == [
        f"Blue bike has not reported since 12:{12 + minutes}",
        "Red bike has not reported since 12:12",
        "Blue bike, Red bike: guarded, but without contact since 12:12. A theft would go unnoticed.",
    ]
    parked.notifications.clear()
    simulator.set_status(BLUE, "offline")
    simulator.set_status(RED, "offline")
    await parked.async_guard("red_bike", "disarm")
    await parked.async_guard("red_bike")
    await parked.async_minutes(20)
    [(title, text)] = told(parked)
    assert title == "Bikes: No contact"
    assert text.startswith("Blue bike has been offline since 13:")


@pytest.mark.parametrize("is_loaded", [True, False])
async def test_deleted(
    hass: HomeAssistant, simulator: Simulator, parked: House, is_loaded: bool
) -> None:
    """The message about an outage goes with its night guard, also while nothing is loaded."""
    await parked.async_night_guard(night_begins="12:05:00")
    await parked.async_minutes(6)
    simulator.fault("status-503")
    await parked.async_minutes(20)
    assert len(hass.data["persistent_notification"]) == 1
    [entry] = hass.config_entries.async_entries("bike_tracker")
    [subentry_id] = entry.subentries
    if not is_loaded:
        await hass.config_entries.async_unload(entry.entry_id)
    hass.config_entries.async_remove_subentry(entry, subentry_id)
    if not is_loaded:
        simulator.fault(None)
        await hass.config_entries.async_setup(entry.entry_id)
    await parked.async_minutes(2)
    assert not hass.data["persistent_notification"]
    tags = {it.rpartition("_")[0] for it in parked.gone}
    assert tags == {f"bike_tracker_night_{it}" for it in ("contact", "dusk", "silent")}
    simulator.fault(None)
    await parked.async_minutes(10)
    assert len(told(parked)) == 1


async def test_left_out(parked: House) -> None:
    """A bike that no night guard is for any longer is disarmed; what a person armed stays."""
    await parked.async_night_guard(night_begins="12:00:00")
    await parked.async_minutes(1)
    assert parked.state(BLUE_GUARD) == "armed_away"
    await parked.async_night_guard(RED, night_begins="12:00:00")
    assert parked.state(BLUE_GUARD) == "disarmed"
    assert parked.state(GUARD) == "armed_away"


async def test_disabled_device(
    hass: HomeAssistant, simulator: Simulator, parked: House
) -> None:
    """Of a bike whose device a person disabled nothing is told, and it is not guarded."""
    dr.async_get(hass).async_update_device(
        parked.device(BLUE), disabled_by=dr.DeviceEntryDisabler.USER
    )
    await parked.async_night_guard(night_begins="12:00:00")
    await parked.async_minutes(2)
    assert parked.state(GUARD) == "armed_away"
    steal(simulator)
    simulator.report(BLUE, latitude=DEFAULT_LATITUDE + 0.01, motion=True)
    await parked.async_minutes(2)
    assert [title for title, _ in told(parked)] == ["Red bike is being moved"]


async def test_unrelated(hass: HomeAssistant, parked: House) -> None:
    """Other buttons, other accounts and renamed accounts change nothing."""
    await parked.async_night_guard(RED, night_begins="12:00:00")
    await parked.async_minutes(1)
    other = MockConfigEntry(domain="another")
    other.add_to_hass(hass)
    hass.config_entries.async_update_entry(other, title="New")
    for action in ("OTHER", f"bike_tracker_night_other_{parked.device(RED)}"):
        hass.bus.async_fire("mobile_app_notification_action", {"action": action})
    await parked.async_minutes(1)
    assert parked.state(GUARD) == "armed_away"


async def test_removed_entities(
    simulator: Simulator, parked: House, entity_registry: er.EntityRegistry
) -> None:
    """A bike whose device tracker a person removed is left out."""
    await parked.async_night_guard(night_begins="12:00:00")
    await parked.async_minutes(1)
    entity_registry.async_remove("device_tracker.blue_bike")
    await parked.async_night_guard(night_begins="11:00:00")
    for minute in range(1, 15):
        for bike in (RED, BLUE):
            latitude = DEFAULT_LATITUDE + 0.01 * minute
            simulator.report(bike, latitude=latitude, motion=True)
        await parked.async_minutes(1)
    assert [title for title, _ in told(parked)] == [
        "Red bike is being moved",
        "Red bike is being moved",
    ]


async def test_two_accounts(
    hass: HomeAssistant, simulator: Simulator, parked: House, make_entry: MakeEntry
) -> None:
    """Each account has its night guards; a restart compares once Home Assistant runs."""
    simulator.add_account(BOB, PASSWORD)
    simulator.add_device("bob", name="Green bike", email=BOB)
    await parked.async_night_guard(night_begins="12:00:00")
    other = make_entry(BOB)
    await hass.config_entries.async_setup(other.entry_id)
    await parked.async_minutes(3)
    assert parked.state(GUARD) == "armed_away"
    assert parked.state("alarm_control_panel.green_bike_guard") == "disarmed"
    simulator.report("bob", attributes={"alarm": "sos"})
    await parked.async_minutes(1)
    assert told(parked) == []
    hass.set_state(CoreState.starting)
    await parked.async_night_guard(night_begins="12:01:00")
    hass.set_state(CoreState.running)
    await hass.config_entries.async_unload(other.entry_id)


async def test_guard_again(
    hass: HomeAssistant, simulator: Simulator, parked: House
) -> None:
    """A bike that was only shaken is guarded again at once; people read *Alarm* until then."""

    def shown() -> Any:
        return Template(f"{{{{ state_translated('{GUARD}') }}}}", hass).async_render()

    await parked.async_night_guard(RED, night_begins="12:00:00")
    assert shown() == "Guarded"
    simulator.report(RED, motion=False, attributes={"alarm": "shock"})
    await parked.async_minutes(1)
    assert parked.state(GUARD) == "triggered"
    assert shown() == "Alarm"
    action = f"bike_tracker_night_arm_{parked.device(RED)}"
    hass.bus.async_fire("mobile_app_notification_action", {"action": action})
    await parked.async_minutes(1)
    assert shown() == "Guarded"
    assert parked.gone == [f"bike_tracker_guard_{parked.device(RED)}"]
    steal(simulator)
    await parked.async_minutes(1)
    assert shown() == "Being moved"


@pytest.mark.parametrize("has_folder", [True, False])
async def test_report(
    hass: HomeAssistant,
    simulator: Simulator,
    parked: House,
    tmp_path: Path,
    has_folder: bool,
) -> None:
    """The button writes the report for the police; the answer is its name, or the error."""
    if has_folder:
        hass.config.media_dirs = {"local": str(tmp_path)}
        hass.config.allowlist_external_dirs = {str(tmp_path)}
    await parked.async_night_guard(RED, night_begins="12:00:00")
    steal(simulator)
    await parked.async_minutes(1)
    action = f"bike_tracker_night_report_{parked.device(RED)}"
    hass.bus.async_fire("mobile_app_notification_action", {"action": action})
    await hass.async_block_till_done()
    title, text = told(parked)[-1]
    assert title == "Red bike: Theft report"
    if has_folder:
        [file] = tmp_path.glob("*.html")
        assert text == f"Written to the media folder: {file.name}"
        assert "Red bike" in file.read_text()
    else:
        assert "red_bike-2026-11-20-12" in text
        assert not text.startswith("Written")
