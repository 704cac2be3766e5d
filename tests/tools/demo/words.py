"""How states are told in the table of the check, the same for what is and for what should be."""

MISSING = "missing"
DISABLED = "disabled"
UNKNOWN = "unknown"
NOTHING = "nothing"
WRITTEN = "written"
NO_VALUE = (MISSING, DISABLED, UNKNOWN, "unavailable")


def device(name: str, serial_number: str) -> str:
    """Tell of a device."""
    return f"{name}, serial number {serial_number}"


def place(state: str, latitude: float, longitude: float, accuracy: float) -> str:
    """Tell where a tracker is: the zone, degrees, metres."""
    return f"{state} at {latitude:.6f}, {longitude:.6f}, {accuracy:g} m"


def number(value: float, unit: str) -> str:
    """Tell a number in a unit, with at most three decimals."""
    return f"{value:.3f}".rstrip("0").rstrip(".") + f" {unit}"


def yes_or_no(value: object) -> str:
    """Tell a yes or no as a binary sensor does."""
    return "on" if value is True else "off"
