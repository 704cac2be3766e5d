"""A simulator of the tracking service, over real sockets.

In a test:

    async with Simulator() as simulator:
        simulator.add_account("rider@example.com", "secret")
        simulator.add_device("860000000000001", name="City bike", email="rider@example.com")
        ...  # talk to simulator.url, then look at simulator.requests
        simulator.set_status("860000000000001", "offline")  # any method of World
        simulator.fault("status-429", retry_after="120", times=1)  # any name in FAULTS
        simulator.fault(None)
"""

from .faults import FAULTS, Fault
from .kinds import KINDS
from .live_faults import LIVE_FAULTS, LiveFault
from .record import RecordedRequest
from .server import Simulator, authorization
from .tls import client_context
from .world import MISSING, SimAccount, SimDevice, SimPosition, World

__all__ = [
    "FAULTS",
    "KINDS",
    "LIVE_FAULTS",
    "MISSING",
    "Fault",
    "LiveFault",
    "RecordedRequest",
    "SimAccount",
    "SimDevice",
    "SimPosition",
    "Simulator",
    "World",
    "authorization",
    "client_context",
]
