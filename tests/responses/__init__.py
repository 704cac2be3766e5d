"""Tests of the answers to actions and to assistants."""
