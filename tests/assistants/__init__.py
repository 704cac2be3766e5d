"""Tests of what assistants are told of bikes."""
