"""The tracking service as Python: a client, its objects and its errors.

Nothing in here knows of Home Assistant.
"""

from ..news import News
from .address import canonical_url, possible_urls
from .client import TrackingClient
from .errors import (
    AuthenticationError,
    CannotConnectError,
    InsecureUrlError,
    InvalidCertificateError,
    InvalidEmailError,
    InvalidResponseError,
    InvalidUrlError,
    NoAnswerError,
    RedirectedError,
    RefusedError,
    ServiceUnavailableError,
    TrackingError,
    UnknownHostError,
)
from .lists import ListReader
from .live import LiveClient
from .messages import Message
from .models import Device, DeviceStatus, Hardware, Position

__all__ = [
    "AuthenticationError",
    "CannotConnectError",
    "Device",
    "DeviceStatus",
    "Hardware",
    "InsecureUrlError",
    "InvalidCertificateError",
    "InvalidEmailError",
    "InvalidResponseError",
    "InvalidUrlError",
    "ListReader",
    "LiveClient",
    "Message",
    "News",
    "NoAnswerError",
    "Position",
    "RedirectedError",
    "RefusedError",
    "ServiceUnavailableError",
    "TrackingClient",
    "TrackingError",
    "UnknownHostError",
    "canonical_url",
    "possible_urls",
]
