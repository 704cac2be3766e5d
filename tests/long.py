"""How many examples and cases tests use: few by default, more with `scripts/test --long`."""

from collections.abc import Iterable, Sequence
import os

from hypothesis import HealthCheck, settings
import pytest

TIMES = int(os.environ.get("LONG", "1"))
"""The number of examples is multiplied by this."""
IS_LONG = TIMES > 1
DAYS = int(os.environ.get("DAYS", "0"))
SEED = int(os.environ.get("SEED", "1"))
"""Random seed of the soak test, which is also its length in days."""
_IN_CI = 5
longest = pytest.mark.timeout(240 * TIMES)
"""Marks the longest tests of a long run. They start first, so that all workers end at the same time."""


def examples(few: int, *, suppress: Iterable[HealthCheck] = ()) -> settings:
    """Return settings of Hypothesis with this number of examples, and more in a long run.

    Each run has the same examples, so that a test does not fail at random. A long run
    with a higher factor tries different examples.
    """
    return settings(
        deadline=None,
        derandomize=TIMES <= _IN_CI,
        max_examples=few * TIMES,
        suppress_health_check=list(suppress),
    )


def some[T](cases: Iterable[T], every: int) -> Sequence[T]:
    """Return every n-th case. In a long run, return all cases."""
    return list(cases)[:: 1 if IS_LONG else every]
