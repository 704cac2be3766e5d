"""The texts that the code uses, and the values that it fills in."""

import ast
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

from .project import INTEGRATION, syntax_trees

RIGHT_TO_LEFT = "\u2067"
"""Mark at the start of a right-to-left part of a text."""
END = "\u2069"
"""Mark at the end of a part with its own direction."""
# Functions that make messages from keyword arguments: the section of the text, the
# position of the key among the arguments, and the placeholders that the function adds.
_MAKERS: Mapping[str, tuple[str, int, set[str]]] = {
    "async_create_issue": ("issues", 2, {"account"}),
    "validation_error": ("exceptions", 0, set()),
    "service_error": ("exceptions", 0, set()),
    "translated_error": ("exceptions", 0, set()),
}


class Use(NamedTuple):
    """A text that the code uses, with the placeholders that the code fills in."""

    section: str
    key: str
    placeholders: frozenset[str]


def texts_in_use() -> set[Use]:
    """Return the texts of exceptions and of repair issues that the code uses."""
    return {
        use
        for path, tree in syntax_trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for use in _uses(node, path.relative_to(INTEGRATION).with_suffix(""))
    }


def strings_in(name: str) -> set[str]:
    """Return all string constants in a module of the integration."""
    return {
        node.value
        for node in ast.walk(syntax_trees()[INTEGRATION / name])
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def placeholders_in(text: str) -> set[str]:
    """Return the names of the placeholders in a text."""
    return {field for _, field, _, _ in Formatter().parse(text) if field is not None}


def flatten(texts: Mapping[str, Any], path: str = "") -> dict[str, str]:
    """Return each text by its path, such as `config.step.user.title`."""
    flat: dict[str, str] = {}
    for key, value in texts.items():
        here = f"{path}.{key}" if path else key
        flat |= flatten(value, here) if isinstance(value, dict) else {here: value}
    return flat


def _uses(call: ast.Call, module: Path) -> Iterator[Use]:
    arguments = {keyword.arg or "": keyword.value for keyword in call.keywords}
    if isinstance(call.func, ast.Name) and call.func.id in _MAKERS:
        section, position, added = _MAKERS[call.func.id]
        key, names = call.args[position], added | arguments.keys()
    elif {"translation_domain", "translation_key"} <= arguments.keys():
        # Only a dictionary literal shows its placeholders. If a function passes a
        # variable on, count no placeholders here.
        filled = arguments.get("translation_placeholders")
        placeholders = filled.keys if isinstance(filled, ast.Dict) else []
        section, key = "exceptions", arguments["translation_key"]
        names = {ast.literal_eval(it) for it in placeholders if it}
    else:
        return
    for value in _values(key, module):
        yield Use(section, value, frozenset(names))


def _values(expression: ast.expr, module: Path) -> Iterator[str]:
    """Yield the strings that an expression can evaluate to, using the constants of its module."""
    for node in ast.walk(expression):
        value: Any = None
        if isinstance(node, ast.Constant):
            value = node.value
        elif isinstance(node, ast.Name):
            parts = [part for part in module.parts if part != "__init__"]
            name = ".".join(["custom_components", INTEGRATION.name, *parts])
            value = getattr(import_module(name), node.id, None)
        if isinstance(value, dict):
            yield from value.values()
        elif isinstance(value, str):
            yield value
