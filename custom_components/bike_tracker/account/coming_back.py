"""What is shown of a tracker that comes back: first where it was, then where it is.

Home Assistant's zone triggers ignore what changes from unavailable, so a ride away during
an outage, a reload or a restart would go unnoticed.
"""

from ..api import Position


class HeldBack:
    """Where trackers are that are still shown where they were."""

    def __init__(self) -> None:
        """Begin with none."""
        self._positions: dict[str, Position] = {}

    def __bool__(self) -> bool:
        """Return whether some trackers are held back."""
        return bool(self._positions)

    def __contains__(self, unique_id: object) -> bool:
        """Return whether a tracker is."""
        return unique_id in self._positions

    def is_to_hold(
        self, unique_id: str, *, was_somewhere: bool, came_back: bool
    ) -> bool:
        """Return whether a tracker that reports is to be shown where it was for now."""
        return unique_id in self._positions or (was_somewhere and came_back)

    def get(self, unique_id: str) -> Position | None:
        """Return where a tracker is that is held back."""
        return self._positions.get(unique_id)

    def hold(self, unique_id: str, position: Position) -> None:
        """Hold a tracker back that is there."""
        self._positions[unique_id] = position

    def release(self) -> dict[str, Position]:
        """Return where they are, and hold none back any more."""
        released, self._positions = self._positions, {}
        return released

    def forget(self, unique_id: str) -> None:
        """Forget a tracker."""
        self._positions.pop(unique_id, None)
