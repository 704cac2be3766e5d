"""Every way the simulated service can fail, by name."""

from .fault import Call, Fault, FaultOptions
from .switchboard import FAULTS, Switchboard

__all__ = ["FAULTS", "Call", "Fault", "FaultOptions", "Switchboard"]
