"""Triggers and conditions. If they cannot be imported, the rest of the integration still starts."""
