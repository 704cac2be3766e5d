"""One tracker as it is known."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..api import Device, Position


@dataclass(frozen=True, slots=True)
class Tracker:
    """What is known of one tracker. Another object means that something changed."""

    device: Device
    position: Position | None


type Trackers = Mapping[str, Tracker]
"""All trackers of an account at one moment, by `uniqueId`; never changed afterwards."""
