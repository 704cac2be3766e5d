"""Print the goals of the house, each beside what it is now: house.py [--polls].

With --polls it also runs a poll in a Home Assistant of the tests, and counts the files it passes.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
import re
import subprocess
import sys

ROOT = Path(__file__).parents[2]
INTEGRATION = ROOT / "custom_components" / "bike_tracker"
WORDS = {"told", "untold", "heard", "lacks", "obeyed", "strayed"}
"""Words that version 1.2 had for what the field calls fire, receive, apply and notify."""
CHANGING = {
    *("add", "append", "clear", "discard", "extend", "insert"),
    *("pop", "popleft", "remove", "setdefault", "update"),
}
JINJA = re.compile(r"\{[{%].*?[%}]\}", re.DOTALL)
COUNTED = {
    "files of a changed poll": 26,
    "times a changed poll enters the coordinator": 4,
    "files of an idle poll": 14,
}

type Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules(folder: Path) -> dict[Path, ast.Module]:
    """Return the parsed modules in a folder."""
    return {path: ast.parse(path.read_text()) for path in sorted(folder.rglob("*.py"))}


def lines(folder: Path) -> int:
    """Return the lines of all modules in a folder."""
    return sum(len(path.read_text().splitlines()) for path in folder.rglob("*.py"))


def nodes[Node: ast.AST](
    trees: dict[Path, ast.Module], *kinds: type[Node]
) -> list[Node]:
    """Return all parts of modules that are of some kinds."""
    return [
        node
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, kinds)
    ]


def changing_attributes(kind: ast.ClassDef) -> set[str]:
    """Return the attributes of itself that a class changes after it was made."""
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
    """Yield the attribute of `self` that an expression is, or is a part of."""
    match target:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            yield name
        case ast.Subscript(value=value):
            yield from _own(value)
        case ast.Tuple(elts=targets):
            for element in targets:
                yield from _own(element)


def identifiers(trees: dict[Path, ast.Module]) -> Iterator[str]:
    """Yield each name that is given in modules."""
    for node in nodes(trees, ast.AST):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                yield name


def words(name: str) -> set[str]:
    """Return the words of a name in snake or camel case."""
    return set(re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().split("_"))


def with_words(folder: Path) -> list[str]:
    """Return the names in a folder that hold one of the words that are to go."""
    names = set(identifiers(modules(folder)))
    return sorted(name for name in names if words(name) & WORDS)


def jinja() -> list[str]:
    """Return the lines of all blueprints that hold Jinja."""
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


def counts_of_polls() -> Iterator[tuple[str, float, float]]:
    """Yield what a changed poll and an idle one pass."""
    command = (
        "pytest",
        "-q",
        "-s",
        "-p",
        "no:cacheprovider",
        "tests/tools/poll_files.py",
    )
    printed = subprocess.run(  # noqa: S603
        [sys.executable, "-m", *command],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    ).stdout
    for what, goal in COUNTED.items():
        if found := re.search(rf"^{what}: (\d+)$", printed, re.MULTILINE):
            yield what, goal, int(found[1])


def goals() -> Iterator[tuple[str, float, float]]:
    """Yield what is counted, how much it may be, and how much it is."""
    trees = modules(INTEGRATION)
    yield "lines of the integration", 7_300, lines(INTEGRATION)
    yield "files of Python", 62, len(trees)
    cards = [path.read_bytes() for path in (INTEGRATION / "frontend").glob("*.js")]
    yield "lines of JavaScript", 1_000, sum(card.count(b"\n") for card in cards)
    yield "bytes of JavaScript", 40_000, sum(map(len, cards))
    tops = {path.relative_to(INTEGRATION).parts[0] for path in trees}
    yield "modules and packages at its top", 24, len(tops)
    changing = [changing_attributes(kind) for kind in nodes(trees, ast.ClassDef)]
    yield "attributes that change", 60, sum(map(len, changing))
    yield "of them in one class", 8, max(map(len, changing))
    functions = nodes(trees, ast.FunctionDef, ast.AsyncFunctionDef)
    length = sum((node.end_lineno or 0) - node.lineno + 1 for node in functions)
    yield "lines of a function, mean", 8.4, round(length / len(functions), 1)
    yield "names with words of 1.2", 0, len(with_words(INTEGRATION))
    yield "the same in tests", 0, len(with_words(ROOT / "tests"))
    yield "lines of tests", 40_000, lines(ROOT / "tests")
    yield "lines of Jinja in blueprints", 25, len(jinja())
    yield "characters of the longest", 120, max(map(len, jinja()), default=0)


def main() -> None:
    """Print the table."""
    found = [*goals(), *(counts_of_polls() if "--polls" in sys.argv else ())]
    width = max(len(what) for what, *_ in found)
    print(f"{'':{width}}    goal     now")
    for what, goal, now in found:
        print(f"{what:{width}} {goal:7,} {now:7,}{'' if now <= goal else '  <-'}")
    if names := [*with_words(INTEGRATION), *with_words(ROOT / "tests")]:
        print(f"Names with words of 1.2: {', '.join(names)}")


if __name__ == "__main__":
    main()
