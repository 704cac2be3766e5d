"""What a time with bikes left in Activity and in the database."""

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Found:
    """What is left of a time. Lines and rows are counted by the kind of their entity, as its unique ID ends."""

    days: float
    rides: int
    kilometres: float
    reports: int
    """How often trackers reported."""
    reports_ridden: int
    """Those in an hour in which the bike was ridden."""
    hours: int
    """Hours of the clock in which a bike was ridden, of all bikes."""
    lines: Counter[str]
    """Lines in Activity."""
    lines_ridden: Counter[str]
    """Those of a bike in an hour in which it was ridden."""
    rows: Counter[str]
    """States in the database."""
    values: Counter[str]
    """How often what a sensor tells was another: each would be a row without steps."""
    written: Counter[str]
    """Bytes that were written to the files of Bike Tracker, by day."""

    @property
    def lines_an_hour(self) -> float:
        """Return the lines in an hour of a bike that was ridden in it."""
        return self.lines_ridden.total() / self.hours

    @property
    def lines_an_hour_without_steps(self) -> float:
        """Return those without steps: *Last update* with each report, and no address."""
        others = self.lines_ridden - Counter(
            {kind: self.lines_ridden[kind] for kind in ("last_update", "address")}
        )
        return (others.total() + self.reports_ridden) / self.hours

    @property
    def rows_without_steps(self) -> Counter[str]:
        """Return the rows of every new value, without addresses and calendars."""
        rows = self.rows | self.values
        del rows["address"], rows["rides"]
        return rows

    @property
    def share(self) -> float:
        """Return how many of those are written."""
        return self.rows.total() / self.rows_without_steps.total()
