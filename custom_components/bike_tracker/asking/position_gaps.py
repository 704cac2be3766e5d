"""Positions that the device list announces and the service does not have."""

from collections.abc import Collection, Iterable, Sequence
from itertools import batched
from time import monotonic
from typing import Final

from ..api import Device
from .waits import LONGEST_WAIT, Backoff, obeyed, shortened

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_BETWEEN_REQUESTS_BY_ID: Final = 10 * _MINUTE
# An address has its limits.
_IDS_AT_A_TIME: Final = 200
_GROUPS_AT_A_TIME: Final = 2


class PositionGaps:
    """Knows when to ask for them again, and when by ID."""

    def __init__(self) -> None:
        """Begin with none."""
        # Trackers and the positions of theirs that were announced and not there.
        self._announced: set[tuple[str, int | None]] = set()
        self._backoff = Backoff()
        self._since = self._again_at = self._by_id_at = 0.0
        self._groups = Groups()

    def is_due(self, wanted: Collection[Device]) -> bool:
        """Return whether one of these is to be asked for: it is new, or it is time."""
        if not wanted or monotonic() >= self._again_at:
            return bool(wanted)
        return not self._announced.issuperset(map(_announced, wanted))

    def by_id(self, lacking: Sequence[Device], spare: int) -> list[Sequence[Device]]:
        """Return whom to ask for by ID now, in groups: a request each, so many at most.

        At first that is at once, and then not again for ten minutes.
        """
        now = monotonic()
        if not spare or now < self._by_id_at or not self.is_due(lacking):
            return []
        self._by_id_at = now + _BETWEEN_REQUESTS_BY_ID
        return self._groups.of(lacking, min(spare, _GROUPS_AT_A_TIME))

    def refuse(self, group: Sequence[Device]) -> None:
        """Take in that the service refused all that were asked for together."""
        self._groups.refuse(group)

    def note(self, lacking: Iterable[Device]) -> None:
        """Take in what is lacking still: to be asked for after 1, 2, 4, 5 … minutes.

        What is lacking for an hour is asked for hourly.
        """
        before, self._announced = self._announced, set(map(_announced, lacking))
        now = monotonic()
        if not self._announced <= before:
            self._since, self._backoff = now, Backoff()
        elif not self._announced or now < self._again_at:
            return
        is_young = now - self._since < _HOUR
        wait = self._backoff.fail() if is_young else shortened(_HOUR)
        self._again_at = now + wait

    def fail(self, asked_for: float | None) -> None:
        """Take in that the service could not answer: whether it lacks them is not known."""
        self._again_at = self._by_id_at = monotonic() + obeyed(
            asked_for or 0, LONGEST_WAIT
        )


class Groups:
    """Those that are asked for together by ID: as many as possible.

    A server that knows a position no more refuses all that are asked for together with
    it: they are asked for in smaller groups then, in turn.
    """

    def __init__(self) -> None:
        """Begin with nothing refused."""
        self._size = _IDS_AT_A_TIME
        self._last = ""

    def of(self, devices: Iterable[Device], most: int) -> list[Sequence[Device]]:
        """Return so many groups of these at most, in turn after the last ones."""
        in_turn = sorted(
            devices,
            key=lambda device: (device.unique_id <= self._last, device.unique_id),
        )
        groups: list[Sequence[Device]] = [*batched(in_turn, self._size, strict=False)]
        self._last = groups[:most][-1][-1].unique_id
        self._size = _IDS_AT_A_TIME
        return groups[:most]

    def refuse(self, group: Sequence[Device]) -> None:
        """Take in that the service refused a group: the next ones are half as large."""
        self._size = min(self._size, max(1, len(group) // 2))


def _announced(device: Device) -> tuple[str, int | None]:
    return device.unique_id, device.position_id
