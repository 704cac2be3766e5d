"""The parts of the internet that Home Assistant asks for, on this machine."""

from .server import Internet, Site

__all__ = ["Internet", "Site"]
