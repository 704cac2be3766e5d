"""Measures what set-up and polls cost: python -m tests.benchmark --help."""

import argparse
from collections.abc import Sequence
import sys
from time import monotonic

from . import plan
from .machine import LibraryError, describe
from .report import REPORT, report
from .results import Results


def main() -> int:
    """Run, and return 0 if every count is right."""
    parser = argparse.ArgumentParser(
        prog="scripts/benchmark",
        description="Measures this integration beside others in a real Home Assistant, over real sockets, and writes"
        f" docs/{REPORT.name}. That takes about an hour, on a machine that does nothing else.",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="only count requests, states and rows of small fleets, and say what is not as it has to be",
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="of each timed run (default: 5)"
    )
    arguments = parser.parse_args()
    if arguments.repeats < 1:
        parser.error("--repeats: at least 1")
    try:
        if arguments.quick:
            return _judge(_run(plan.quick()))
        run = f"{describe()} {plan.times(arguments.repeats)}"
        results = _run(plan.full(arguments.repeats))
    except (LibraryError, plan.StepError) as err:
        print(f"\nFailed: {err}", file=sys.stderr)
        return 1
    if wrong := _judge(results):
        return wrong
    REPORT.write_text(report(results, run))
    print(f"Wrote docs/{REPORT.name}")
    return 0


def _run(steps: Sequence[plan.Step]) -> Results:
    """Run the steps one after the other, and show how far it is."""
    results, start = Results(), monotonic()
    for number, step in enumerate(steps, 1):
        minutes, seconds = divmod(int(monotonic() - start), 60)
        print(f"[{number}/{len(steps)}, {minutes}:{seconds:02}] {step}", flush=True)
        results.add(step.kind, step.candidate, step.trackers, step.run())
    return results


def _judge(results: Results) -> int:
    """Say which counts are wrong, if any."""
    wrong = results.differences()
    for difference in wrong:
        print(f"Wrong: {difference}", file=sys.stderr)
    print(
        f"{len(wrong)} counts are wrong"
        if wrong
        else "All counts of requests, states and rows are right"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
