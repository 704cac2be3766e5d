"""Requests to the service: which, when, and when again."""
