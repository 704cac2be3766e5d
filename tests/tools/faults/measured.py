"""How long it took until all was right again, measured once for each case and written down."""

from collections.abc import Container
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
import json
from multiprocessing import get_context
import os
import pathlib
from typing import cast

import pytest

from tests.tools.commit import current_commit

from .cases import CASES, PATHS, Case, Lasted, Path

FILE = pathlib.Path(__file__).parent / "measured.json"
MATRIX = pathlib.Path(__file__).parent / "matrix.py"

MOST = 2 * Lasted.HOUR
"""Seconds after which nothing more is waited for."""

# Home Assistant polls up to a second early and half a second late.
_PRECISION = 5
_PORTIONS = 24

type Measured = dict[Case, int | None]
"""Seconds by case; None: not within MOST."""


@dataclass(eq=False)
class Work:
    """What a process is to measure, and what it measured: a plugin of pytest."""

    cases: list[Case]
    measured: Measured = field(default_factory=dict)


def rounded(seconds: float | None) -> int | None:
    """Return the seconds without what Home Assistant leaves to chance."""
    return None if seconds is None else round(seconds / _PRECISION) * _PRECISION


def measure(paths: Container[Path] = PATHS) -> Measured:
    """Measure all cases, or some, in as many processes as there are processors.

    The others are as they were measured before.
    """
    cases = [case for case in CASES if case.path in paths]
    portions = [cases[number::_PORTIONS] for number in range(_PORTIONS)]
    measured: Measured = {}
    with ProcessPoolExecutor(
        os.process_cpu_count(), get_context("spawn"), max_tasks_per_child=1
    ) as pool:
        for portion in pool.map(_measure, portions):
            measured |= portion
    before = {} if len(cases) == len(CASES) else read()
    return {case: (before | measured)[case] for case in CASES}


def _measure(cases: list[Case]) -> Measured:
    work = Work(cases)
    command = [str(MATRIX), "-qq", "-p", "no:cacheprovider", "--timeout", "0"]
    if pytest.main(command, plugins=[work]) != pytest.ExitCode.OK:
        raise RuntimeError("what cannot be measured is told above")
    return work.measured


def write(measured: Measured) -> None:
    """Write down what was measured."""
    table: dict[str, dict[str, dict[str, int | None]]] = {path: {} for path in PATHS}
    for case, seconds in measured.items():
        row = table[case.path].setdefault(case.trouble, {})
        row[case.lasted.name.lower()] = seconds
    parts = [
        f"{json.dumps(path)}: {{\n"
        + ",\n".join(
            f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()
        )
        + "\n}"
        for path, rows in table.items()
    ]
    commit = f'"commit": "{current_commit()}"'
    FILE.write_text("{\n" + ",\n".join([commit, *parts]) + "\n}\n")


def read() -> Measured:
    """Return what was written down."""
    table = json.loads(FILE.read_bytes())
    return {
        Case(path, trouble, Lasted[lasted.upper()]): cast(int | None, seconds)
        for path in PATHS
        for trouble, row in table.get(path, {}).items()
        for lasted, seconds in row.items()
    }


def commit() -> str:
    """Return the commit that it was measured at."""
    found: str = json.loads(FILE.read_bytes())["commit"]
    return found
