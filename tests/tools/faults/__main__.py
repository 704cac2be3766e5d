"""Write the table of docs/faults.md, with the effects of all faults: python -m tests.tools.faults."""

from collections import defaultdict
from collections.abc import Iterator
import re

from tests.tools.tables import DOCS, as_markdown, fill

from .decided import DECIDED, Decided, Outcome, form_text
from .trouble import TROUBLES

PAGE = DOCS / "faults.md"


def tables() -> list[str]:
    """Return the tables of docs/faults.md."""
    head = ("Faults", "Example", "While signing in", "While running", "Next poll")
    return [as_markdown(head, _outcomes())]


def _outcomes() -> Iterator[list[str]]:
    """Yield a row for each combination of effects: the number of faults that have it, an example, the effects."""
    groups: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for name, decided in DECIDED.items():
        minutes = f"{decided.next_poll // 60} min"
        key = form_text(decided.form_error), _while_running(decided), minutes
        groups[key].append(TROUBLES[name].description)
    by_number = sorted(groups.items(), key=lambda it: (-len(it[1]), it[0][1:]))
    for outcome, faults in by_number:
        yield [str(len(faults)), _escaped(faults[len(faults) // 2]), *outcome]


def _while_running(decided: Decided) -> str:
    if decided.then is Outcome.SIGN_IN:
        return f"{decided.while_running}, then {decided.then}"
    if decided.message:
        return decided.while_running.value
    return "the field is unknown or as sent" if decided.changes else "available"


def _escaped(text: str) -> str:
    """Return a text in which the special characters of Markdown are escaped, except backticks."""
    return re.sub(r"[\\*_{}[\]<>|]", r"\\\g<0>", text)


if __name__ == "__main__":
    fill(PAGE, tables())
