"""The blueprints: readable for Home Assistant and for people."""

from pathlib import Path
import re

from homeassistant.components.automation.config import AUTOMATION_BLUEPRINT_SCHEMA
from homeassistant.components.blueprint.models import Blueprint
from homeassistant.util.yaml import load_yaml_dict
import pytest

from scripts.lib.house import jinja

from .project import INTEGRATION, ROOT, name_of, read_json, under

FOLDER = ROOT / "blueprints" / "automation" / INTEGRATION.name
FILES = under(ROOT / "blueprints", "*")
# In all blueprints together: triggers, conditions and actions should do the work.
MAX_LINES_OF_TEMPLATES = 35
MAX_LENGTH = 120


def blueprint_in(path: Path) -> Blueprint:
    """Return a blueprint as Home Assistant reads it."""
    return Blueprint(
        load_yaml_dict(str(path)),
        expected_domain="automation",
        path=path.name,
        schema=AUTOMATION_BLUEPRINT_SCHEMA,
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_blueprint(path: Path) -> None:
    """Home Assistant reads it, it uses its inputs, and it names its source and version."""
    assert path.parent == FOLDER
    text, blueprint = path.read_text(), blueprint_in(path)
    assert blueprint.validate() is None
    unused = [it for it in blueprint.inputs if not re.search(rf"!input {it}\b", text)]
    assert not unused
    metadata = blueprint.metadata
    title = blueprint.name.removeprefix("Bike Tracker: ").rstrip("?")
    assert title.replace(" ", "_") == path.stem
    home = read_json(INTEGRATION / "manifest.json")["documentation"]
    assert metadata["source_url"] == f"{home}/blob/main/{name_of(path)}"
    oldest = read_json(ROOT / "hacs.json")["homeassistant"]
    assert metadata["homeassistant"]["min_version"] == oldest
    needs = f"Needs Bike Tracker 3.0 and Home Assistant {oldest.rpartition('.')[0]}."
    assert metadata["description"].endswith(needs)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_inputs(path: Path) -> None:
    """People choose bikes in one field and nothing else, and read what each field is for."""
    blueprint = blueprint_in(path)
    of_ours = [{"integration": "bike_tracker", "domain": ["device_tracker"]}]
    bikes = blueprint.inputs["bikes"]
    assert bikes["selector"] == {"target": {"entity": of_ours}}
    for value in blueprint.inputs.values():
        if number := value["selector"].get("number"):
            assert number["min"] <= value["default"] <= number["max"]
        assert "default" in value
    metadata = blueprint.metadata
    for explained in (
        metadata,
        *metadata["input"].values(),
        *blueprint.inputs.values(),
    ):
        assert explained["name"].strip()
        assert explained["description"].strip()


def test_blueprints_can_be_read() -> None:
    """They have few lines of templates, and no long ones."""
    lines = jinja()
    assert 0 < len(lines) <= MAX_LINES_OF_TEMPLATES
    assert max(map(len, lines)) <= MAX_LENGTH
