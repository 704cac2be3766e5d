"""Triggers and conditions. Home Assistant may change how: nothing else needs them to start."""
