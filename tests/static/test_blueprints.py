"""The blueprints: Home Assistant can read them and says where they come from."""

from pathlib import Path

from homeassistant.components.automation.config import AUTOMATION_BLUEPRINT_SCHEMA
from homeassistant.components.blueprint.models import Blueprint
from homeassistant.util.yaml import load_yaml_dict
import pytest

from .project import INTEGRATION, ROOT, read_json, under

FOLDER = ROOT / "blueprints" / "automation" / INTEGRATION.name
FILES = under(ROOT / "blueprints", "*")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_blueprint_is_readable(path: Path) -> None:
    """Each file is an automation blueprint that uses all it asks for."""
    assert path.parent == FOLDER
    data = load_yaml_dict(str(path))
    blueprint = Blueprint(
        data,
        expected_domain="automation",
        path=path.name,
        schema=AUTOMATION_BLUEPRINT_SCHEMA,
    )
    assert blueprint.metadata["description"]
    for name in blueprint.inputs:
        assert f"!input {name}\n" in path.read_text(), f"{name} is asked for in vain"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_blueprint_says_where_it_is_from(path: Path) -> None:
    """Home Assistant finds the blueprint again to import it anew."""
    home = read_json(INTEGRATION / "manifest.json")["documentation"]
    blueprint = load_yaml_dict(str(path))["blueprint"]
    assert isinstance(blueprint, dict)
    place = path.relative_to(ROOT).as_posix()
    assert blueprint["source_url"] == f"{home}/blob/main/{place}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_blueprint_needs_no_newer_home_assistant(path: Path) -> None:
    """A blueprint works wherever the integration does."""
    blueprint = load_yaml_dict(str(path))["blueprint"]
    assert isinstance(blueprint, dict)
    least = blueprint.get("homeassistant", {}).get("min_version")
    assert least in {None, read_json(ROOT / "hacs.json")["homeassistant"]}
