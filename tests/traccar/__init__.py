"""Answers of real servers, see README.md beside this file."""

import json
from pathlib import Path
from typing import Any

VERSIONS = ("4.11", "6.14.5")
"""Those of which devices and positions were recorded."""


def recorded(version: str, what: str) -> Any:
    """Return what a server of this version answered."""
    path = Path(__file__).parent / f"{version}-{what}.json"
    return json.loads(path.read_bytes())
