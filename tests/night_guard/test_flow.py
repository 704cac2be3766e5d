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


def shown(result: Any) -> dict[str, Any]:
    """Return the values that a form shows."""
    fields = {}
    for key in result["data_schema"].schema:
        fields[str(key)] = (key.description or {}).get("suggested_value")
    return fields


async def async_add(
    hass: HomeAssistant, entry: MockConfigEntry, **typed: Any
) -> tuple[dict[str, Any], Any]:
    """Add a night guard; return what the form suggests, and the result."""
    subentries = hass.config_entries.subentries
    context = SubentryFlowContext(source=SOURCE_USER)
    form = await subentries.async_init((entry.entry_id, TYPE), context=context)
    assert form["type"] is FlowResultType.FORM
    assert form["data_schema"]
    chosen = form["data_schema"].schema
    for field, kind in (("others", "notify"), ("riders", "person")):
        assert chosen[field].config["filter"] == [{"domain": [kind]}]
    suggested = {key: it for key, it in shown(form).items() if it is not None}
    data = {**suggested, **typed}
    data = {key: it for key, it in data.items() if it is not None}
    return suggested, await subentries.async_configure(form["flow_id"], data)


@pytest.mark.parametrize("is_one_phone", [False, True])
async def test_nothing_to_type(
    hass: HomeAssistant, setup: MockConfigEntry, phones: list[str], is_one_phone: bool
) -> None:
    """Everything has a default, also the phone of a house with one."""
    if is_one_phone:
        dr.async_get(hass).async_remove_device(phones[0])
    suggested, result = await async_add(hass, setup)
    assert suggested == {**DEFAULTS, "phones": phones[1:] if is_one_phone else []}
    assert result["type"] is FlowResultType.CREATE_ENTRY
    [subentry] = setup.get_subentries_of_type(TYPE)
    assert subentry.title == "Night guard"
    assert subentry.data == suggested


@pytest.mark.parametrize(
    ("typed", "night"),
    [
        ({"night_begins": "23:00:00", "night_ends": None}, ("23:00:00", "06:00:00")),
        ({"night_begins": None, "night_ends": "05:00:00"}, ("22:00:00", "05:00:00")),
        ({"night_begins": None, "night_ends": None}, (None, None)),
    ],
)
async def test_half_a_night(
    hass: HomeAssistant,
    setup: MockConfigEntry,
    typed: dict[str, Any],
    night: tuple[str | None, str | None],
) -> None:
    """A night with one end has the other one of the default; without both it is never."""
    await async_add(hass, setup, **typed)
    [subentry] = setup.get_subentries_of_type(TYPE)
    data = subentry.data
    assert (data.get("night_begins"), data.get("night_ends")) == night


async def test_change(hass: HomeAssistant, setup: MockConfigEntry) -> None:
    """The form shows what is stored, and several night guards live side by side."""
    await async_add(hass, setup)
    await async_add(hass, setup, name="Other")
    subentries = hass.config_entries.subentries
    first, _ = setup.get_subentries_of_type(TYPE)
    context = SubentryFlowContext(
        source=SOURCE_RECONFIGURE, subentry_id=first.subentry_id
    )
    form = await subentries.async_init((setup.entry_id, TYPE), context=context)
    assert shown(form)["night_begins"] == "22:00:00"
    changed = {**first.data, "name": "New", "follow": False}
    result = await subentries.async_configure(form["flow_id"], changed)
    assert result["reason"] == "reconfigure_successful"
    titles = [each.title for each in setup.get_subentries_of_type(TYPE)]
    assert titles == ["New", "Other"]
    assert setup.subentries[first.subentry_id].data["follow"] is False


async def test_refused(hass: HomeAssistant, setup: MockConfigEntry) -> None:
    """What is no distance is refused."""
    with pytest.raises(InvalidData):
        await async_add(hass, setup, away_distance=1)
