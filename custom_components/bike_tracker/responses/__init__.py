"""Responses of actions, and answers of assistants, about bikes."""
