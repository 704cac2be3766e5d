"""The parts of the internet that Home Assistant asks for, on this machine.

async with Internet(...) as internet:
    async with OfflineHomeAssistant(folder, internet) as home_assistant: ...
"""

from .server import Internet, Site

__all__ = ["Internet", "Site"]
