"""Tests of triggers and conditions, in real automations."""
