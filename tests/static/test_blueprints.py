"""The blueprints: Home Assistant can read them and says where they come from."""

from pathlib import Path
import re

from homeassistant.components.automation.config import AUTOMATION_BLUEPRINT_SCHEMA
from homeassistant.components.blueprint.models import Blueprint
from homeassistant.util.yaml import load_yaml_dict
import pytest
import yaml

from .project import INTEGRATION, ROOT, read_json, under

FOLDER = ROOT / "blueprints" / "automation" / INTEGRATION.name
FILES = under(ROOT / "blueprints", "*")
# In all of them together: the triggers, conditions and actions are there to be used.
MAX_LINES_OF_TEMPLATES = 35
MAX_LENGTH = 120


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
        is_used = re.search(rf"!input {name}\b", path.read_text())
        assert is_used, f"{name} is asked for in vain"


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


def test_blueprints_can_be_read() -> None:
    """There are few lines of templates in them, and none is long."""
    count = 0
    for path in FILES:
        text = path.read_text()
        lines, written = lines_of_templates(text), text.splitlines()
        count += len(lines)
        assert all(len(written[line]) <= MAX_LENGTH for line in lines), path.name
    assert 0 < count <= MAX_LINES_OF_TEMPLATES


def lines_of_templates(text: str) -> set[int]:
    """Return the numbers of all lines that hold a template, or a part of one."""
    written = text.splitlines()
    return {
        number
        for token in yaml.scan(text)
        if isinstance(token, yaml.ScalarToken) and re.search("{{|{%", token.value)
        for number in range(token.start_mark.line, token.end_mark.line + 1)
        if _is_within(token, number) and written[number].strip()
    }


def _is_within(token: yaml.ScalarToken, number: int) -> bool:
    """Return whether a line is one of the text's own; a block has a line above, and ends below."""
    is_block = token.style in {">", "|"}
    return not is_block or token.start_mark.line < number < token.end_mark.line


def test_every_line_of_a_template_counts() -> None:
    """A template counts with all its lines, several in one line count once."""
    text = """
one: {a: "{{ 1 }}", b: "{{ 2 }}"}
none: text
three: >-
  {% set a = 1 %}

  {{ a
    + 1 }}
two: "{{ 1
  + 1 }}"
"""
    assert len(lines_of_templates(text)) == 6
