"""A real Home Assistant in a process of its own and a simulated service, driven as a person and a browser drive them.

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
