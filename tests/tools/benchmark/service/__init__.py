"""The other side of the sockets: one fleet, served in the words of each candidate."""

from .client import Service

__all__ = ["Service"]
