"""Run tests against mutants of the code; scripts/mutate says how.

Each module's tests run once as they are, which shows how long each takes and which lines it runs.
Then each mutant runs in a process of its own, forked when Home Assistant was imported already: it
compiles the changed code in place of the file, and runs the tests of its lines, the quickest first,
up to the first that fails.
"""

import argparse
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
import gc
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
import json
import os
from pathlib import Path
import random
import signal
import subprocess
import sys
from tempfile import TemporaryDirectory
import time
from types import CodeType, ModuleType
from typing import override

import pytest

from scripts.lib.mutants import Lines, Mutant, functions_of, mutants_of

ROOT = Path(__file__).parents[2]
INTEGRATION = ROOT / "custom_components" / "bike_tracker"
TESTS: dict[str, tuple[str, ...]] = {
    "tracking": ("tests/tracking",),
    "api": ("tests/api", "tests/test_address.py"),
    "polling": ("tests/polling", "tests/test_rides_from_before.py"),
    "dispatch.py": ("tests/automations", "tests/test_alarms.py"),
    "database": ("tests/registry", "tests/test_database.py"),
    "night_guard": ("tests/night_guard",),
}
"""The tests of a folder or module; of others the tests that are named like them."""
WORLDS = ("test_year_of_rides.py", "test_guarded_nights.py")
"""Tests that take a minute for each survivor. They measure, and pin nothing alone."""
GOALS = {"tracking": 90, "api": 90, "night_guard": 90, "polling": 80}
OTHER_GOAL = 80
_TOOL = sys.monitoring.PROFILER_ID
_SLOWEST = 20.0
"""Seconds; a mutant that loops is killed after these and five times what its tests take."""


@dataclass
class Baseline:
    """What the tests of a module do with the code as it is."""

    seconds: dict[str, float] = field(default_factory=dict)
    """How long each test took."""
    lines: dict[str, list[int]] = field(default_factory=dict)
    """The lines of the module that each test ran."""

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that may notice a mutant, the quickest first."""
        wanted = set(mutant.statement)
        found = [
            test
            for test, lines in self.lines.items()
            if lines and (not wanted or wanted.intersection(lines))
        ]
        return sorted(found, key=self.seconds.__getitem__)


@dataclass(frozen=True)
class Result:
    """What became of a mutant."""

    mutant: Mutant
    survived: bool


class _Loader(SourceFileLoader):
    """Loads a module from other source than what its file holds."""

    def __init__(
        self, name: str, path: str, source: str, seen: Callable[[CodeType], None]
    ) -> None:
        super().__init__(name, path)
        self._source = source
        self._seen = seen

    @override
    def get_code(self, fullname: str) -> CodeType:
        code = compile(self._source, self.path, "exec", dont_inherit=True)
        self._seen(code)
        return code


class _Finder(MetaPathFinder):
    """Finds one module, and leaves all others to Python."""

    def __init__(
        self, path: Path, source: str, seen: Callable[[CodeType], None]
    ) -> None:
        parts = path.relative_to(ROOT).with_suffix("").parts
        self._name = ".".join(parts).removesuffix(".__init__")
        self._path = str(path)
        self._loader = _Loader(self._name, self._path, source, seen)

    @override
    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        return spec_from_file_location(fullname, self._path, loader=self._loader)


class _Watching:
    """A pytest plugin that notes which lines of a module each test runs."""

    def __init__(self) -> None:
        self.baseline = Baseline()
        self._ran: set[int] = set()
        sys.monitoring.use_tool_id(_TOOL, "mutate")
        sys.monitoring.register_callback(
            _TOOL, sys.monitoring.events.LINE, self._on_line
        )

    def watch(self, code: CodeType) -> None:
        """Watch the functions in compiled code."""
        for part in code.co_consts:
            if isinstance(part, CodeType):
                sys.monitoring.set_local_events(_TOOL, part, sys.monitoring.events.LINE)
                self.watch(part)

    def _on_line(self, code: CodeType, line: int) -> object:
        self._ran.add(line)
        return sys.monitoring.DISABLE

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None]:
        self._ran.clear()
        sys.monitoring.restart_events()
        started = time.monotonic()
        done = yield
        self.baseline.seconds[item.nodeid] = time.monotonic() - started
        self.baseline.lines[item.nodeid] = sorted(self._ran)
        return done


class _Choosing:
    """A pytest plugin that runs some tests alone, in a given order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._order = {test: number for number, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._order),
            key=lambda item: self._order[item.nodeid],
        )


def _pytest(tests: Sequence[str], plugin: object) -> int:
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov"]
    options += [f"--ignore-glob=*/{name}" for name in WORLDS]
    return int(pytest.main([*options, *tests], plugins=[plugin]))


def _in_child(run: Callable[[], int]) -> int:
    """Start a process that runs a function without output, and return its ID."""
    if child := os.fork():
        return child
    status = 3
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        status = run()
    finally:
        os._exit(status)


def _kill(child: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)


def baseline_of(path: Path, tests: Sequence[str]) -> Baseline:
    """Run the tests of a module as it is; import here what they imported."""
    with TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"

        def run() -> int:
            plugin = _Watching()
            sys.meta_path.insert(0, _Finder(path, path.read_text(), plugin.watch))
            status = _pytest(tests, plugin)
            found = plugin.baseline
            answer.write_text(
                json.dumps([status, found.seconds, found.lines, _outside()])
            )
            return status

        os.waitpid(_in_child(run), 0)
        if not answer.exists():
            sys.exit(f"The tests of {path.name} did not end: {' '.join(tests)}")
        status, seconds, lines, imported = json.loads(answer.read_text())
    if status:
        sys.exit(f"These tests fail without any change: pytest {' '.join(tests)}")
    # In their order, and Home Assistant first: it replaces a library that others import.
    for name in ("homeassistant", *imported):
        with suppress(Exception):
            import_module(name)
    # Each test collects garbage several times: what was imported here is none.
    gc.freeze()
    return Baseline(seconds, lines)


def _outside() -> list[str]:
    """Return the modules that are imported now and that no mutant changes."""
    ours = ("custom_components", "tests", "conftest", "__main__", "scripts")
    return [name for name in sys.modules if not name.startswith(ours)]


def results_of(
    mutants: Sequence[Mutant], baseline: Baseline, until: float, processes: int
) -> Iterator[Result]:
    """Yield what becomes of mutants, as far as the time allows."""
    running: dict[int, tuple[Mutant, float]] = {}
    waiting = iter(mutants)
    mutant = next(waiting, None)
    try:
        while (mutant or running) and time.monotonic() < until:
            if mutant and len(running) < processes:
                if tests := baseline.tests_of(mutant) if mutant.source else []:
                    child = _in_child(partial(_run_tests, mutant, tests))
                    most = 5 * sum(map(baseline.seconds.__getitem__, tests))
                    running[child] = mutant, time.monotonic() + _SLOWEST + most
                elif mutant.source:
                    yield Result(mutant, survived=True)
                mutant = next(waiting, None)
                continue
            yield from _ended(running)
            time.sleep(0.01)
    finally:
        for child in running:
            _kill(child)


def _ended(running: dict[int, tuple[Mutant, float]]) -> Iterator[Result]:
    for child, (mutant, until) in list(running.items()):
        done, status = os.waitpid(child, os.WNOHANG)
        if not done and time.monotonic() > until:
            _kill(child)
            done, status = child, 1
        if done:
            del running[child]
            yield Result(mutant, survived=status == 0)


def _run_tests(mutant: Mutant, tests: Sequence[str]) -> int:
    sys.meta_path.insert(0, _Finder(mutant.path, mutant.source, lambda _: None))
    files = sorted({test.partition("::")[0] for test in tests})
    return _pytest(files, _Choosing(tests))


def tests_of(path: Path) -> list[str]:
    """Return the files and folders of the tests that concern a module."""
    part = path.relative_to(INTEGRATION).parts[0]
    named = (f"tests/test_{path.stem}.py", f"tests/{path.stem}")
    return [test for test in TESTS.get(part, named) if (ROOT / test).exists()]


def modules(names: Sequence[str]) -> list[Path]:
    """Return the files of the modules that are named, or of all that have a goal."""
    found: list[Path] = []
    for name in names or TESTS:
        path = ROOT / name
        path = path if path.exists() else INTEGRATION / name
        if not path.exists() and names:
            sys.exit(f"No such module: {name}")
        found += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return [
        path for path in found if path.exists() and path.read_text().count("\n") > 2
    ]


def changed_lines(revision: str) -> dict[Path, list[Lines]]:
    """Return the lines of each module that differ from a revision."""
    printed = _git("diff", "--unified=0", revision, "--", str(INTEGRATION))
    if not _git("rev-parse", "--verify", "--quiet", revision):
        sys.exit(f"Git knows no revision {revision}")
    changed: dict[Path, list[Lines]] = {}
    path = ROOT
    for line in printed.splitlines():
        if line.startswith("+++ "):
            path = ROOT / line.removeprefix("+++ b/")
        elif line.startswith("@@"):
            start, _, count = line.split()[2].removeprefix("+").partition(",")
            changed.setdefault(path, []).append(
                range(int(start), int(start) + int(count or 1))
            )
    return changed


def changed_functions(path: Path, changed: Sequence[Lines]) -> list[Lines]:
    """Return the innermost functions and statements of a module that hold changed lines."""
    parts = functions_of(path)
    found: list[Lines] = []
    for lines in changed:
        for line in lines:
            around = [part for part in parts if line in part]
            found += [min(around, key=len)] if around else []
    return list(dict.fromkeys(found))


def _git(*arguments: str) -> str:
    """Return what git prints, nothing where it fails."""
    return subprocess.run(  # noqa: S603
        ["git", *arguments],  # noqa: S607
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    ).stdout.strip()


def base_revision() -> str:
    """Return where this branch left the main branch; on it, the commit of a day ago."""
    for branch in ("origin/main", "main"):
        found = _git("merge-base", "HEAD", branch)
        if found and found != _git("rev-parse", "HEAD"):
            return found
    # Many commits may come to the main branch together, but a clone may hold only two.
    day_ago = _git("rev-list", "--max-count=1", "--before=1 day ago", "HEAD")
    return day_ago if day_ago and day_ago != _git("rev-parse", "HEAD") else "HEAD~1"


def goal_of(path: Path) -> int:
    """Return the percentage of a module's mutants that tests should kill."""
    return GOALS.get(path.relative_to(INTEGRATION).parts[0], OTHER_GOAL)


@dataclass
class Counts:
    """How many mutants of a module were tried, and how that ended."""

    killed: int = 0
    survived: int = 0
    left_out: int = 0

    @property
    def share(self) -> float | None:
        """The percentage of killed mutants, None if none was tried."""
        tried = self.killed + self.survived
        return 100 * self.killed / tried if tried else None

    def add(self, result: Result) -> None:
        """Count a result."""
        self.left_out -= 1
        self.survived += result.survived
        self.killed += not result.survived


def try_module(path: Path, mutants: list[Mutant], until: float, most: int) -> Counts:
    """Run the tests of a module against its mutants, and print those that survive."""
    counts = Counts(left_out=len(mutants))
    tests = tests_of(path)
    if not mutants or not tests or time.monotonic() > until:
        return counts
    baseline = baseline_of(path, tests)
    mutants = [mutant for mutant in mutants if mutant.source]
    counts.left_out = len(mutants)
    for result in results_of(mutants, baseline, until, most):
        counts.add(result)
        if result.survived:
            where = f"{path.relative_to(INTEGRATION)}:{result.mutant.line}"
            print(f"\n{where}\n{result.mutant.diff()}", flush=True)
    return counts


def print_counts(found: dict[Path, Counts]) -> list[str]:
    """Print the table of all modules, and return the names of those below their goal."""
    missed: list[str] = []
    print(f"\n{'':40} killed  survived  left out")
    for path, counts in found.items():
        name = str(path.relative_to(INTEGRATION))
        line = f"{name:40} {counts.killed:6} {counts.survived:9} {counts.left_out:9}"
        goal = goal_of(path)
        share = counts.share
        # Where the time did not suffice nothing is known.
        is_missed = share is not None and share < goal
        if is_missed:
            missed.append(name)
        print(
            line,
            "     –" if share is None else f"{share:6.1f} %",
            f"(goal {goal} %)" if is_missed else "",
        )
    return missed


def options() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="scripts/mutate")
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--changed", nargs="?", const="")
    parser.add_argument("--minutes", type=float, default=24 * 60)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--sample", type=int, default=sys.maxsize)
    parser.add_argument("--strict", action="store_true")
    return parser.parse_args()


def main() -> None:
    """Mutate, and print what survived."""
    chosen = options()
    until = time.monotonic() + 60 * chosen.minutes
    os.chdir(ROOT)
    paths = modules(chosen.modules)
    changed: dict[Path, list[Lines]] = {}
    if chosen.changed is not None:
        changed = changed_lines(chosen.changed or base_revision())
        paths = [path for path in paths if path in changed]
    found: dict[Path, Counts] = {}
    for path in paths:
        only = changed_functions(path, changed[path]) if path in changed else None
        mutants = mutants_of(path, only)
        random.shuffle(mutants)
        mutants = mutants[: chosen.sample]
        found[path] = try_module(path, mutants, until, chosen.processes)
    if not found:
        print("No function with a goal has changed")
        return
    missed = print_counts(found)
    if missed and chosen.strict:
        sys.exit(f"Below the goal: {', '.join(missed)}")


if __name__ == "__main__":
    main()
