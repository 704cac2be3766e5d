"""Checks of files without a running Home Assistant: the rules of hassfest and HACS, and the project's own."""
