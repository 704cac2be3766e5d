"""The automation editor offers triggers and conditions. If Home Assistant lacks an imported name, the log names it."""

from collections.abc import Iterator
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
from custom_components.bike_tracker.const import DOMAIN
from tests.conftest import RED, Bikes, async_setup

from .garage import CONDITIONS, STEPS, WAITING

WRONG_OPTIONS: tuple[tuple[str, Any], ...] = (
    *(("for", "-00:01:00"), ("for", "a while")),
    *(("for", {"days": it}) for it in (366, 3e6, 1e300)),
    *(("since", 1), ("behavior", "most"), ("alarm", []), ("alarm", "theft")),
)
TARGET = {"entity_id": "device_tracker.red_bike"}


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the test import the integration again. Afterwards, restore the old modules and the config flow."""
    package = bike_tracker.__name__
    monkeypatch.setattr(package, bike_tracker)
    with patch.dict(sys.modules), patch.dict(HANDLERS):
        for name in [it for it in sys.modules if it.startswith(package)]:
            del sys.modules[name]
        yield


async def async_offered(hass: HomeAssistant) -> dict[str, dict[str, Any]]:
    """Return the descriptions of the integration's triggers and conditions in the automation editor, by kind and name."""
    every = {
        "trigger": await trigger.async_get_all_descriptions(hass),
        "condition": await condition.async_get_all_descriptions(hass),
    }
    return {
        kind: {
            name.removeprefix(f"{DOMAIN}."): what
            for name, what in described.items()
            if name.startswith(DOMAIN) and what
        }
        for kind, described in every.items()
    }


# Names that a release of Home Assistant may lack, and what still works without them.
@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize(
    ("module", "name", "left"),
    [
        (trigger, "TriggerActionRunner", ["condition"]),
        (condition, "ConditionCheckParams", ["trigger"]),
        (target, "TargetSelection", []),
    ],
)
async def test_name_taken_away(
    bikes: Bikes,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    module: Any,
    name: str,
    left: list[str],
) -> None:
    """If a name is missing, the log has a line for each kind that needs the name. Everything else works."""
    monkeypatch.delattr(module, name)
    await async_setup(bikes.hass, bikes.entry)
    offered = await async_offered(bikes.hass)
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
    await bikes.async_wait(61)
    assert bikes.value_of(f"{RED}_online", Platform.BINARY_SENSOR) == "off"


async def test_offered(ready: Bikes) -> None:
    """The automation editor offers all triggers and conditions with their target, and triggers with their fields."""
    offered = await async_offered(ready.hass)
    assert offered["condition"].keys() == {*CONDITIONS, "is_guarded"}
    assert offered["trigger"].keys() == STEPS.keys()
    entities = {"entity": [{"integration": DOMAIN, "domain": ["device_tracker"]}]}
    asked = {"alarm_raised": ["alarm"]} | {key: ["for"] for key in WAITING}
    assert all(it["target"] == entities for it in offered["condition"].values())
    for name, described in offered["trigger"].items():
        assert described["target"] == entities
        assert [*described["fields"]] == asked.get(name, [])


async def async_validate(hass: HomeAssistant, kind: str, **config: Any) -> Any:
    """Return the configuration of a trigger or condition with its defaults, or raise vol.Invalid."""
    if kind in STEPS:
        config["platform"] = f"{DOMAIN}.{kind}"
        [config] = await trigger.async_validate_trigger_config(hass, [config])
        return config
    config["condition"] = f"{DOMAIN}.{kind}"
    return await condition.async_validate_condition_config(hass, config)


@pytest.mark.parametrize("kind", [*STEPS, *CONDITIONS, "is_guarded"])
async def test_refused(ready: Bikes, kind: str) -> None:
    """A wrong configuration raises an error that names the field. Only kinds that can wait get a default wait."""
    wrong: list[tuple[str, dict[str, Any]]] = [("target", {})]
    wrong += [
        (name, {"target": TARGET, "options": {name: it}}) for name, it in WRONG_OPTIONS
    ]
    # An empty target is an error for a trigger, but valid for a condition.
    if kind in STEPS:
        empty: list[Any] = [{}, {"device_id": [], "area_id": []}]
        wrong += [("choose at least one bike", {"target": it}) for it in empty]
    for words, config in wrong:
        with pytest.raises(vol.Invalid, match=words):
            await async_validate(ready.hass, kind, **config)
    validated = await async_validate(ready.hass, kind, target=TARGET)
    waits = kind in (*WAITING, "is_offline", "is_silent", "is_not_moving")
    assert ("for" in validated["options"]) == waits
