"""How much is tried: little by default, more with `scripts/test --long`."""

from collections.abc import Iterable, Sequence
import os

from hypothesis import HealthCheck, settings
import pytest

TIMES = int(os.environ.get("LONG", "1"))
"""So many times as many examples as by default."""
IS_LONG = TIMES > 1
DAYS = int(os.environ.get("DAYS", "0"))
SEED = int(os.environ.get("SEED", "1"))
"""How long `scripts/soak` takes, 0 outside of it, and with which luck."""
_IN_CI = 5
longest = pytest.mark.timeout(240 * TIMES)
"""For tests that take longest in a long run: they begin first, so that all workers end together."""


def examples(few: int, *, suppress: Iterable[HealthCheck] = ()) -> settings:
    """Return settings for so many examples, and more in a long run.

    They are the same each time: a test that fails one day and passes the next helps nobody. Who asks for more than
    `.ci/run` does looks for new ones.
    """
    return settings(
        deadline=None,
        derandomize=TIMES <= _IN_CI,
        max_examples=few * TIMES,
        suppress_health_check=list(suppress),
    )


def some[T](cases: Iterable[T], every: int) -> Sequence[T]:
    """Return every so many-th of the cases, and all of them in a long run."""
    return list(cases)[:: 1 if IS_LONG else every]
