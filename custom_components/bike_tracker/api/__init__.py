"""The tracking service as Python: a client, its objects and its errors.

Nothing in here knows of Home Assistant.
"""
