"""The tracking service as Python: a client, its objects and its errors.

Nothing in here knows of Home Assistant.
"""

from .client import TrackingClient
from .errors import TrackingError
from .models import Device, DeviceStatus, Hardware, Position
from .websocket import Message, async_messages

__all__ = [
    "Device",
    "DeviceStatus",
    "Hardware",
    "Message",
    "Position",
    "TrackingClient",
    "TrackingError",
    "async_messages",
]
