"""The tracking service as Python: a client, its objects and its errors.

Nothing in here knows of Home Assistant.
"""

from .client import TrackingClient
from .errors import (
    AuthenticationError,
    CannotConnectError,
    InvalidResponseError,
    NoAnswerError,
    RedirectedError,
    ServiceUnavailableError,
    TrackingError,
)
from .lists import Changes
from .models import Device, DeviceStatus, Hardware, Position
from .websocket import Message, async_messages

__all__ = [
    "AuthenticationError",
    "CannotConnectError",
    "Changes",
    "Device",
    "DeviceStatus",
    "Hardware",
    "InvalidResponseError",
    "Message",
    "NoAnswerError",
    "Position",
    "RedirectedError",
    "ServiceUnavailableError",
    "TrackingClient",
    "TrackingError",
    "async_messages",
]
