"""The config flow that adds the phone."""

from typing import Any, override

from homeassistant.config_entries import ConfigFlow, ConfigFlowResult

NAME = "Ann's phone"


class PhoneConfigFlow(ConfigFlow, domain="mobile_app"):
    """A config flow without questions, for the only phone."""

    @override
    async def async_step_user(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Add the phone."""
        return self.async_create_entry(title=NAME, data={})
