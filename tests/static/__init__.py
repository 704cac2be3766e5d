"""Checks of files that need no running Home Assistant: the rules of hassfest and HACS, and our own."""
