"""Find the texts that the code uses, and the placeholders that it fills in."""

import ast
from collections.abc import Iterator, Mapping
from importlib import import_module
from string import Formatter
from typing import Any

from .project import ROOT, syntax_trees

RIGHT_TO_LEFT = "\u2067"
"""Mark at the start of a part of a text that is read from right to left."""
END = "\u2069"
"""Mark at the end of a part of a text that has its own direction."""
# Functions that make messages from keyword arguments: the section of the text, the
# position of the key among the arguments, and the placeholders that the function adds.
_MAKERS: Mapping[str, tuple[str, int, set[str]]] = {
    "async_create_issue": ("issues", 2, {"account"}),
    "validation_error": ("exceptions", 0, set()),
    "service_error": ("exceptions", 0, set()),
    "translated_error": ("exceptions", 0, set()),
}


def texts_in_use() -> Iterator[tuple[str, str, set[str]]]:
    """Yield each use of an error or repair issue: its section, its key, and the placeholders that the code fills in."""
    for path, tree in syntax_trees().items():
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (use := _use(node)):
                section, expression, placeholders = use
                for key in _values(expression, module.removesuffix(".__init__")):
                    yield section, key, placeholders


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


def _use(call: ast.Call) -> tuple[str, ast.expr, set[str]] | None:
    arguments = {keyword.arg or "": keyword.value for keyword in call.keywords}
    if isinstance(call.func, ast.Name) and call.func.id in _MAKERS:
        section, position, added = _MAKERS[call.func.id]
        return section, call.args[position], added | arguments.keys()
    if {"translation_domain", "translation_key"} <= arguments.keys():
        # Only a dictionary literal shows its placeholders. For a variable, return no
        # placeholders.
        filled = arguments.get("translation_placeholders")
        names = filled.keys if isinstance(filled, ast.Dict) else []
        placeholders = {ast.literal_eval(name) for name in names if name}
        return "exceptions", arguments["translation_key"], placeholders
    return None


def _values(expression: ast.expr, module: str) -> Iterator[str]:
    """Yield the strings that an expression can evaluate to, using the constants of its module."""
    for node in ast.walk(expression):
        value: Any = node.value if isinstance(node, ast.Constant) else None
        if isinstance(node, ast.Name):
            value = getattr(import_module(module), node.id, None)
        if isinstance(value, dict):
            yield from value.values()
        elif isinstance(value, str):
            yield value
