"""The documents: what they link to, tell to type or show to copy exists."""

from collections.abc import Iterator
from pathlib import Path
import re
from urllib.parse import unquote, urlsplit

from homeassistant.util.yaml import parse_yaml
import pytest

from .project import INTEGRATION, ROOT, name_of, project_files, under

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
