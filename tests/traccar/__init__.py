"""Recorded answers of real servers. The README.md in this folder describes them."""

import json
from pathlib import Path
from typing import Any

VERSIONS = ("4.11", "6.14.5")
"""Versions of Traccar whose devices and positions were recorded."""


def recorded(version: str, what: str) -> Any:
    """Return the content of a recorded file of this version. `what` is the file's name, such as `devices-reported`."""
    path = Path(__file__).parent / f"{version}-{what}.json"
    return json.loads(path.read_bytes())
