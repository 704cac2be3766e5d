"""Triggers and conditions of automations.

They stand on what the service said. Home Assistant's interface for them may change:
nothing else of the integration needs what is in here to start.
"""
