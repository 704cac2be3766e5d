"""All faults of the simulated service, by name."""

from .fault import Call, Fault, FaultOptions
from .switchboard import FAULTS, Switchboard

__all__ = ["FAULTS", "Call", "Fault", "FaultOptions", "Switchboard"]
