"""icons.json: existing icons for existing entities."""

import os
import re
from typing import Any

import pytest

from .automations import described
from .entities import DESCRIPTIONS, KEYS, STATES
from .project import INTEGRATION, ROOT, read_json

FRONTEND = "lib/python*/site-packages/hass_frontend/static/mdi/iconList.json"
ICONS: dict[str, Any] = read_json(INTEGRATION / "icons.json")


def test_icons_exist() -> None:
    """Home Assistant's frontend, which only the demo installs, has each icon."""
    lists = list((ROOT / ".venv" / "demo").glob(FRONTEND))
    if not lists and "LINT" not in os.environ:
        pytest.skip("No frontend to look icons up in: scripts/lint installs it")
    existing = {f"mdi:{icon['name']}" for file in lists for icon in read_json(file)}
    named = re.findall(r"mdi:[^\"]+", (INTEGRATION / "icons.json").read_text())
    assert not {*named} - existing


@pytest.mark.parametrize("platform", DESCRIPTIONS)
def test_entities(platform: str) -> None:
    """Entities have an icon here or by their device class; icons have an entity and a state."""
    icons, descriptions = ICONS["entity"].get(platform, {}), DESCRIPTIONS[platform]
    without_class = {it.key for it in descriptions if it.device_class is None}
    assert without_class <= icons.keys() <= KEYS[platform]
    for icon in icons.values():
        assert icon.get("state", {}).keys() <= STATES[platform]


def test_triggers_conditions_and_actions() -> None:
    """Each has an icon."""
    for kind in ("triggers", "conditions", "services"):
        assert ICONS[kind].keys() == described(kind).keys()
