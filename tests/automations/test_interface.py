"""What Home Assistant is offered, and what happens if it does not fit."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
import sys
from typing import Any
from unittest.mock import patch

from homeassistant.config_entries import HANDLERS
from homeassistant.const import Platform
from homeassistant.core import HomeAssistant
from homeassistant.helpers import condition, target, trigger
import pytest
import voluptuous as vol

from custom_components import bike_tracker
from custom_components.bike_tracker import automations
from custom_components.bike_tracker.const import DOMAIN
from tests.conftest import RED, Bikes, async_setup

from .test_condition import CONDITIONS, DURATIONS
from .test_rides import TRIGGERS as ON_RIDES
from .test_trigger import TRIGGERS as ON_TRACKERS, WAITING

# What Home Assistant may take away, and what is offered then.
TAKEN_AWAY: tuple[tuple[Any, str, list[str]], ...] = (
    (trigger, "TriggerActionRunner", ["condition"]),
    (condition, "ConditionCheckParams", ["trigger"]),
    (target, "TargetSelection", []),
)
TRIGGERS = ("alarm_raised", "guard_triggered", *ON_TRACKERS, *ON_RIDES)

_PACKAGE = automations.__name__


def _forget_modules() -> dict[str, Any]:
    names = [
        name
        for name in sys.modules
        if name.startswith(f"{_PACKAGE}.")
        or name.removeprefix(f"custom_components.{DOMAIN}.")
        in {"condition", "responses.targets", "trigger"}
    ]
    return {name: sys.modules.pop(name) for name in names}


@pytest.fixture
def anew() -> Iterator[None]:
    """Import triggers and conditions anew, for this test alone."""
    before = _forget_modules()
    yield
    _forget_modules()
    sys.modules.update(before)


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize(
    ("module", "name", "left"),
    TAKEN_AWAY,
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_name_taken_away(
    bikes: Bikes,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    module: Any,
    name: str,
    left: list[str],
) -> None:
    """One line says so of each, and all else works."""
    monkeypatch.delattr(module, name)

    await async_setup(bikes.hass, bikes.entry)
    offered = {
        "trigger": await _triggers(bikes.hass),
        "condition": await _conditions(bikes.hass),
    }

    assert [kind for kind, names in offered.items() if names] == left
    lines = [
        record
        for record in caplog.records
        if record.levelname in ("WARNING", "ERROR")
        and record.name not in ("homeassistant.loader", "aiohttp_fast_zlib")
    ]
    assert len(lines) == 2 - len(left)
    for line in lines:
        assert name in line.getMessage()
        assert line.exc_info is None
    bikes.simulator.set_status(RED, "offline")
    await bikes.poll()
    assert bikes.value_of(f"{RED}_online", Platform.BINARY_SENSOR) == "off"


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module, name, _left in TAKEN_AWAY],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_start_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any, name: str
) -> None:
    """The integration can be imported, which comes before anything is offered."""
    (tmp_path / "anew").symlink_to(Path(bike_tracker.__file__).parent)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delattr(module, name)

    # Its flow would be the one that signs in from now on.
    with patch.dict(sys.modules), patch.dict(HANDLERS):
        assert callable(import_module("anew").async_setup_entry)


async def _triggers(hass: HomeAssistant) -> set[str]:
    every = await trigger.async_get_all_descriptions(hass)
    return {name for name, what in every.items() if name.startswith(DOMAIN) and what}


async def _conditions(hass: HomeAssistant) -> set[str]:
    every = await condition.async_get_all_descriptions(hass)
    return {name for name, what in every.items() if name.startswith(DOMAIN) and what}


@pytest.mark.usefixtures("setup")
async def test_offered(hass: HomeAssistant) -> None:
    """The editor is told of each, with what it is for and what is to be filled in."""
    assert await _triggers(hass) == {f"{DOMAIN}.{name}" for name in TRIGGERS}
    assert await _conditions(hass) == {
        f"{DOMAIN}.{name}" for name in (*CONDITIONS, "is_guarded", "is_on_ride")
    }
    triggers = await trigger.async_get_all_descriptions(hass)
    for name in TRIGGERS:
        described = triggers[f"{DOMAIN}.{name}"]
        assert described is not None
        assert described["target"] == {
            "entity": [{"integration": DOMAIN, "domain": ["device_tracker"]}]
        }
        asked = {"alarm_raised": ["alarm"]} | {key: ["for"] for key in WAITING}
        assert [*described["fields"]] == asked.get(name, [])


@pytest.mark.parametrize("kind", TRIGGERS)
@pytest.mark.usefixtures("setup")
async def test_refused(hass: HomeAssistant, kind: str) -> None:
    """What cannot be meant is refused, by name."""
    config: dict[str, Any] = {"platform": f"{DOMAIN}.{kind}"}
    with pytest.raises(vol.Invalid, match="target"):
        await trigger.async_validate_trigger_config(hass, [config])
    nobody: list[dict[str, Any]] = [{}, {"device_id": [], "area_id": []}]
    for empty in nobody:
        with pytest.raises(vol.Invalid, match="choose at least one bike"):
            await trigger.async_validate_trigger_config(
                hass, [{**config, "target": empty}]
            )
    config["target"] = {"entity_id": "device_tracker.red_bike"}
    for name, value in (("since", 1), *DURATIONS, ("alarm", []), ("alarm", "theft")):
        with pytest.raises(vol.Invalid, match=name):
            await trigger.async_validate_trigger_config(
                hass, [{**config, "options": {name: value}}]
            )
    [validated] = await trigger.async_validate_trigger_config(hass, [config])
    assert ("for" in validated["options"]) == (kind in WAITING)
