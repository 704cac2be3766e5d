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

from .faults import FAULTS
from .live_faults import LIVE_FAULTS
from .server import Simulator, authorization
from .tls import client_context
from .world import SimPosition

__all__ = [
    "FAULTS",
    "LIVE_FAULTS",
    "SimPosition",
    "Simulator",
    "authorization",
    "client_context",
]
