"""Adding and changing a night guard."""

from typing import Any

from homeassistant.config_entries import (
    SOURCE_RECONFIGURE,
    SOURCE_USER,
    SubentryFlowContext,
)
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType, InvalidData
from homeassistant.helpers import device_registry as dr
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

TYPE = "night_guard"
DEFAULTS = {
    "name": "Night guard",
    "night_begins": "22:00:00",
    "night_ends": "06:00:00",
    "away_distance": 200,
    "bikes": [],
    "riders": [],
    "others": [],
    "critical": True,
    "follow": True,
}


async def async_submit(
    hass: HomeAssistant, entry: MockConfigEntry, changed: str = "", **typed: Any
) -> tuple[dict[str, Any], Any]:
    """Add a night guard, or change one; return what the form suggests, and the result."""
    subentries = hass.config_entries.subentries
    context = SubentryFlowContext(source=SOURCE_USER)
    if changed:
        context = SubentryFlowContext(source=SOURCE_RECONFIGURE, subentry_id=changed)
    form = await subentries.async_init((entry.entry_id, TYPE), context=context)
    assert form["type"] is FlowResultType.FORM
    assert form["data_schema"]
    chosen = form["data_schema"].schema
    for field, kind in (("others", "notify"), ("riders", "person")):
        assert chosen[field].config["filter"] == [{"domain": [kind]}]
    values = {str(it): (it.description or {}).get("suggested_value") for it in chosen}
    suggested = {key: it for key, it in values.items() if it is not None}
    filled = {key: it for key, it in (suggested | typed).items() if it is not None}
    return suggested, await subentries.async_configure(form["flow_id"], filled)


@pytest.mark.parametrize("is_one_phone", [False, True])
async def test_nothing_to_type(
    hass: HomeAssistant, setup: MockConfigEntry, phones: list[str], is_one_phone: bool
) -> None:
    """Everything has a default, also the phone of a house with one."""
    if is_one_phone:
        dr.async_get(hass).async_remove_device(phones[0])
    suggested, result = await async_submit(hass, setup)
    assert suggested == {**DEFAULTS, "phones": phones[1:] if is_one_phone else []}
    assert result["type"] is FlowResultType.CREATE_ENTRY
    [subentry] = setup.get_subentries_of_type(TYPE)
    assert subentry.title == "Night guard"
    assert subentry.data == suggested


@pytest.mark.parametrize(
    ("begins", "ends", "night"),
    [
        ("23:00:00", None, ("23:00:00", "06:00:00")),
        (None, "05:00:00", ("22:00:00", "05:00:00")),
        (None, None, (None, None)),
    ],
)
async def test_half_a_night(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    begins: str | None,
    ends: str | None,
    night: tuple[str | None, str | None],
) -> None:
    """A night with one end has the other one of the default; without both it is never."""
    await async_submit(hass, setup, night_begins=begins, night_ends=ends)
    [subentry] = setup.get_subentries_of_type(TYPE)
    data = subentry.data
    assert (data.get("night_begins"), data.get("night_ends")) == night


async def test_change(hass: HomeAssistant, setup: MockConfigEntry) -> None:
    """The form shows what is stored, and several night guards live side by side."""
    await async_submit(hass, setup, away_distance=300)
    await async_submit(hass, setup, name="Other")
    first = setup.get_subentries_of_type(TYPE)[0].subentry_id
    changes = {"name": "New", "follow": False}
    shown, result = await async_submit(hass, setup, first, **changes)
    assert (shown["night_begins"], shown["away_distance"]) == ("22:00:00", 300)
    assert result["reason"] == "reconfigure_successful"
    titles = [each.title for each in setup.get_subentries_of_type(TYPE)]
    assert titles == ["New", "Other"]
    assert setup.subentries[first].data["follow"] is False
    # What is no distance is refused.
    with pytest.raises(InvalidData):
        await async_submit(hass, setup, away_distance=1)
