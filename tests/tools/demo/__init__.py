"""A real Home Assistant and a simulator, each in a process of its own, driven as a person and a browser drive them.

async with SimulatorProcess() as simulator, HomeAssistantProcess(folder) as home_assistant:
    entry_id = await home_assistant.client.add_account(simulator.url, EMAIL, PASSWORD)
"""

from .client import CommandError, FlowError, HomeAssistantClient, RequestError, State
from .home_assistant import HomeAssistantProcess
from .log import Record
from .process import ProcessEndedError
from .simulator import EMAIL, PASSWORD, SimulatorProcess

__all__ = [
    "EMAIL",
    "PASSWORD",
    "CommandError",
    "FlowError",
    "HomeAssistantClient",
    "HomeAssistantProcess",
    "ProcessEndedError",
    "Record",
    "RequestError",
    "SimulatorProcess",
    "State",
]
