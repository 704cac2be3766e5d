"""Positions that the device list announces and the service does not have."""

from collections.abc import Collection, Iterable, Sequence
from itertools import batched
from time import monotonic
from typing import Final, NamedTuple

from ..api import Device
from .waits import LONGEST_WAIT, MINUTE, MISSING_POSITION, NONE_FAILED, Row, obeyed

_BETWEEN_REQUESTS_BY_ID: Final = 10 * MINUTE
# An address has its limits.
_IDS_AT_A_TIME: Final = 200
_GROUPS_AT_A_TIME: Final = 2

type _Announced = frozenset[tuple[str, int | None]]


class Missing(NamedTuple):
    """When to ask for them again, and when by ID."""

    announced: _Announced = frozenset()
    """Trackers and the positions of theirs that were announced and not there."""
    tries: Row = NONE_FAILED
    again_at: float = 0.0
    by_id_at: float = 0.0
    last: str = ""
    """Of which tracker a position was asked for by ID last."""
    smaller: int = 0
    """How many to ask for together, if the service refused more."""

    def is_due(self, wanted: Collection[Device]) -> bool:
        """Return whether one of these is to be asked for: it is new, or it is time."""
        is_time = monotonic() >= self.again_at
        return bool(wanted) and (is_time or not _announced(wanted) <= self.announced)

    def by_id(
        self, lacking: Collection[Device], spare: int
    ) -> tuple[Missing, Sequence[Sequence[Device]]]:
        """Return whom to ask for by ID now, in groups: a request each, so many at most."""
        now = monotonic()
        if not spare or now < self.by_id_at or not self.is_due(lacking):
            return self, []
        # They have their turn after the last ones.
        in_turn = sorted(
            lacking, key=lambda it: (it.unique_id <= self.last, it.unique_id)
        )
        size = self.smaller or _IDS_AT_A_TIME
        due = in_turn[: size * min(spare, _GROUPS_AT_A_TIME)]
        by_id_at, last = now + _BETWEEN_REQUESTS_BY_ID, due[-1].unique_id
        missing = self._replace(by_id_at=by_id_at, last=last, smaller=0)
        return missing, list(batched(due, size, strict=False))

    def refused(self, group: Sequence[Device]) -> Missing:
        """Return this after the service refused all that were asked for together.

        It does so where it knows one of them no more: the next groups are half as large.
        """
        half = max(1, len(group) // 2)
        return self._replace(smaller=min(self.smaller or half, half))

    def noted(self, lacking: Iterable[Device]) -> Missing:
        """Return this with what is lacking still."""
        announced = _announced(lacking)
        if not announced <= self.announced:
            tries = NONE_FAILED.another()
        elif announced and monotonic() >= self.again_at:
            tries = self.tries.another()
        else:
            return self._replace(announced=announced)
        again_at = monotonic() + MISSING_POSITION.after(tries)
        return self._replace(announced=announced, tries=tries, again_at=again_at)

    def unanswered(self, asked_for: float | None) -> Missing:
        """Return this after no answer: whether the service lacks them is not known."""
        again_at = monotonic() + obeyed(asked_for, LONGEST_WAIT)
        return self._replace(again_at=again_at, by_id_at=again_at)


def _announced(devices: Iterable[Device]) -> _Announced:
    return frozenset((device.unique_id, device.position_id) for device in devices)
