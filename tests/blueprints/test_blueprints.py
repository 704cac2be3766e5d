"""Tests of what all blueprints have in common."""

import json
from pathlib import Path
from typing import Any

from homeassistant.components.automation.helpers import async_get_blueprints
from homeassistant.components.blueprint.models import Blueprint
from homeassistant.core import HomeAssistant
import pytest

from .conftest import BLUEPRINTS
from .house import House

ROOT = BLUEPRINTS.parent
NAMES = sorted(path.stem for path in BLUEPRINTS.rglob("*.yaml"))


@pytest.fixture(params=NAMES)
async def blueprint(request: pytest.FixtureRequest, hass: HomeAssistant) -> Blueprint:
    """Return each blueprint as Home Assistant reads it."""
    path = f"bike_tracker/{request.param}.yaml"
    blueprint = await async_get_blueprints(hass).async_get_blueprint(path)
    assert isinstance(blueprint, Blueprint)
    return blueprint


def inputs_of(blueprint: Blueprint) -> dict[str, Any]:
    """Return the inputs, those in sections too."""
    return dict(blueprint.inputs)


def test_all_are_there() -> None:
    """There is a blueprint for each thing people ask for."""
    assert [
        *("a_ride_has_ended", "alarm", "battery_low", "bike_moved"),
        *("keep_each_ride", "service_due", "tracker_offline", "where_is_my_bike"),
    ] == NAMES


def test_which_bikes(blueprint: Blueprint) -> None:
    """People choose bikes, areas or labels in one field, and need to choose nothing else."""
    inputs = inputs_of(blueprint)
    assert all("default" in value for value in inputs.values())
    of_ours = [{"integration": "bike_tracker", "domain": ["device_tracker"]}]
    assert inputs["bikes"]["selector"] == {"target": {"entity": of_ours}}


@pytest.mark.parametrize("name", sorted({*NAMES} - {"where_is_my_bike"}))
async def test_nothing_chosen(
    house: House, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """An automation that watches nothing says so; one that answers says it then."""
    with pytest.raises(AssertionError):
        await house.async_automate(name)
    assert "choose at least one bike" in caplog.text


def test_everything_is_explained(blueprint: Blueprint) -> None:
    """The blueprint and each input have a name and a description."""
    metadata = blueprint.metadata
    texts = [metadata, *metadata["input"].values(), *inputs_of(blueprint).values()]
    for text in texts:
        assert text["name"].strip()
        assert text["description"].strip()


def test_default_is_in_range(blueprint: Blueprint) -> None:
    """A number may be what it is without being chosen."""
    for value in inputs_of(blueprint).values():
        if number := value["selector"].get("number"):
            assert number["min"] <= value["default"] <= number["max"]


def test_source(blueprint: Blueprint) -> None:
    """Each blueprint says where it comes from, so that it can be imported again."""
    manifest = ROOT / "custom_components/bike_tracker/manifest.json"
    repository = json.loads(manifest.read_text())["documentation"]
    path = Path("blueprints/automation/bike_tracker", f"{blueprint_name(blueprint)}")
    assert blueprint.metadata["source_url"] == f"{repository}/blob/main/{path}.yaml"


def test_oldest_home_assistant(blueprint: Blueprint) -> None:
    """The blueprints need the Home Assistant that the integration needs."""
    oldest = json.loads((ROOT / "hacs.json").read_text())["homeassistant"]
    assert blueprint.metadata["homeassistant"]["min_version"] == oldest
    needs = f"Needs Bike Tracker 3.0 and Home Assistant {oldest.rpartition('.')[0]}."
    assert blueprint.metadata["description"].endswith(needs)
    assert blueprint.validate() is None


def blueprint_name(blueprint: Blueprint) -> str:
    """Return the name of the file, as the title of the blueprint implies it."""
    return blueprint.name.removeprefix("Bike Tracker: ").rstrip("?").replace(" ", "_")
