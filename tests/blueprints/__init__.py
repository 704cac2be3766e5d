"""Tests of the blueprints."""
