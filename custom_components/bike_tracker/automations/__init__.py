"""Triggers and conditions. The rest of the integration starts without them."""
