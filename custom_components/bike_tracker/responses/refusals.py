"""What a person is told who asked for what there is not, in their language."""

from homeassistant.exceptions import HomeAssistantError, ServiceValidationError

from ..const import DOMAIN


def refused(key: str, **placeholders: str) -> ServiceValidationError:
    """Return that the question was wrong."""
    return ServiceValidationError(
        translation_domain=DOMAIN,
        translation_key=key,
        translation_placeholders=placeholders,
    )


def failed(key: str, **placeholders: str) -> HomeAssistantError:
    """Return that the question was right, and could not be answered."""
    return HomeAssistantError(
        translation_domain=DOMAIN,
        translation_key=key,
        translation_placeholders=placeholders,
    )
