"""Measures how near to the truth rides are, and writes the tables of docs/rides.md: python -m tests.tools.rides."""

from tests.tools.tables import as_csv, fill

from .page import HEAD, PAGE, TABLE, WORLDS_HEAD, WORLDS_TABLE, measure, tables

rows = measure()
fill(PAGE, tables(rows))
TABLE.write_text(as_csv(HEAD, rows.trackers))
WORLDS_TABLE.write_text(as_csv(WORLDS_HEAD, rows.worlds))
