"""The number of examples and cases that tests use: small by default, larger with `scripts/test --long`."""

from collections.abc import Iterable, Sequence
import os

from hypothesis import HealthCheck, settings
import pytest

TIMES = int(os.environ.get("LONG", "1"))
"""The factor by which a long run multiplies the number of examples. In a normal run, it is 1."""
IS_LONG = TIMES > 1
DAYS = int(os.environ.get("DAYS", "0"))
SEED = int(os.environ.get("SEED", "1"))
"""Random seed of the soak test and of the year of rides. `DAYS` is their length in days; 0 means a short run."""
_IN_CI = 5
longest = pytest.mark.timeout(240 * TIMES)
"""A mark for a long test: its timeout is four minutes, or more in a long run. Tests with long timeouts start first."""


def examples(few: int, *, suppress: Iterable[HealthCheck] = ()) -> settings:
    """Return settings of Hypothesis for `few` examples, and for `TIMES` as many in a long run.

    If `TIMES` is at most its value in CI, each run has the same examples, so that no test
    fails at random. If `TIMES` is higher, each run tries different examples.
    """
    return settings(
        deadline=None,
        derandomize=TIMES <= _IN_CI,
        max_examples=few * TIMES,
        suppress_health_check=list(suppress),
    )


def some[T](cases: Iterable[T], every: int) -> Sequence[T]:
    """Return every n-th case, where n is `every`. In a long run, return all cases."""
    return list(cases)[:: 1 if IS_LONG else every]
