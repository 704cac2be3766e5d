"""A real Home Assistant in its own process and a simulated service, both for tests to control.

async with SimulatedService() as service, HomeAssistantProcess(folder) as home_assistant:
    entry_id = await home_assistant.client.add_account(service.url, EMAIL, PASSWORD)
"""

from .client import CommandError, HomeAssistantClient
from .fleet import EMAIL, PASSWORD, SimulatedService
from .home_assistant import HomeAssistantProcess

__all__ = [
    "EMAIL",
    "PASSWORD",
    "CommandError",
    "HomeAssistantClient",
    "HomeAssistantProcess",
    "SimulatedService",
]
