"""Tests of what actions and assistants are told of bikes."""
