"""The number of examples: few by default, more with `scripts/test --long`."""

from collections.abc import Iterable, Sequence
import os

from hypothesis import HealthCheck, settings
import pytest

TIMES = int(os.environ.get("LONG", "1"))
"""Factor for the number of examples."""
IS_LONG = TIMES > 1
DAYS = int(os.environ.get("DAYS", "0"))
SEED = int(os.environ.get("SEED", "1"))
"""The length of the soak test in days, 0 by default, and its random seed."""
_IN_CI = 5
longest = pytest.mark.timeout(240 * TIMES)
"""For the longest tests of a long run: they begin first, so that all workers end together."""


def examples(few: int, *, suppress: Iterable[HealthCheck] = ()) -> settings:
    """Return settings for this number of examples, and more in a long run.

    The examples are the same in each run, so that a test does not fail at random. A long
    run with a higher factor finds new ones.
    """
    return settings(
        deadline=None,
        derandomize=TIMES <= _IN_CI,
        max_examples=few * TIMES,
        suppress_health_check=list(suppress),
    )


def some[T](cases: Iterable[T], every: int) -> Sequence[T]:
    """Return every n-th case, or all cases in a long run."""
    return list(cases)[:: 1 if IS_LONG else every]
