"""Tests of the responses to actions and assistants."""
