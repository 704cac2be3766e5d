"""Run tests against mutants of the code. The options are in scripts/mutate.

Modules with the same tests form a group. Its tests first run with the unchanged code, to
measure the time and the lines of each test. Then each mutant runs in a forked process,
which compiles the changed code in place of the file and runs the tests of the changed
lines, the quickest first.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
import gc
from importlib import import_module
from importlib.machinery import SourceFileLoader
import json
import os
from pathlib import Path
import random
import signal
import subprocess
import sys
from tempfile import TemporaryDirectory
import time
from types import CodeType
from typing import Any

import pytest

from scripts.lib.mutants import Lines, Mutant, functions_of, mutants_of

ROOT = Path(__file__).parents[2]
INTEGRATION = ROOT / "custom_components" / "bike_tracker"
SURVIVORS = Path(__file__).with_name("survivors.txt")
"""File of mutants whose changes have no effect: a line with module and reason, then the changed lines."""
TESTS = {
    "tracking": ["tests/tracking", "tests/test_calendar.py"],
    "api": ["tests/api"],
    "polling": [
        *("tests/polling", "tests/test_live.py", "tests/test_rides_from_before.py")
    ],
    "dispatch.py": [
        *("tests/test_dispatch.py", "tests/test_alarms.py"),
        "tests/automations/test_trigger.py",
    ],
    "event.py": [
        *("tests/test_alarms.py", "tests/test_dispatch.py", "tests/test_sensors.py")
    ],
    "alarm_control_panel.py": ["tests/test_guard.py"],
    "entity.py": [
        *("tests/test_adding.py", "tests/test_dispatch.py", "tests/test_devices.py")
    ],
    "database": [
        # First, because it reads values of all types.
        "tests/tracking/test_import_2_0.py",
        *("tests/test_devices.py", "tests/test_database.py", "tests/test_init.py"),
        "tests/test_rides_from_before.py",
    ],
    "backup.py": ["tests/test_database.py"],
    "devices.py": ["tests/test_devices.py"],
    "coordinator.py": [
        *("tests/test_live.py", "tests/test_interruptions.py", "tests/test_devices.py"),
        *("tests/test_dispatch.py", "tests/polling/test_backoff.py"),
        *("tests/test_rides_from_before.py", "tests/test_sensors.py"),
        "tests/test_diagnostics.py",
    ],
    "__init__.py": [
        *("tests/test_init.py", "tests/test_devices.py", "tests/test_database.py"),
        *("tests/test_frontend.py", "tests/night_guard/test_night.py"),
        *("tests/test_actions.py", "tests/responses", "tests/test_live.py"),
    ],
    "device_tracker.py": [
        *("tests/polling/test_shown.py", "tests/test_init.py", "tests/test_live.py")
    ],
    "binary_sensor.py": ["tests/test_init.py", "tests/test_devices.py"],
    "diagnostics.py": ["tests/test_diagnostics.py", "tests/test_live.py"],
    "system_health.py": ["tests/test_diagnostics.py"],
    "frontend.py": ["tests/test_frontend.py"],
    "night_guard": ["tests/night_guard"],
    "automations": ["tests/automations", "tests/responses/test_targets.py"],
    "trigger.py": ["tests/automations/test_interface.py"],
    "condition.py": ["tests/automations/test_interface.py"],
    "llm.py": ["tests/responses"],
    "responses": ["tests/responses", "tests/test_actions.py"],
    "services.py": ["tests/test_actions.py", "tests/responses"],
    "sensor.py": ["tests/test_sensors.py", "tests/test_init.py"],
}
"""The tests of a folder or module. For any other module, use the test file or folder with its name."""
WORLDS = ("test_year_of_rides.py", "test_guarded_nights.py")
"""Tests to leave out: they would run for a minute per survivor, and other tests check the same rules."""
GOALS = {"tracking": 90, "api": 90, "night_guard": 90}
"""The percentage of mutants that tests must kill, by folder. Other modules have `OTHER_GOAL`."""
OTHER_GOAL = 80
_TOOL = sys.monitoring.PROFILER_ID
_LINE = sys.monitoring.events.LINE
_OPTIONS = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov")
_MIN_TIMEOUT = 20.0
"""Seconds. A mutant that loops forever is killed after this time plus five times the normal time of its tests."""

type Watch = Callable[[CodeType], None]
type Changed = dict[Path, list[Lines]]


@dataclass
class Test:
    """A test of the unchanged code."""

    seconds: float
    lines: dict[str, list[int]]
    """The lines that the test ran, by file."""

    def runs(self, mutant: Mutant) -> bool:
        """Return whether the test can notice this mutant, because it runs the changed lines."""
        lines = self.lines.get(str(mutant.path), [])
        return bool(lines) and (
            not mutant.statement or not set(mutant.statement).isdisjoint(lines)
        )


type Tests = dict[str, Test]


class _Watching:
    """A pytest plugin that records which lines of some modules each test runs."""

    def __init__(self) -> None:
        self.tests: Tests = {}
        self._ran: defaultdict[str, set[int]] = defaultdict(set)
        sys.monitoring.use_tool_id(_TOOL, "mutate")
        sys.monitoring.register_callback(_TOOL, _LINE, self._on_line)

    def watch(self, code: CodeType) -> None:
        """From now on, record which lines of the functions in this compiled module run."""
        for part in code.co_consts:
            if isinstance(part, CodeType):
                sys.monitoring.set_local_events(_TOOL, part, _LINE)
                self.watch(part)

    def _on_line(self, code: CodeType, line: int) -> object:
        self._ran[code.co_filename].add(line)
        return sys.monitoring.DISABLE

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None]:
        self._ran.clear()
        sys.monitoring.restart_events()
        started = time.monotonic()
        done = yield
        lines = {file: sorted(ran) for file, ran in self._ran.items()}
        self.tests[item.nodeid] = Test(time.monotonic() - started, lines)
        return done


class _Choosing:
    """A pytest plugin that runs only the chosen tests, in the given order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._tests = tests

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        by_id = {item.nodeid: item for item in items}
        items[:] = [by_id[test] for test in self._tests if test in by_id]


def _pytest(tests: Iterable[str], plugin: object) -> int:
    worlds = [f"--ignore-glob=*/{name}" for name in WORLDS]
    return int(pytest.main([*_OPTIONS, *worlds, *tests], plugins=[plugin]))


def _replace_source(sources: dict[str, str], watch: Watch) -> None:
    """From now on, import these modules from this source code, and give each compiled module to `watch`."""
    load: Callable[..., Any] = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> Any:
        if (source := sources.get(self.path)) is None:
            return load(self, fullname)
        code = compile(source, self.path, "exec", dont_inherit=True)
        watch(code)
        return code

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


def _in_child(run: Callable[[], int], output: str = os.devnull) -> int:
    """Fork a process that runs a function and exits with its result. Write its output to a file. Return the process ID."""
    if child := os.fork():
        return child
    status = 3
    try:
        os.setsid()
        for stream, path in enumerate((os.devnull, output, output)):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND), stream)
        status = run()
    finally:
        os._exit(status)


def _kill(child: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)


def _measure(paths: Sequence[Path], names: Sequence[str]) -> tuple[int, Any, list[str]]:
    """Run tests in a child. Return the exit status, seconds and lines by test, and the imported modules."""
    with TemporaryDirectory() as folder:
        answer, output = Path(folder) / "answer.json", Path(folder) / "output.txt"

        def run() -> int:
            plugin = _Watching()
            sources = {str(path): path.read_text() for path in paths}
            _replace_source(sources, plugin.watch)
            status = _pytest(names, plugin)
            found = {
                name: [test.seconds, test.lines] for name, test in plugin.tests.items()
            }
            ours = ("custom_components", "tests", "conftest", "__main__", "scripts")
            imported = [name for name in sys.modules if not name.startswith(ours)]
            answer.write_text(json.dumps([status, found, imported]))
            return status

        os.waitpid(_in_child(run, str(output)), 0)
        status, found, imported = json.loads(answer.read_text())
        if status:
            print(output.read_text(), flush=True)
    return status, found, imported


def run_unchanged(paths: Sequence[Path], names: Sequence[str]) -> Tests:
    """Measure each test with unchanged code. Import the tests' libraries here, so that mutants start quickly.

    If a test fails, print why, and run all tests once more: a test may fail by chance.
    """
    status, found, imported = _measure(paths, names)
    if status:
        status, found, imported = _measure(paths, names)
    if status:
        sys.exit(f"These tests fail without any change: pytest {' '.join(names)}")
    # Import the modules in the order in which the tests imported them. But import Home
    # Assistant first, because it replaces a library that other modules import.
    for name in ("homeassistant", *imported):
        with suppress(Exception):
            import_module(name)
    # Each test collects garbage several times. To save time, leave the imported modules
    # out of these collections.
    gc.freeze()
    return {name: Test(*values) for name, values in found.items()}


def results_of(
    mutants: Iterable[Mutant], tests: Tests, until: float, processes: int
) -> Iterator[tuple[Mutant, bool]]:
    """Yield each mutant and whether it survived. At the time `until`, kill running mutants, and leave out the rest."""
    running: dict[int, tuple[Mutant, float]] = {}
    waiting = iter(mutants)
    mutant = next(waiting, None)
    try:
        while (mutant or running) and time.monotonic() < until:
            if mutant and len(running) < processes:
                names = [name for name, test in tests.items() if test.runs(mutant)]
                names.sort(key=lambda name: tests[name].seconds)
                if names:
                    most = 5 * sum(tests[name].seconds for name in names)
                    child = _in_child(partial(_run_mutant, mutant, names))
                    running[child] = mutant, time.monotonic() + _MIN_TIMEOUT + most
                else:
                    yield mutant, True
                mutant = next(waiting, None)
                continue
            yield from _ended(running)
            time.sleep(0.01)
    finally:
        for child in running:
            _kill(child)


def _ended(running: dict[int, tuple[Mutant, float]]) -> Iterator[tuple[Mutant, bool]]:
    for child, (mutant, until) in list(running.items()):
        done, status = os.waitpid(child, os.WNOHANG)
        if not done and time.monotonic() > until:
            _kill(child)
            done, status = child, 1
        if done:
            del running[child]
            yield mutant, status == 0


def _run_mutant(mutant: Mutant, names: Sequence[str]) -> int:
    _replace_source({str(mutant.path): mutant.source}, lambda _: None)
    files = sorted({name.partition("::")[0] for name in names})
    return _pytest(files, _Choosing(names))


def name_of(path: Path) -> str:
    """Return the name of a module as a user types it, such as `tracking/log.py`."""
    return str(path.relative_to(INTEGRATION))


def tests_of(path: Path) -> tuple[str, ...]:
    """Return the files and folders of the tests for a module."""
    part = path.relative_to(INTEGRATION).parts[0]
    named = [f"tests/test_{path.stem}.py", f"tests/{path.stem}"]
    return tuple(test for test in TESTS.get(part, named) if (ROOT / test).exists())


def modules(names: Sequence[str]) -> list[Path]:
    """Return the files of the named modules and folders, by default of all in TESTS. Omit files of up to two lines."""
    found: list[Path] = []
    for name in names or TESTS:
        path = ROOT / name if (ROOT / name).exists() else INTEGRATION / name
        if not path.exists() and names:
            sys.exit(f"No such module: {name}")
        found += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return [it for it in found if it.exists() and it.read_text().count("\n") > 2]


def changed_lines(revision: str) -> Changed:
    """Return the lines of each module that differ from a revision. Exit if Git does not know the revision."""
    printed = _git("diff", "--unified=0", revision, "--", str(INTEGRATION))
    if not _git("rev-parse", "--verify", "--quiet", revision):
        sys.exit(f"Git knows no revision {revision}")
    changed: Changed = {}
    path = ROOT
    for line in printed.splitlines():
        if line.startswith("+++ "):
            path = ROOT / line.removeprefix("+++ b/")
        elif line.startswith("@@"):
            start, _, count = line.split()[2].removeprefix("+").partition(",")
            lines = range(int(start), int(start) + int(count or 1))
            changed.setdefault(path, []).append(lines)
    return changed


def changed_functions(path: Path, changed: Sequence[Lines]) -> list[Lines]:
    """Return the functions, and the statements outside of functions, that contain changed lines."""
    parts, found = functions_of(path), list[Lines]()
    for line in (line for lines in changed for line in lines):
        if around := [part for part in parts if line in part]:
            found.append(min(around, key=len))
    return list(dict.fromkeys(found))


def _git(*arguments: str) -> str:
    """Return git's output, or nothing if it fails."""
    command = ["git", *arguments]
    run = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)  # noqa: S603
    return run.stdout.strip()


def base_revision() -> str:
    """Return the commit at which this branch left the main branch.

    On the main branch, return the newest commit that is at least a day old.
    """
    for branch in ("origin/main", "main"):
        found = _git("merge-base", "HEAD", branch)
        if found and found != _git("rev-parse", "HEAD"):
            return found
    # Usually many commits come to the main branch together, so look a day back. If the
    # clone has no commit that old, or HEAD is that old, use the commit before HEAD.
    day_ago = _git("rev-list", "--max-count=1", "--before=1 day ago", "HEAD")
    return day_ago if day_ago and day_ago != _git("rev-parse", "HEAD") else "HEAD~1"


def explained() -> set[tuple[str, str]]:
    """Return the module and the changed lines of each mutant in SURVIVORS."""
    entries = SURVIVORS.read_text().strip().split("\n\n")
    return {(it.partition(":")[0], it.partition("\n")[2]) for it in entries}


def try_group(
    mutants: list[Mutant], names: Sequence[str], until: float, processes: int
) -> dict[Path, Counter[str]]:
    """Test the mutants of a group, print the unexplained survivors, and count the results by module."""
    mutants = [mutant for mutant in mutants if mutant.source]
    counts = {it.path: Counter[str]() for it in mutants}
    for mutant in mutants:
        counts[mutant.path]["left out"] += 1
    if not (mutants and names) or time.monotonic() > until:
        return counts
    tests, known = run_unchanged(list(counts), names), explained()
    for mutant, survived in results_of(mutants, tests, until, processes):
        name, diff = name_of(mutant.path), mutant.diff()
        is_explained = survived and (name, diff) in known
        if survived and not is_explained:
            print(f"\n{name}:{mutant.line}\n{diff}", flush=True)
        kind = "explained" if is_explained else "survived" if survived else "killed"
        counts[mutant.path].update({kind: 1, "left out": -1})
    return counts


def print_counts(found: dict[Path, Counter[str]]) -> list[str]:
    """Print the table of all modules, and return the names of the modules below their goal."""
    missed: list[str] = []
    kinds = ("killed", "survived", "explained", "left out")
    print(f"\n{'':34}" + "".join(f"{kind:>10}" for kind in kinds))
    for path, counts in sorted(found.items()):
        name, tried = name_of(path), counts["killed"] + counts["survived"]
        goal = GOALS.get(path.relative_to(INTEGRATION).parts[0], OTHER_GOAL)
        line = f"{name:34}" + "".join(f"{counts[kind]:10}" for kind in kinds)
        share = f"{100 * counts['killed'] / tried:6.1f} %" if tried else "     –"
        is_missed = 100 * counts["killed"] < goal * tried
        missed += [name] * is_missed
        print(line, share, f"(goal {goal} %)" if is_missed else "")
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
    """Test mutants of the chosen modules. Print the survivors and a table. With --strict, fail below a goal."""
    chosen = options()
    until = time.monotonic() + 60 * chosen.minutes
    os.chdir(ROOT)
    paths = modules(chosen.modules)
    changed: Changed = {}
    if chosen.changed is not None:
        changed = changed_lines(chosen.changed or base_revision())
        paths = [path for path in paths if path in changed]
    groups: defaultdict[tuple[str, ...], list[Mutant]] = defaultdict(list)
    for path in paths:
        only = changed_functions(path, changed[path]) if changed else None
        mutants = mutants_of(path, only)
        random.shuffle(mutants)
        groups[tests_of(path)] += mutants[: chosen.sample]
    found: dict[Path, Counter[str]] = {}
    # Test the groups in random order, and give each group an equal share of the time that
    # is left.
    for left, names in enumerate(
        random.sample(list(groups), len(groups)), -len(groups)
    ):
        random.shuffle(groups[names])
        share = (until - time.monotonic()) / -left
        end = time.monotonic() + share
        found |= try_group(groups[names], names, end, chosen.processes)
    if not found:
        print("No function with a goal has changed")
    missed = print_counts(found) if found else []
    if missed and chosen.strict:
        sys.exit(f"Below the goal: {', '.join(missed)}")


if __name__ == "__main__":
    main()
