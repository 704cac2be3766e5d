"""What the code says of texts: which it uses, and what it fills into them."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from string import Formatter
from types import ModuleType
from typing import Any

from .project import INTEGRATION, syntax_trees

RIGHT_TO_LEFT = "\u2067"
"""What follows runs from right to left, wherever it stands."""
END = "\u2069"
"""It ends here."""


@dataclass(frozen=True)
class Use:
    """A text the code uses."""

    section: str
    """`exceptions` or `issues`."""
    key: str
    placeholders: frozenset[str]
    """What the code fills in."""


def texts_in_use() -> set[Use]:
    """Return the texts of exceptions and issues that the code uses."""
    return {
        use
        for path, tree in syntax_trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for use in _uses(node, path.relative_to(INTEGRATION).with_suffix(""))
    }


def strings_in(name: str) -> set[str]:
    """Return all strings that stand in a module of the integration."""
    tree = syntax_trees()[INTEGRATION / name]
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def placeholders_in(text: str) -> set[str]:
    """Return what is to be filled into a text."""
    return {field for _, field, _, _ in Formatter().parse(text) if field is not None}


def flatten(texts: Mapping[str, Any], path: str = "") -> dict[str, str]:
    """Return each text by its path, as `config.step.user.title`."""
    flat: dict[str, str] = {}
    for key, value in texts.items():
        here = f"{path}.{key}" if path else key
        flat |= flatten(value, here) if isinstance(value, dict) else {here: value}
    return flat


def _module(path: Path) -> ModuleType:
    parts = [part for part in path.parts if part != "__init__"]
    return import_module(".".join(["custom_components", INTEGRATION.name, *parts]))


def _uses(call: ast.Call, module: Path) -> Iterator[Use]:
    arguments = {keyword.arg: keyword.value for keyword in call.keywords}
    # The integration's own function, which names the account in each of them; `report`
    # is that one or its opposite.
    creators = {"async_create_issue", "report"}
    if isinstance(call.func, ast.Name) and call.func.id in creators:
        placeholders = frozenset(name for name in arguments if name is not None)
        for key in _values(call.args[2], module):
            yield Use("issues", key, placeholders | {"account"})
        return
    makers = {"validation_error", "service_error", "database_error"}
    if isinstance(call.func, ast.Name) and call.func.id in makers:
        placeholders = frozenset(name for name in arguments if name is not None)
        for key in _values(call.args[0], module):
            yield Use("exceptions", key, placeholders)
        return
    filled = arguments.get("translation_placeholders", ast.Dict([], []))
    # What the makers themselves fill in stands where they are used.
    if "translation_key" not in arguments or isinstance(filled, ast.Name):
        return
    if isinstance(call.func, ast.Attribute) and "issue" in call.func.attr:
        section = "issues"
    elif "translation_domain" in arguments:
        section = "exceptions"
    else:
        return
    if not isinstance(filled, ast.Dict):
        raise TypeError(f"placeholders are not written out: {ast.unparse(call)}")
    keys = [key for key in filled.keys if key is not None]
    placeholders = frozenset(value for key in keys for value in _values(key, module))
    for key in _values(arguments["translation_key"], module):
        yield Use(section, key, placeholders)


def _values(expression: ast.expr, module: Path) -> Iterator[str]:
    """Yield the strings an expression can be, as far as the module says.

    Only one that is asked is loaded: older releases cannot load each.
    """
    for node in ast.walk(expression):
        value: Any = None
        if isinstance(node, ast.Constant):
            value = node.value
        elif isinstance(node, ast.Name):
            value = getattr(_module(module), node.id, None)
        if isinstance(value, dict):
            yield from value.values()
        elif isinstance(value, str):
            yield value
