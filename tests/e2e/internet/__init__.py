"""The internet hosts that Home Assistant needs, simulated on this machine."""

from .server import Internet, Site

__all__ = ["Internet", "Site"]
