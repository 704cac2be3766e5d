"""The config flow, without which Home Assistant loads no entry."""

from homeassistant.config_entries import ConfigFlow


class UsualConfigFlow(ConfigFlow, domain="usual_way"):
    """Asks nothing."""
