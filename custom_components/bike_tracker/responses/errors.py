"""Errors that a person reads, in their language."""

from homeassistant.exceptions import HomeAssistantError, ServiceValidationError

from ..const import DOMAIN


def validation_error(key: str, **placeholders: str) -> ServiceValidationError:
    """Return the error of a call that was wrong."""
    return ServiceValidationError(
        translation_domain=DOMAIN,
        translation_key=key,
        translation_placeholders=placeholders,
    )


def service_error(key: str, **placeholders: str) -> HomeAssistantError:
    """Return the error of a call that was right, and could not be answered."""
    return HomeAssistantError(
        translation_domain=DOMAIN,
        translation_key=key,
        translation_placeholders=placeholders,
    )
