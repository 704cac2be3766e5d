"""Polls find out whether the live connection tells what it should."""

_TOO_MANY = 3
_MINUTE = 60


class Doubts:
    """Counts polls that bring news of which the live connection said nothing.

    Connections of this kind are known to die without a word.
    """

    def __init__(self) -> None:
        """Begin without doubts."""
        self._polls = 0
        self._since = 0.0

    def are_grave(self, now: float, *, heard: bool, untold: bool) -> bool:
        """Take in a poll; return whether the connection is to be taken for broken.

        `heard` is whether it told anything since the poll before, `untold` whether the
        poll brought news; `now` is in seconds. Polls without news prove nothing.
        """
        if heard:
            self._polls = 0
        if untold:
            self._since = self._since if self._polls else now
            self._polls += 1
        return self._polls >= _TOO_MANY and now - self._since > _MINUTE
