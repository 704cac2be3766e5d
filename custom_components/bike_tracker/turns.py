"""Long loops that leave the event loop its turn."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from itertools import batched

# A millisecond or two of work, some more on a Raspberry Pi.
_ITEMS_AT_A_TIME = 1_000


async def in_turns[T](items: Iterable[T]) -> AsyncIterator[tuple[T, ...]]:
    """Yield the items some at a time, each time in another turn of the event loop."""
    for number, some in enumerate(batched(items, _ITEMS_AT_A_TIME, strict=False)):
        if number:
            await asyncio.sleep(0)
        yield some
