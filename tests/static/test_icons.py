"""icons.json: icons that exist, for entities that exist."""

import os
import re
from typing import Any

import pytest
import voluptuous as vol

from .automations import described
from .entities import DESCRIPTIONS, KEYS, STATES
from .project import INTEGRATION, ROOT, read_json

FRONTEND = "lib/python*/site-packages/hass_frontend/static/mdi/iconList.json"
ICON = vol.Match(r"mdi:[a-z0-9-]+\Z")
SCHEMA = vol.Schema(
    {
        vol.Required("entity"): {
            str: {
                str: {
                    vol.Required("default"): ICON,
                    vol.Optional("state"): {str: ICON},
                    vol.Optional("range"): {vol.Coerce(float): ICON},
                }
            }
        },
        vol.Required("conditions"): {str: {vol.Required("condition"): ICON}},
        vol.Required("services"): {str: {vol.Required("service"): ICON}},
        vol.Required("triggers"): {str: {vol.Required("trigger"): ICON}},
    }
)


@pytest.fixture(name="icons", scope="module")
def icons_fixture() -> dict[str, Any]:
    """Return the icons of the entities, by platform."""
    icons: dict[str, Any] = SCHEMA(read_json(INTEGRATION / "icons.json"))["entity"]
    return icons


def test_icons_exist() -> None:
    """Each is one of those that Home Assistant's frontend brings, which the demo has."""
    lists = list((ROOT / ".venv" / "demo").glob(FRONTEND))
    if not lists and "LINT" not in os.environ:
        pytest.skip("No frontend to look icons up in: scripts/lint gets it")
    existing = {f"mdi:{icon['name']}" for file in lists for icon in read_json(file)}
    named = re.findall(r"mdi:[^\"]+", (INTEGRATION / "icons.json").read_text())
    assert named
    assert not {*named} - existing


def test_icons_are_of_entities_that_exist(icons: dict[str, Any]) -> None:
    """Each icon is for the translation key of an entity."""
    for platform, entities in icons.items():
        assert entities.keys() <= KEYS[platform]


def test_entities_have_an_icon(icons: dict[str, Any]) -> None:
    """An entity gets its icon here, unless its device class brings one."""
    for platform, descriptions in DESCRIPTIONS.items():
        for description in descriptions:
            if description.device_class is None:
                assert description.key in icons[platform]


def test_icons_are_of_states_that_exist(icons: dict[str, Any]) -> None:
    """Each icon of a state is for a state the entity can have."""
    for platform, entities in icons.items():
        for icon in entities.values():
            assert icon.get("state", {}).keys() <= STATES[platform]


@pytest.mark.parametrize("kind", ["triggers", "conditions", "services"])
def test_triggers_conditions_and_actions_have_an_icon(kind: str) -> None:
    """Each has one, and there is none besides."""
    assert read_json(INTEGRATION / "icons.json")[kind].keys() == described(kind).keys()
