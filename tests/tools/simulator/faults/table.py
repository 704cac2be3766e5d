"""The table of all faults."""

from .body import BODY_FAULTS
from .connection import CONNECTION_FAULTS
from .fault import Fault
from .status import STATUS_FAULTS
from .value import VALUE_FAULTS

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (*CONNECTION_FAULTS, *BODY_FAULTS, *STATUS_FAULTS, *VALUE_FAULTS)
}
