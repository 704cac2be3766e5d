"""Rules for the integration's Python code, and for the JavaScript of its cards."""

import ast
from collections import defaultdict
import re

from scripts.lib.house import cycle, private_attributes

from .project import INTEGRATION, read_json, syntax_trees, under

# Matches a call that logs a message, unless it is a debug message or begins with a
# placeholder.
UNNAMED_MESSAGE = re.compile(r'LOGGER\.(?!debug)\w+\(\s*+(?!"%s)')
CONSTANT = re.compile(r"^(_?[A-Z][A-Z0-9_]*)(?:: [^=]+)? = (.+)$", re.MULTILINE)


def test_client_is_independent() -> None:
    """The folders `api` and `tracking` import neither Home Assistant nor other folders, except `api`."""
    for path, tree in syntax_trees().items():
        if path.parent.name in ("api", "tracking"):
            code = ast.unparse(tree).replace("from ..api.", "")
            assert "homeassistant" not in code, path.name
            assert "from .." not in code, path.name


def test_log_messages_begin_with_the_account() -> None:
    """Log messages begin with a placeholder for the account, except debug messages and modules that know no account."""
    anonymous = {"messages.py", "trigger.py", "condition.py"}
    unnamed = {
        path.name
        for path in under(INTEGRATION, "*.py")
        if path.parent.name != "automations"
        and UNNAMED_MESSAGE.search(path.read_text())
    }
    assert unnamed == anonymous


def test_constants_have_one_value() -> None:
    """Constants with the same name, with or without an underscore, have the same value in each module. Only loggers and the lists `DESCRIPTIONS` differ."""
    values = defaultdict[str, set[str]](set)
    for tree in syntax_trees().values():
        for name, value in CONSTANT.findall(ast.unparse(tree)):
            values[name.lstrip("_")].add(value)
    assert len(values) > 100
    assert {name for name in values if len(values[name]) > 1} == {
        *("DESCRIPTIONS", "LOGGER")
    }


def test_order() -> None:
    """Imports between folders form no cycle, and the code uses no private attribute of a library.

    If a line that breaks a rule is added to a module, the check finds this line.
    """
    assert [*cycle(syntax_trees()), *private_attributes(syntax_trees())] == []
    for module, line, found in (
        ("api/__init__.py", "from ..polling import live", "polling"),
        ("responses/where.py", "def _(): from ..services import x", "services"),
        ("database/file.py", "store._write_lock.locked()", "_write_lock"),
    ):
        trees = syntax_trees() | {INTEGRATION / module: ast.parse(line)}
        assert found in {*cycle(trees), *private_attributes(trees)}


MODULES = under(INTEGRATION / "frontend", "*.js")
SOURCE = "\n".join(path.read_text() for path in MODULES)
# JavaScript that would show a text as markup, run it as code, or load a file from the
# internet.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|createContextualFragment"
    r"|parseFromString|\beval\b|new Function|https?://|\bfetch\("
)
STYLE = 'fetch(new URL("cards.css", import.meta.url))'
CALL = re.compile(r'\btext\(\s*"(\w+)"')
QUOTED = re.compile(r'"(\w+)"|\b(\w+_card|\w+(?=: \(\))): ')
TEMPLATE = re.compile(r"`(\w*)\$\{[^}]+\}(\w*)`")


def test_texts_are_no_markup() -> None:
    """The cards show all values as text, not as markup, and load nothing from the internet."""
    assert not FORBIDDEN.findall(SOURCE.replace(STYLE, ""))


def test_texts_of_the_cards() -> None:
    """Each text that a card uses exists in en.json, and the cards use each text in its section `config_panel`."""
    english = read_json(INTEGRATION / "translations" / "en.json")
    texts = english["config_panel"].keys()
    assert texts >= set(CALL.findall(SOURCE))
    quoted = {name or key for name, key in QUOTED.findall(SOURCE)}
    built = [
        rf"{start}\w+{end}" for start, end in TEMPLATE.findall(SOURCE) if start + end
    ]
    unused = texts - quoted
    assert not [key for key in unused if not any(re.fullmatch(it, key) for it in built)]
