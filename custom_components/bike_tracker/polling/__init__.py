"""Requests to the service: what to request, when, and when to retry."""
