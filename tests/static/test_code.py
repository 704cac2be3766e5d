"""Rules for Python code without Home Assistant, and for JavaScript that shows texts."""

import ast
from collections import defaultdict
from collections.abc import Iterator
import re
from typing import Any

import pytest

from scripts.lib.house import cycle, private_attributes

from .project import INTEGRATION, read_json, syntax_trees, under


def lines_in(tree: ast.Module) -> Iterator[str]:
    """Yield the log messages of a module, except debug messages."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and ast.unparse(node.func.value) == "LOGGER"
            and node.func.attr != "debug"
        ):
            line, *_ = node.args
            assert isinstance(line, ast.Constant)
            yield str(line.value)


def test_client_is_independent() -> None:
    """The folders `api` and `tracking` import neither Home Assistant nor other folders, except `api`."""
    for path, tree in syntax_trees().items():
        if path.parent.name in ("api", "tracking"):
            code = ast.unparse(tree).replace("from ..api.", "")
            assert "homeassistant" not in code, path.name
            assert "from .." not in code, path.name


def test_log_messages_begin_with_the_account() -> None:
    """Log messages begin with a placeholder for the account, except in modules that belong to no account."""
    anonymous = {"messages", "trigger", "condition"}
    lines = {
        line
        for path, tree in syntax_trees().items()
        if path.parent.name != "automations" and path.stem not in anonymous
        for line in lines_in(tree)
    }
    assert {line for line in lines if not line.startswith("%s")} == set()


def constants_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names and values of the constants of a module."""
    for node in tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if re.fullmatch("_?[A-Z][A-Z0-9_]*", name):
                yield name, ast.unparse(value)


def test_constants_have_one_value() -> None:
    """If two modules define the same constant, the value is the same. Only lists of entities may differ."""
    values = defaultdict[str, set[str]](set)
    for tree in syntax_trees().values():
        for name, value in constants_in(tree):
            values[name].add(value)
    assert len(values) > 100
    assert {name for name in values if len(values[name]) > 1} == {"DESCRIPTIONS"}


def test_no_import_runs_back() -> None:
    """Imports between folders form no cycle. Imports inside functions count, too."""
    assert cycle(syntax_trees()) == []


def test_no_private_attribute_of_a_library() -> None:
    """Private attributes of other packages are not used: they may change without notice."""
    assert private_attributes(syntax_trees()) == set()


@pytest.mark.parametrize(
    ("module", "line", "found"),
    [
        ("api/client.py", "from ..polling import live", "polling"),
        ("responses/where.py", "def _(): from ..services import x", "services"),
        ("database/file.py", "store._write_lock.locked()", "_write_lock"),
    ],
)
def test_order_is_noticed(module: str, line: str, found: str) -> None:
    """If a line adds a cycle of imports or a private attribute, the checks notice it (defects 42 and 43)."""
    trees = syntax_trees() | {INTEGRATION / module: ast.parse(line)}
    assert found in {*cycle(trees), *private_attributes(trees)}


MODULES = under(INTEGRATION / "frontend", "*.js")
SOURCE = "\n".join(path.read_text() for path in MODULES)
TEXTS: dict[str, Any] = read_json(INTEGRATION / "translations" / "en.json")

# JavaScript that would show a text as markup, run it as code, or load a file from the
# internet.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|createContextualFragment"
    r"|parseFromString|\beval\b|new Function|https?://|\bfetch\("
)
STYLE = 'fetch(new URL("cards.css", import.meta.url))'
CALL = re.compile(r'\btext\(\s*"(\w+)"')
QUOTED = re.compile(r'"(\w+)"')
TEMPLATE = re.compile(r"`(\w*)\$\{[^}]+\}(\w*)`")
IMPORT = re.compile(r'(?:from|import) "([^"]+)"')


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_texts_are_no_markup(path: Any) -> None:
    """The cards show all values as text, not as markup, and load nothing from the internet."""
    text = path.read_text().replace(STYLE, "")
    assert not FORBIDDEN.findall(text)


def test_modules_import_their_neighbors_alone() -> None:
    """The modules of the cards import only each other. Each module except the main module is imported."""
    imported = set(IMPORT.findall(SOURCE))
    names = {f"./{path.name}" for path in MODULES}
    assert imported == names - {"./bike-tracker.js"}


def test_texts_are_those_the_cards_use() -> None:
    """Each text that a card uses exists, and every text is used."""
    texts = TEXTS["config_panel"].keys()
    assert texts >= set(CALL.findall(SOURCE))
    built = [
        rf"{start}\w+{end}" for start, end in TEMPLATE.findall(SOURCE) if start + end
    ]
    used = set(QUOTED.findall(SOURCE)) | set(
        re.findall(r"\b(\w+_card|\w+(?=: \(\))): ", SOURCE)
    )
    unused = texts - used
    assert not [key for key in unused if not any(re.fullmatch(it, key) for it in built)]
