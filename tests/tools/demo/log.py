"""What Home Assistant wrote to its log."""

from collections.abc import Iterator
from dataclasses import dataclass
import logging
import re

_RECORD = re.compile(
    r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S* (?P<level>[A-Z]+) \([^)]*\) \[(?P<logger>[^]]+)\] "
)
_NOT_A_RECORD = "output"
# Home Assistant's own notes on how long something took.
_SLOW = re.compile(r"\b(took|is taking (over|longer than)) \d+(\.\d+)? seconds")


@dataclass(frozen=True, slots=True)
class Record:
    """One entry of the log with all its lines."""

    level: int
    logger: str
    text: str


def records(text: str) -> Iterator[Record]:
    """Yield the entries; what was written past the logging counts as an error."""
    level, logger, lines = logging.ERROR, _NOT_A_RECORD, list[str]()
    for line in text.splitlines():
        if start := _RECORD.match(line):
            if lines:
                yield Record(level, logger, "\n".join(lines))
            level = logging.getLevelNamesMapping()[start["level"]]
            logger, lines = start["logger"], []
        lines.append(line)
    if lines:
        yield Record(level, logger, "\n".join(lines))


def complaints(text: str, integration: str) -> list[Record]:
    """Return what is at WARNING or above and comes from the integration or names it."""
    return [
        record
        for record in records(text)
        if record.level >= logging.WARNING
        and integration in record.text
        and not _is_note_on_custom_integrations(record)
        and not _is_note_on_time(record)
    ]


def _is_note_on_custom_integrations(record: Record) -> bool:
    """Return whether this is what Home Assistant says of every custom integration."""
    return record.logger == "homeassistant.loader" and (
        "has not been tested by Home Assistant" in record.text
    )


def _is_note_on_time(record: Record) -> bool:
    """Return whether this is Home Assistant's word that it was slow: the machine may be busy."""
    return (
        record.logger.startswith("homeassistant.")
        and record.level == logging.WARNING
        and _SLOW.search(record.text) is not None
    )
