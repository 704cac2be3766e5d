"""Long work that leaves the event loop its turn."""

import asyncio
from collections.abc import Generator

type Steps[T] = Generator[None, None, T]
"""Work in steps, of which the last returns what came of it."""

ITEMS_AT_A_TIME = 1_000
"""What a step should do: some milliseconds of work, some tens on a Raspberry Pi."""


async def in_turns[T](steps: Steps[T]) -> T:
    """Do each step in another turn of the event loop; return what comes of them."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        await asyncio.sleep(0)


def at_once[T](steps: Steps[T]) -> T:
    """Do all steps now; return what comes of them."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
