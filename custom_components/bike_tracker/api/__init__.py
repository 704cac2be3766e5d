"""The tracking service as Python: a client, its objects and its errors.

Nothing in here knows of Home Assistant.
"""

from .address import canonical_url
from .client import TrackingClient
from .errors import (
    AuthenticationError,
    CannotConnectError,
    InsecureUrlError,
    InvalidEmailError,
    InvalidResponseError,
    InvalidUrlError,
    RedirectedError,
    ServiceUnavailableError,
    TrackingError,
)
from .models import Device, Position
from .news import News

__all__ = [
    "AuthenticationError",
    "CannotConnectError",
    "Device",
    "InsecureUrlError",
    "InvalidEmailError",
    "InvalidResponseError",
    "InvalidUrlError",
    "News",
    "Position",
    "RedirectedError",
    "ServiceUnavailableError",
    "TrackingClient",
    "TrackingError",
    "canonical_url",
]
