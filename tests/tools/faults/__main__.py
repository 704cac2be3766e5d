"""Writes the tables of docs/faults.md: python -m tests.tools.faults."""

from tests.tools.tables import fill

from .page import PAGE, tables

fill(PAGE, tables())
