"""Descriptions of triggers, conditions and actions."""

from typing import Any

from homeassistant.util.yaml import load_yaml_dict

from .project import INTEGRATION


def described(kind: str) -> dict[str, Any]:
    """Return the descriptions of all `triggers`, `conditions` or `services`."""
    every = load_yaml_dict(str(INTEGRATION / f"{kind}.yaml"))
    return {name: it for name, it in every.items() if not name.startswith(".")}
