"""Every way the simulated service can fail, by name."""

from .fault import Call, Fault, FaultOptions
from .switchboard import Switchboard
from .table import FAULTS

__all__ = ["FAULTS", "Call", "Fault", "FaultOptions", "Switchboard"]
