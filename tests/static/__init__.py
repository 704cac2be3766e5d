"""Checks of files without Home Assistant: rules of hassfest, of HACS, and our own."""
