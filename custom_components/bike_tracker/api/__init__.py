"""The tracking service as Python: a client, its objects and its errors.

Nothing in here knows of Home Assistant.
"""

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
from .news import News
from .turns import ITEMS_AT_A_TIME, Steps, at_once, in_turns

__all__ = [
    "ITEMS_AT_A_TIME",
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
    "Steps",
    "TrackingClient",
    "TrackingError",
    "UnknownHostError",
    "at_once",
    "canonical_url",
    "in_turns",
    "possible_urls",
]
