"""The documents: what they link to, tell to type or show to copy exists."""

from collections.abc import Iterator
from pathlib import Path
import re
from urllib.parse import unquote, urlsplit

from hassil import Intents, parse_sentence, recognize
from hassil.sample import sample_sentence
from homeassistant.util.yaml import parse_yaml
import pytest

from .project import INTEGRATION, ROOT, name_of, project_files, read_json, under
from .texts import flatten

DOCUMENTS = [
    path
    for path in project_files()
    if path.suffix == ".md" and path.parent.name != "__snapshots__"
]
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(
    r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)|(?:src|href|srcset)=\"([^\"]+)\""
)
HEADING = re.compile(r"^#+ +(.+?) *#*$", re.MULTILINE)
COMMAND = re.compile(r"(?<![\w./-])(?:\./)?(scripts/[\w-]+|\.ci/run)(?![\w./])")

QUOTE = re.compile(r"(?<![*\w])\*([^*\n][^*]*?)\*(?![*\w])")
TROUBLESHOOTING = ROOT / "docs" / "troubleshooting.md"
QUOTING = [
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    ROOT / "docs" / "dashboard.md",
    ROOT / "docs" / "how-it-works.md",
    TROUBLESHOOTING,
]
"""Documents in which italics are what a person reads in Home Assistant, word by word."""
OWN_WORDS = {
    # Names of device classes.
    *("Battery", "Charging", "Moving", "Speed", "Lock"),
    # States, in a sentence.
    *("unavailable", "unknown", "Unavailable", "Unknown"),
    # In Repairs, when somebody has to sign in again.
    "Authentication expired",
    # Parts of Home Assistant.
    *("Activity", "Repairs"),
}
"""What Home Assistant says by itself."""
BLUEPRINT_NAME = re.compile(r"^ +name: \"?([^\"\n]+)\"?$", re.MULTILINE)


def prose_of(path: Path) -> str:
    """Return a document without what it shows to copy."""
    return FENCE.sub("", path.read_text())


def anchors_of(path: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a document."""
    titles = [
        re.sub(r"[`*]|\[|\]\(.*?\)", "", x) for x in HEADING.findall(prose_of(path))
    ]
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def targets_of(path: Path) -> Iterator[str]:
    """Yield what a document links to."""
    for markdown, html in LINK.findall(prose_of(path)):
        yield markdown or html


def leads_somewhere(path: Path, target: str) -> bool:
    """Return whether a link leads to a file and heading there is, or to the web."""
    url = urlsplit(target)
    if url.scheme or url.netloc:
        return url.scheme == "https"
    file = (path.parent / unquote(url.path)).resolve() if url.path else path
    if not any(file in (known, *known.parents) for known in project_files()):
        return False
    return not url.fragment or url.fragment in anchors_of(file)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    """A link within the project leads to a file, and to a heading that is in it."""
    broken = [x for x in targets_of(path) if not leads_somewhere(path, x)]
    assert not broken


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_commands_exist(path: Path) -> None:
    """A command of the project that a document names can be run."""
    commands = set(COMMAND.findall(path.read_text()))
    assert not {name for name in commands if ROOT / name not in project_files()}


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_examples_are_yaml(path: Path) -> None:
    """What is shown to be copied as YAML is YAML, each key there once."""
    for _, language, text in FENCE.findall(path.read_text()):
        if language == "yaml":
            assert parse_yaml(text)


def texts_people_read() -> set[str]:
    """Return what the integration and its blueprints say in English, and Home Assistant itself."""
    texts = read_json(INTEGRATION / "translations" / "en.json")
    names = {
        name
        for path in under(ROOT / "blueprints", "*.yaml")
        for name in BLUEPRINT_NAME.findall(path.read_text())
    }
    return {*flatten(texts).values(), *names, *OWN_WORDS}


def is_said(quote: str, texts: set[str]) -> bool:
    """Return whether something says so, whole or up to a full stop or a bracket."""
    return any(
        text == quote or text.startswith((f"{quote}. ", f"{quote} (")) for text in texts
    )


@pytest.mark.parametrize("path", QUOTING, ids=name_of)
def test_quotes_are_what_people_read(path: Path) -> None:
    """What a document quotes is said in these words."""
    texts = texts_people_read()
    quotes = {
        part
        for quote in QUOTE.findall(prose_of(path))
        for part in " ".join(quote.split()).split(" → ")
    }
    assert quotes or path.name != "README.md"
    assert not {quote for quote in quotes if not is_said(quote, texts)}


def test_every_error_of_the_form_is_explained() -> None:
    """Whoever is told why a sign-in failed finds it in Troubleshooting."""
    errors = read_json(INTEGRATION / "translations" / "en.json")["config"]["error"]
    quotes = {
        " ".join(quote.split()) for quote in QUOTE.findall(TROUBLESHOOTING.read_text())
    }
    # These say themselves what to enter, or that nobody knows.
    clear = {"insecure_url", "invalid_email", "invalid_url", "unknown"}
    assert not {
        key
        for key, text in errors.items()
        if key not in clear and not any(text.startswith(quote) for quote in quotes)
    }


def test_links_of_buttons_name_blueprints_that_exist() -> None:
    """Each blueprint has a button that imports it, and no button is in vain."""
    readme = (ROOT / "README.md").read_text()
    addresses = re.findall(r"/blueprint_import/\?blueprint_url=([^)\s]+)", readme)
    imported = {unquote(address).partition("/blob/main/")[2] for address in addresses}
    blueprints = under(ROOT / "blueprints", "*.yaml")
    assert imported == {name_of(path) for path in blueprints}


def parts_of(folder: Path) -> set[str]:
    """Return the names of files and folders in a folder."""
    inside = [path for path in project_files() if path.is_relative_to(folder)]
    parts = {path.relative_to(folder).parts for path in inside}
    return {f"{x[0]}/" if len(x) > 1 else x[0] for x in parts}


def test_contributing_tells_where_things_are() -> None:
    """Whoever looks for a place finds it in CONTRIBUTING.md."""
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    places = parts_of(INTEGRATION)
    places |= {name for name in parts_of(ROOT / "tests") if name.endswith("/")}
    places |= {f"scripts/{name}" for name in parts_of(ROOT / "scripts")}
    assert not {name for name in places if f"`{name}`" not in contributing}


def test_contributing_names_no_place_that_is_gone() -> None:
    """What the tables of CONTRIBUTING.md name is there."""
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    tables = contributing.partition("## Where things are")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.+?) \|", tables, re.MULTILINE)
    named = {name for cell in cells for name in re.findall(r"`(.+?)`", cell)}
    assert named <= parts_of(INTEGRATION) | parts_of(ROOT / "tests")


def test_questions_can_be_asked() -> None:
    """Each sentence that is shown to be copied for Assist is one."""
    document = (ROOT / "docs" / "automations.md").read_text()
    section = document.partition("### Without a language model")[2].partition("\n#")[0]
    lines = re.findall(r"^- \w+: (`.+`)$", section, re.MULTILINE)
    assert len(lines) > 10
    for line in lines:
        for question in re.findall(r"`(.+?)`", line):
            intents = Intents.from_dict(
                {
                    "language": "en",
                    "intents": {"where": {"data": [{"sentences": [question]}]}},
                    "lists": {"bike": {"wildcard": True}},
                }
            )
            asked = question.replace("{bike}", "City bike")
            for text in sample_sentence(parse_sentence(asked)):
                assert recognize(text, intents), text
