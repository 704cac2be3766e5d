"""Checks of the project's files, without a running Home Assistant: rules of hassfest, of HACS, and our own."""
