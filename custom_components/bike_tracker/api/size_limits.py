"""How much of what the service says is taken in."""

from typing import Final

from .errors import InvalidResponseError

MOST_BYTES: Final = 16 * 1024 * 1024
"""Of one answer or message, decompressed."""
# What lists of ten thousand trackers need. Of `{}` alone, 16 MiB would take up a hundred
# times as much once read.
_MOST_VALUES: Final = 400_000


def refuse_too_many_values(data: bytes) -> None:
    """Raise InvalidResponseError for what would fill the memory once it is read.

    Each value follows on one of these signs, so there cannot be more of them.
    """
    if len(data) > _MOST_VALUES < sum(map(data.count, (b"[", b"{", b","))):
        raise InvalidResponseError("too many values", is_too_large=True)
