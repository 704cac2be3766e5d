"""Positions that the device list announces and the service does not have."""

from collections.abc import Collection, Iterable, Sequence
from time import monotonic
from typing import Final

from .api import Device
from .backoff import Backoff, shortened

_HOUR: Final = 60 * 60
_BETWEEN_REQUESTS_BY_ID: Final = 5 * 60


class PositionGaps:
    """Knows when to ask for them again, and which of them by ID."""

    def __init__(self) -> None:
        """Begin with none."""
        # Trackers and the positions of theirs that were announced and not there.
        self._announced: set[tuple[str, int | None]] = set()
        self._backoff = Backoff()
        self._since = self._again_at = self._by_id_at = 0.0
        self._turn = 0

    def is_due(self, wanted: Collection[Device]) -> bool:
        """Return whether one of these is to be asked for: it is new, or it is time."""
        if not wanted or monotonic() >= self._again_at:
            return bool(wanted)
        return not self._announced.issuperset(map(_announced, wanted))

    def by_id(self, lacking: Sequence[Device]) -> Sequence[Device]:
        """Return those of the lacking ones that are to be asked for by ID.

        At first all, later one in turn: a server that knows a position no more refuses
        all that are asked for together with it.
        """
        now = monotonic()
        if not lacking or now < self._by_id_at:
            return []
        self._by_id_at = now + _BETWEEN_REQUESTS_BY_ID
        new = [item for item in lacking if _announced(item) not in self._announced]
        self._turn += 1
        return new or [lacking[self._turn % len(lacking)]]

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


def _announced(device: Device) -> tuple[str, int | None]:
    return device.unique_id, device.position_id
