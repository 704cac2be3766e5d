"""Measures the cost of set-up, polls and messages: python -m tests.tools.benchmark --help."""

import argparse
from collections.abc import Sequence
import sys
from time import monotonic

from . import plan
from .counts import differences
from .page import PAGE, write


def main() -> int:
    """Run, and return 0 if every count is right."""
    arguments = _arguments()
    try:
        if not arguments.render:
            wrong = differences(_run(plan.counts()))
            for difference in wrong:
                print(f"Wrong: {difference}", file=sys.stderr)
            print(f"{len(wrong)} counts of requests, states and rows are wrong")
            if arguments.quick or wrong:
                return bool(wrong)
            findings = _run(plan.measurements(arguments.repeats))
            plan.Results(plan.machine(), findings).save()
        write()
    except plan.StepError as err:
        print(f"\nFailed: {err}", file=sys.stderr)
        return 1
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/benchmark",
        description="Measures this integration beside others in a real Home Assistant, over real sockets, and writes"
        f" the tables of docs/{PAGE.name}. That takes half an hour, on a machine that does nothing else.",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--quick",
        action="store_true",
        help="only count requests, states and rows of small fleets, and print wrong counts",
    )
    what.add_argument(
        "--render",
        action="store_true",
        help="measure nothing, and write the tables of the last run",
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="of each timed run (default: 5)"
    )
    arguments = parser.parse_args()
    if arguments.repeats < 1:
        parser.error("--repeats: at least 1")
    return arguments


def _run(steps: Sequence[plan.Step]) -> list[plan.Finding]:
    """Run the steps one after the other, and print the progress."""
    findings, start = [], monotonic()
    for number, step in enumerate(steps, 1):
        minutes, seconds = divmod(int(monotonic() - start), 60)
        print(f"[{number}/{len(steps)}, {minutes}:{seconds:02}] {step}", flush=True)
        findings.append(
            plan.Finding(step.kind, step.candidate, step.trackers, step.run())
        )
    return findings


if __name__ == "__main__":
    sys.exit(main())
