"""Measures what set-up, polls and messages cost: python -m tests.tools.benchmark --help."""

import argparse
from collections.abc import Sequence
import sys
from time import monotonic

from . import plan
from .counters import differences
from .machine import describe
from .page import PAGE, write
from .results import Finding, NotMeasuredError, save


def main() -> int:
    """Run, and return 0 if every count is right."""
    arguments = _arguments()
    try:
        if arguments.quick:
            return _check(_run(plan.quick()))
        parts = [arguments.only] if arguments.only else plan.PARTS
        for part in () if arguments.render else parts:
            findings = _run(plan.PARTS[part](arguments.repeats))
            if _check(findings):
                return 1
            save(part, describe(), findings)
        write()
    except (NotMeasuredError, plan.StepError) as err:
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
        help="only count requests, states and rows of small fleets, and say what is not as it has to be",
    )
    what.add_argument(
        "--only",
        choices=plan.PARTS,
        help="measure nothing but this anew, and leave the rest of the page as it was measured before",
    )
    what.add_argument(
        "--render",
        action="store_true",
        help="measure nothing, and write the tables of what was measured before",
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="of each timed run (default: 5)"
    )
    arguments = parser.parse_args()
    if arguments.repeats < 1:
        parser.error("--repeats: at least 1")
    return arguments


def _run(steps: Sequence[plan.Step]) -> list[Finding]:
    """Run the steps one after the other, and show how far it is."""
    findings, start = [], monotonic()
    for number, step in enumerate(steps, 1):
        minutes, seconds = divmod(int(monotonic() - start), 60)
        print(f"[{number}/{len(steps)}, {minutes}:{seconds:02}] {step}", flush=True)
        findings.append(Finding(step.kind, step.candidate, step.trackers, step.run()))
    return findings


def _check(findings: Sequence[Finding]) -> int:
    """Print which counts are wrong; return 1 if any are."""
    wrong = differences(findings)
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
