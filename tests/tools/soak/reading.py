"""What there is in a process that could pile up."""

from abc import ABCMeta
import asyncio
from collections.abc import Mapping
from contextlib import suppress
import ctypes
from dataclasses import dataclass, fields
import gc
import os
from pathlib import Path
from typing import Any, override

from homeassistant.core import HomeAssistant
from homeassistant.util.async_ import get_scheduled_timer_handles

# What may come and go between two readings without being a leak: a leak is one a poll.
_SLACK = {"objects": 1_000, "mib": 24, "timers": 2, "listeners": 2}
_PAGES_PER_MIB = 2**20 // os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Reading:
    """What there was at one time, after so many polls."""

    polls: int
    objects: int
    """Objects that the garbage collector knows of."""
    mib: int
    """Memory of the process; 0 where the system does not say."""
    tasks: int
    timers: int
    listeners: int
    """Of Home Assistant's events."""
    files: int
    """Open files, connections among them; 0 where the system does not say."""

    @override
    def __str__(self) -> str:
        """Return all of it in one line."""
        return ", ".join(
            f"{getattr(self, field.name):>9,} {field.name}" for field in fields(self)
        )

    def growth_since(self, before: Reading) -> dict[str, int]:
        """Return what grew by more than it may."""
        growth = {
            field.name: getattr(self, field.name) - getattr(before, field.name)
            for field in fields(self)
            if field.name != "polls"
        }
        return {
            name: number
            for name, number in growth.items()
            if number > _SLACK.get(name, 0)
        }


def read(hass: HomeAssistant, polls: int) -> Reading:
    """Return what there is now."""
    _forget_what_is_no(Mapping)
    gc.collect()
    objects = gc.get_objects()
    return Reading(
        polls=polls,
        objects=len(objects),
        mib=_mib(),
        tasks=len(asyncio.all_tasks()),
        timers=sum(
            not timer.cancelled() for timer in get_scheduled_timer_handles(hass.loop)
        ),
        listeners=sum(hass.bus.async_listeners().values()),
        files=_files(),
    )


def _forget_what_is_no(kind: type[Any]) -> None:
    """Let an abstract class and those below it forget which classes are none of it.

    Python looks whether what is logged is a mapping, and remembers the answer: hundreds
    of objects for the first error of a kind, none for the next. CPython's own search for
    leaks clears these as well.
    """
    if isinstance(kind, ABCMeta):
        kind._abc_caches_clear()  # noqa: SLF001
    for below in kind.__subclasses__():
        _forget_what_is_no(below)


def _mib() -> int:
    # Without that, the C library keeps what a large answer took for the next one.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) // _PAGES_PER_MIB if statm.exists() else 0


def _files() -> int:
    descriptors = Path("/proc/self/fd")
    return len(list(descriptors.iterdir())) if descriptors.exists() else 0
