"""Print the goals for the size and order of the code, and the current values: house.py [--polls].

With --polls, also run polls in a test instance of Home Assistant. For each poll, count the
files whose functions run, the calls into another file, and the reads of an entity.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
import re
import subprocess
import sys
from typing import Final

ROOT: Final = Path(__file__).parents[2]
INTEGRATION: Final = ROOT / "custom_components" / "bike_tracker"
TESTS: Final = ROOT / "tests"
CHANGING: Final = {
    *("add", "append", "clear", "discard", "extend", "insert"),
    *("pop", "popleft", "remove", "setdefault", "update"),
}
PUBLIC: Final = {"_asdict", "_field_defaults", "_fields", "_make", "_replace"}
"""Methods and attributes of named tuples. They are public, although their names begin with an underscore."""
JINJA: Final = re.compile(r"\{[{%].*?[%}]\}", re.DOTALL)
COUNTED: Final = {
    "files of a changed poll": 22,
    "changes of file of a changed poll": 150,
    "reads of an entity in a changed poll": 1,
    "files of an idle poll": 14,
}
PURPOSES: Final = {
    "simulator": ("tools/simulator", 3_000),
    "demo": ("tools/demo", 1_500),
    "measuring": ("tools", 4_000),
    "browser": ("e2e", 4_000),
    "proper": ("", 17_000),
}
"""For each purpose of test code, how the paths of its files begin, and the maximum number of lines.

A file belongs to the first purpose in the table that fits its path.
"""

type Trees = Mapping[Path, ast.Module]
type Goal = tuple[str, float, float]


def modules(folder: Path) -> Trees:
    """Return the parsed modules in a folder."""
    return {path: ast.parse(path.read_text()) for path in sorted(folder.rglob("*.py"))}


def lines(path: Path) -> int:
    """Return the number of lines of a file."""
    return path.read_bytes().count(b"\n")


def nodes[Node: ast.AST](trees: Trees, *kinds: type[Node]) -> list[Node]:
    """Return all nodes of the given kinds in these modules."""
    return [
        node
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, kinds)
    ]


def changing_attributes(kind: ast.ClassDef) -> set[str]:
    """Return the attributes of `self` that a class changes outside of `__init__`."""
    return {
        name
        for function in kind.body
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        and function.name not in {"__init__", "__post_init__"}
        for node in ast.walk(function)
        for name in _changed(node)
    }


def _changed(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            for target in targets:
                yield from _own(target)
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            yield from _own(target)
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in CHANGING:
            yield from _own(value)


def _own(target: ast.expr) -> Iterator[str]:
    """Yield each attribute of `self` that changes if this expression is changed, such as `x` for `self.x[0]`."""
    match target:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            yield name
        case ast.Subscript(value=value):
            yield from _own(value)
        case ast.Tuple(elts=targets):
            for element in targets:
                yield from _own(element)


def private_attributes(trees: Trees) -> set[str]:
    """Return the private attributes that these modules use of other objects, but never define themselves."""
    defined = {node.name for node in nodes(trees, ast.FunctionDef)}
    defined |= {node.name for node in nodes(trees, ast.AsyncFunctionDef)}
    own = {
        node.attr
        for node in nodes(trees, ast.Attribute)
        if isinstance(node.ctx, ast.Store)
    }
    own |= {
        node.target.id
        for node in nodes(trees, ast.AnnAssign)
        if isinstance(node.target, ast.Name)
    }
    return {
        node.attr
        for node in nodes(trees, ast.Attribute)
        if re.match("_[a-z]", node.attr) and not _is_of_self(node)
    } - (defined | own | PUBLIC)


def _is_of_self(node: ast.Attribute) -> bool:
    match node.value:
        case ast.Name(id="self" | "cls") | ast.Call(func=ast.Name(id="super")):
            return True
    return False


def cycle(trees: Trees) -> list[str]:
    """Return a cycle of imports between the folders and modules of the top level.

    Return an empty list if no cycle exists.
    """
    imports = defaultdict[str, set[str]](set)
    for path, tree in trees.items():
        parts = path.relative_to(INTEGRATION).with_suffix("").parts
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = parts[: len(parts) - node.level]
                named = tuple(node.module.split(".")) if node.module else ()
                targets = [(*base, *named, alias.name) for alias in node.names]
                imports[parts[0]] |= {target[0] for target in targets} - {parts[0]}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as err:
        return list(err.args[1])
    return []


def jinja() -> list[str]:
    """Return the lines with Jinja in all blueprints."""
    found: list[str] = []
    for path in sorted((ROOT / "blueprints").rglob("*.yaml")):
        text = path.read_text()
        numbers = {
            number
            for match in JINJA.finditer(text)
            for number in range(
                text.count("\n", 0, match.start()), text.count("\n", 0, match.end()) + 1
            )
        }
        found += [text.splitlines()[number] for number in sorted(numbers)]
    return found


def counts_of_polls() -> Iterator[Goal]:
    """Run polls in a test. Yield the goals and counts for a poll with a new report and for a poll without changes."""
    command = ["-m", "pytest", "-q", "-s", "-p", "no:cacheprovider"]
    printed = subprocess.run(  # noqa: S603
        [sys.executable, *command, "tests/tools/poll_files.py"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    ).stdout
    for what, goal in COUNTED.items():
        if found := re.search(rf"^{what}: (\d+)$", printed, re.MULTILINE):
            yield what, goal, int(found[1])


def sizes(trees: Trees) -> Iterator[Goal]:
    """Yield the goals and current values for the size of the code."""
    yield "lines of the integration", 7_500, sum(map(lines, trees))
    yield "files of Python", 62, len(trees)
    tops = {path.relative_to(INTEGRATION).parts[0] for path in trees}
    yield "modules and packages at its top", 26, len(tops)
    scripts = list((INTEGRATION / "frontend").glob("*.js"))
    yield "lines of JavaScript", 1_000, sum(map(lines, scripts))
    yield "bytes of JavaScript", 40_000, sum(path.stat().st_size for path in scripts)
    yield "lines of Jinja in blueprints", 25, len(jinja())
    yield "characters of the longest", 120, max(map(len, jinja()), default=0)


def tests() -> Iterator[Goal]:
    """Yield the goals and current values for the lines of test code, by purpose."""
    found = dict.fromkeys(PURPOSES, 0)
    for path in TESTS.rglob("*.py"):
        name = path.relative_to(TESTS).as_posix()
        purpose = next(it for it in PURPOSES if name.startswith(PURPOSES[it][0]))
        found[purpose] += lines(path)
    yield "lines of tests", 30_000, sum(found.values())
    for purpose, (_, goal) in PURPOSES.items():
        yield f"of them: {purpose}", goal, found[purpose]


def order(trees: Trees) -> Iterator[Goal]:
    """Yield the goals and current values for the order of the code."""
    changing = [changing_attributes(kind) for kind in nodes(trees, ast.ClassDef)]
    yield "attributes that change", 50, sum(map(len, changing))
    yield "of them in one class", 6, max(map(len, changing))
    functions = nodes(trees, ast.FunctionDef, ast.AsyncFunctionDef)
    length = sum((node.end_lineno or 0) - node.lineno + 1 for node in functions)
    yield "lines of a function, mean", 8.4, round(length / len(functions), 1)
    yield "folders in a cycle of imports", 0, len(set(cycle(trees)))
    yield "private attributes of libraries", 0, len(private_attributes(trees))


def main() -> None:
    """Print the table of goals, the modules in an import cycle, and the private attributes of libraries."""
    trees = modules(INTEGRATION)
    found = [*sizes(trees), *order(trees), *tests()]
    if "--polls" in sys.argv:
        found += counts_of_polls()
    width = max(len(what) for what, *_ in found)
    print(f"{'':{width}}    goal     now")
    for what, goal, now in found:
        print(f"{what:{width}} {goal:7,} {now:7,}{'' if now <= goal else '  <-'}")
    if names := [*cycle(trees), *sorted(private_attributes(trees))]:
        print(f"Cycle and private attributes: {', '.join(names)}")


if __name__ == "__main__":
    main()
