"""Make mutants of a module: the same code with one small change in each."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
import difflib
from functools import cached_property
from pathlib import Path
from typing import override

import libcst as cst
from libcst import metadata
from mutmut.mutation import mutators

_MUTMUTS = [
    (kind, operator)
    for kind, operator in mutators.mutation_operators
    # Most arguments are optional: dropping them makes hundreds of mutants that change nothing.
    if operator is not mutators.operator_arg_removal
]
_PER_STRING = 1
"""mutmut makes three mutants of a string; its upper case proves nothing more."""

type Lines = range


@dataclass(frozen=True)
class Mutant:
    """A module with one small change."""

    path: Path
    line: int
    statement: Lines
    """The lines that a test must run to notice the change; empty if any test may."""
    _module: cst.Module
    _old: cst.CSTNode
    _new: cst.CSTNode

    @cached_property
    def source(self) -> str:
        """Return the changed code, or "" where the change is none or no Python."""
        changed = self._module.deep_replace(self._old, self._new)
        assert isinstance(changed, cst.Module)
        try:
            ast.parse(changed.code)
        except SyntaxError:
            return ""
        return "" if changed.code == self._module.code else changed.code

    def diff(self) -> str:
        """Return the changed lines as a diff."""
        before = self._module.code.splitlines()
        changes = difflib.unified_diff(
            before, self.source.splitlines(), lineterm="", n=0
        )
        lines = [line for line in changes if not line.startswith(("---", "+++", "@@"))]
        return "\n".join(lines)


def mutants_of(path: Path, only: Sequence[Lines] | None = None) -> list[Mutant]:
    """Return all mutants of a module, or those of some lines alone."""
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
    """Return the lines of each function of a module, and of what stands outside of them."""
    tree = ast.parse(path.read_text())
    functions = [
        _lines(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    outside = [
        _lines(node)
        for parent in ast.walk(tree)
        if isinstance(parent, ast.Module | ast.ClassDef)
        for node in parent.body
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    return functions + outside


def _lines(node: ast.stmt) -> Lines:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _statements(tree: ast.Module) -> Iterator[Lines]:
    """Yield the lines of each statement in a function; of a compound one, its head."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.stmt) and node is not function:
                    body = getattr(node, "body", None)
                    last = body[0].lineno if body else (node.end_lineno or 0) + 1
                    yield range(node.lineno, max(last, node.lineno + 1))


class _Collector(cst.CSTVisitor):
    """Collects pairs of a part and what a mutant has in its place."""

    _LEFT_OUT = (
        cst.Annotation,
        cst.Decorator,
        cst.ImportFrom,
        cst.TypeAlias,
        cst.TypeParameters,
    )

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[cst.CSTNode, cst.CSTNode]] = []

    @override
    def on_visit(self, node: cst.CSTNode) -> bool:
        # The words of logs and errors are for people: no test pins them.
        if isinstance(node, self._LEFT_OUT) or _is_log(node) or _is_text(node):
            return False
        self.found += [(node, new) for new in (*_of_mutmut(node), *_own(node))]
        return True


def _of_mutmut(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    for kind, operator in _MUTMUTS:
        if isinstance(node, kind):
            made: Iterable[cst.CSTNode] = operator(node)
            for number, new in enumerate(made):
                if operator is not mutators.operator_string or number < _PER_STRING:
                    yield new


def _own(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield what mutmut lacks: a condition that is turned round, a call left out."""
    match node:
        case cst.If() | cst.While() | cst.CompIf():
            test = node.test.with_changes(
                lpar=[*node.test.lpar, cst.LeftParen()],
                rpar=[*node.test.rpar, cst.RightParen()],
            )
            yield node.with_changes(test=cst.UnaryOperation(cst.Not(), test))
        case cst.Expr(value=cst.Call() as call) if not _is_log(call):
            yield cst.Pass()
        case cst.Expr(value=cst.Await()):
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
