"""What is described of triggers, conditions and actions."""

from typing import Any

from homeassistant.util.yaml import load_yaml_dict

from .project import INTEGRATION


def described(kind: str) -> dict[str, Any]:
    """Return what `triggers`, `conditions` or `services` there are, as described."""
    every = load_yaml_dict(str(INTEGRATION / f"{kind}.yaml"))
    return {name: what for name, what in every.items() if not name.startswith(".")}
