"""Documentation, quality scale and blueprints: links, commands, examples and quotations are right."""

from pathlib import Path
import re
from urllib.parse import unquote, urlsplit

from homeassistant.components.automation.config import AUTOMATION_BLUEPRINT_SCHEMA
from homeassistant.components.blueprint.models import Blueprint
from homeassistant.util.yaml import load_yaml_dict, parse_yaml
import pytest

from .project import INTEGRATION, ROOT, name_of, project_files, read_json, under
from .texts import flatten

DOCUMENTS = [
    path
    for path in project_files()
    if path.suffix == ".md" and path.parent.name != "__snapshots__"
]
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)|(?:src|href)=\"([^\"]+)\"")
HEADING = re.compile(r"^#+ +(.+?) *#*$", re.MULTILINE)
COMMAND = re.compile(r"(?<![\w./-])(?:\./)?(scripts/[\w-]+|\.ci/run)(?![\w./])")
QUOTE = re.compile(r"(?<![*\w])\*([^*\n][^*]*?)\*(?![*\w])")
BLUEPRINT_NAME = re.compile(r"^ +name: \"?([^\"\n]+)\"?$", re.MULTILINE)
ENGLISH = read_json(INTEGRATION / "translations" / "en.json")
HOME = read_json(INTEGRATION / "manifest.json")["documentation"]
# Documents in which each text in italics is a text that Home Assistant shows.
QUOTING = (
    *("README.md", "SECURITY.md", "docs/dashboard.md", "docs/how-it-works.md"),
    "docs/troubleshooting.md",
)
HOME_ASSISTANT_SAYS = {
    *("Battery", "Charging", "Moving", "Speed", "Lock"),
    *("unavailable", "unknown", "Unavailable", "Unknown"),
    *("Authentication expired", "Activity", "Repairs"),
}


def prose_of(path: Path) -> str:
    """Return a document without its code examples."""
    return FENCE.sub("", path.read_text())


def anchors_of(path: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a document."""
    titles = [
        re.sub(r"[`*]|\[|\]\(.*?\)", "", x) for x in HEADING.findall(prose_of(path))
    ]
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def leads_somewhere(path: Path, target: str) -> bool:
    """Return whether a link is an HTTPS address, or leads to an existing path and, after a `#`, to an existing heading."""
    url = urlsplit(target)
    if url.scheme or url.netloc:
        return url.scheme == "https"
    file = (path.parent / unquote(url.path)).resolve() if url.path else path
    if not any(file in (known, *known.parents) for known in project_files()):
        return False
    return not url.fragment or url.fragment in anchors_of(file)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_document(path: Path) -> None:
    """Links lead to existing files and headings, commands exist, and examples are valid YAML."""
    links = [markdown or html for markdown, html in LINK.findall(prose_of(path))]
    assert not [link for link in links if not leads_somewhere(path, link)]
    commands = set(COMMAND.findall(path.read_text()))
    assert not {name for name in commands if ROOT / name not in project_files()}
    for _, language, text in FENCE.findall(path.read_text()):
        assert language != "yaml" or parse_yaml(text)


def test_links_on_the_page_for_issues() -> None:
    """Links of the page for a new issue lead to existing files and headings, if they lead to a document."""
    page = load_yaml_dict(str(ROOT / ".github/ISSUE_TEMPLATE/config.yml"))
    for link in page["contact_links"]:
        target = link["url"].removeprefix(HOME).removeprefix("/blob/main/")
        assert target.startswith("/") or leads_somewhere(ROOT / "README.md", target)


def quotes_in(name: str) -> set[str]:
    """Return a document's texts in italics. Split a path such as *Settings → Devices* into its parts."""
    quotes = (" ".join(quote.split()) for quote in QUOTE.findall(prose_of(ROOT / name)))
    return {part for quote in quotes for part in quote.split(" → ")}


@pytest.mark.parametrize("name", QUOTING)
def test_quotes(name: str) -> None:
    """Each text in italics is a text of the integration, a blueprint or Home Assistant.

    A text in italics may be only the beginning of such a text, before a period or a bracket.
    """
    blueprints = "".join(path.read_text() for path in BLUEPRINTS)
    names = BLUEPRINT_NAME.findall(blueprints)
    texts = {*flatten(ENGLISH).values(), *names, *HOME_ASSISTANT_SAYS}
    for quote in quotes_in(name):
        begins = (f"{quote}. ", f"{quote} (")
        assert quote in texts or any(it.startswith(begins) for it in texts), quote


def test_every_error_of_the_form_is_explained() -> None:
    """docs/troubleshooting.md quotes the beginning of each error of the form, except errors that explain themselves."""
    quotes = tuple(quotes_in("docs/troubleshooting.md"))
    clear = {"insecure_url", "invalid_email", "invalid_url", "unknown"}
    errors = ENGLISH["config"]["error"]
    assert not {
        key for key in errors.keys() - clear if not errors[key].startswith(quotes)
    }


RULES = load_yaml_dict(str(INTEGRATION / "quality_scale.yaml"))["rules"]
DONE = [rule for rule, answer in RULES.items() if answer == "done"]
ROW = re.compile(r"^\| ([a-z][a-z-]+) \| (.+) \| (.+) \|$", re.MULTILINE)
SCALE = (ROOT / "docs" / "quality-scale.md").read_text()
ROWS = {rule: row for rule, *row in ROW.findall(SCALE)}


def test_every_rule_is_answered() -> None:
    """Each rule of the quality scale is done, or exempt with a reason. Both files about the scale agree."""
    assert ROWS.keys() == RULES.keys()
    exempt = {rule for rule, row in ROWS.items() if row[0].startswith("exempt: ")}
    assert exempt == RULES.keys() - {*DONE}
    for rule in exempt:
        assert RULES[rule]["status"] == "exempt"
        assert RULES[rule]["comment"].strip()


@pytest.mark.parametrize("rule", DONE)
def test_pointers_lead_somewhere(rule: str) -> None:
    """Each file and test that docs/quality-scale.md names for a rule exists."""
    where, test = ROWS[rule]
    for name in re.findall(r"`([\w./]+)`", where):
        assert (INTEGRATION / name).exists() or (ROOT / name).exists(), name
    pointers = re.findall(r"`([^`]+)`", test)
    assert pointers
    for pointer in pointers:
        path, _, function = pointer.partition("::")
        assert (ROOT / path).exists(), path
        if function:
            assert f"def {function}(" in (ROOT / path).read_text(), function


BLUEPRINTS = {
    path: Blueprint(load_yaml_dict(str(path)), schema=AUTOMATION_BLUEPRINT_SCHEMA)
    for path in under(ROOT / "blueprints", "*.yaml")
}
each_blueprint = pytest.mark.parametrize("path", BLUEPRINTS, ids=name_of)


def test_blueprints_have_a_button() -> None:
    """The README has an import button for each blueprint, and only for blueprints."""
    readme = (ROOT / "README.md").read_text()
    addresses = re.findall(r"/blueprint_import/\?blueprint_url=([^)\s]+)", readme)
    imported = {unquote(address).partition("/blob/main/")[2] for address in addresses}
    assert imported == {*map(name_of, BLUEPRINTS)}


@each_blueprint
def test_blueprint(path: Path) -> None:
    """A blueprint uses all its inputs, and names its source and the needed versions."""
    blueprint = BLUEPRINTS[path]
    used = set(re.findall(r"!input (\w+)", path.read_text()))
    assert used == blueprint.inputs.keys()
    assert blueprint.metadata["source_url"] == f"{HOME}/blob/main/{name_of(path)}"
    oldest = read_json(ROOT / "hacs.json")["homeassistant"]
    assert blueprint.metadata["homeassistant"]["min_version"] == oldest
    needs = f"Needs Bike Tracker 3.0 and Home Assistant {oldest.rpartition('.')[0]}."
    assert blueprint.metadata["description"].endswith(needs)


@each_blueprint
def test_inputs(path: Path) -> None:
    """Users choose bikes in one field. Each field has a name, a description and a default."""
    blueprint = BLUEPRINTS[path]
    of_ours = {"integration": "bike_tracker", "domain": ["device_tracker"]}
    if path.stem == "battery_low":
        # The trigger needs the battery sensor: from another entity of the bike, it would
        # not find the battery.
        of_ours |= {"domain": ["sensor"], "device_class": ["battery"]}
    bikes = blueprint.inputs["bikes"]
    assert bikes["selector"] == {"target": {"entity": [of_ours]}}
    for value in blueprint.inputs.values():
        if number := value["selector"].get("number"):
            assert number["min"] <= value["default"] <= number["max"]
        assert "default" in value
    metadata = blueprint.metadata
    for it in (metadata, *metadata["input"].values(), *blueprint.inputs.values()):
        assert it["name"].strip()
        assert it["description"].strip()
