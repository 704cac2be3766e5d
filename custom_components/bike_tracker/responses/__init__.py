"""Responses of actions, and answers for assistants, about bikes."""
