"""Tests of the night guard."""
