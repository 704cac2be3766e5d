"""Create mutants of a module. Each is the module's code with one small change."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
import difflib
from functools import cached_property
from pathlib import Path
from typing import override

import libcst as cst
from libcst import metadata
from mutmut.mutation import mutators

_LEFT_OUT = (
    *(cst.Annotation, cst.Decorator, cst.ImportFrom),
    *(cst.TypeAlias, cst.TypeParameters),
)
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef

type Lines = range


@dataclass(frozen=True)
class Mutant:
    """A module with one small change."""

    path: Path
    line: int
    statement: Lines
    """The changed statement's lines: a test that runs none of them cannot notice the change. Empty outside functions."""
    _module: cst.Module
    _old: cst.CSTNode
    _new: cst.CSTNode

    @cached_property
    def source(self) -> str:
        """Return the changed code. Return "" if the code is unchanged or is not valid Python."""
        changed = self._module.deep_replace(self._old, self._new)
        assert isinstance(changed, cst.Module)
        try:
            ast.parse(changed.code)
        except SyntaxError:
            return ""
        return "" if changed.code == self._module.code else changed.code

    def diff(self) -> str:
        """Return the changed lines as a diff."""
        old, new = self._module.code.splitlines(), self.source.splitlines()
        lines = difflib.unified_diff(old, new, lineterm="", n=0)
        return "\n".join(it for it in lines if not it.startswith(("---", "+++", "@@")))


def mutants_of(path: Path, only: Sequence[Lines] | None = None) -> list[Mutant]:
    """Return all mutants of a module, or only the mutants of some lines."""
    source = path.read_text()
    statements = list(_statements(ast.parse(source)))
    wrapper = metadata.MetadataWrapper(cst.parse_module(source))
    positions = wrapper.resolve(metadata.PositionProvider)
    collector = _Collector()
    wrapper.module.visit(collector)
    mutants: list[Mutant] = []
    for old, new in collector.found:
        line = positions[old].start.line
        if only is None or any(line in lines for lines in only):
            around = [lines for lines in statements if line in lines]
            statement = min(around, key=len, default=range(0))
            mutants.append(Mutant(path, line, statement, wrapper.module, old, new))
    return mutants


def functions_of(path: Path) -> list[Lines]:
    """Return the lines of each outermost function or method, and of each statement outside of functions."""
    return [
        range(node.lineno, (node.end_lineno or node.lineno) + 1)
        for parent in ast.walk(ast.parse(path.read_text()))
        if isinstance(parent, ast.Module | ast.ClassDef)
        for node in parent.body
        if not isinstance(node, ast.ClassDef)
    ]


def _statements(tree: ast.Module) -> Iterator[Lines]:
    """Yield the lines of each statement in a function. Of a compound statement, yield the lines of its head."""
    functions = [node for node in ast.walk(tree) if isinstance(node, _FUNCTION)]
    for node in (node for function in functions for node in ast.walk(function)):
        if isinstance(node, ast.stmt) and node not in functions:
            body = getattr(node, "body", None)
            last = body[0].lineno if body else (node.end_lineno or 0) + 1
            yield range(node.lineno, max(last, node.lineno + 1))


class _Collector(cst.CSTVisitor):
    """Collects the nodes of a module that can be mutated, each with its replacement."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[cst.CSTNode, cst.CSTNode]] = []

    @override
    def on_visit(self, node: cst.CSTNode) -> bool:
        # Leave out log messages and texts of several words: they are for people, and no
        # test depends on their words.
        if isinstance(node, _LEFT_OUT) or _is_log(node) or _is_text(node):
            return False
        self.found += [(node, new) for new in (*_of_mutmut(node), *_own(node))]
        return True


def _of_mutmut(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for kind, operator in mutators.mutation_operators:
        # Leave out the removal of arguments: most are optional, so hundreds of these
        # mutants would change nothing.
        if isinstance(node, kind) and operator is not mutators.operator_arg_removal:
            made = list(operator(node))
            # Of the three mutants of a string, use only the first, because tests notice
            # them equally well.
            yield from made[:1] if operator is mutators.operator_string else made


def _own(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield two kinds of mutants that mutmut lacks: a negated condition, and a removed call."""
    match node:
        case cst.If() | cst.While() | cst.CompIf():
            test = node.test.with_changes(
                lpar=[*node.test.lpar, cst.LeftParen()],
                rpar=[*node.test.rpar, cst.RightParen()],
            )
            yield node.with_changes(test=cst.UnaryOperation(cst.Not(), test))
        case cst.Expr(value=cst.Call() | cst.Await() as value) if not _is_log(value):
            yield cst.Pass()


def _is_log(node: cst.CSTNode) -> bool:
    match node:
        case cst.Call(func=cst.Attribute(value=cst.Name(value="LOGGER"))):
            return True
    return False


def _is_text(node: cst.CSTNode) -> bool:
    match node:
        case (
            cst.SimpleString(value=value)
            | cst.Assign(value=cst.SimpleString(value=value))
        ):
            return " " in value
    return False
