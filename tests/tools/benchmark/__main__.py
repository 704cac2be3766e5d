"""Measures the cost of set-up, polls and messages: python -m tests.tools.benchmark --help."""

import argparse
from collections.abc import Sequence
import sys

from tests.tools.tables import fill

from . import plan
from .page import PAGE, tables


def main() -> int:
    """Run, and return 0 if every count is right."""
    arguments = _arguments()
    if not arguments.render:
        wrong = plan.wrong_counts(_run(plan.counts()))
        print("\n".join(wrong) or "All counts of requests and states are right")
        if arguments.quick or wrong:
            return bool(wrong)
        findings = _run(plan.measurements(arguments.repeats))
        plan.Results(plan.machine(), findings).save()
    fill(PAGE, tables(plan.Results.load()))
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
        help="only count requests and states of small fleets, and print wrong counts",
    )
    what.add_argument(
        "--render",
        action="store_true",
        help="measure nothing, and write the tables of the last run",
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="of each timed run (default: 5)"
    )
    return parser.parse_args()


def _run(steps: Sequence[plan.Step]) -> list[plan.Finding]:
    """Run the steps one after the other, and print the progress."""
    findings = []
    for number, step in enumerate(steps, 1):
        print(f"[{number}/{len(steps)}] {step}", flush=True)
        findings.append(
            plan.Finding(step.kind, step.candidate, step.trackers, step.run())
        )
    return findings


if __name__ == "__main__":
    sys.exit(main())
