"""Write the table of docs/faults.md, with the effects of all faults: python -m tests.tools.faults."""

from collections import defaultdict

from tests.tools.tables import DOCS, as_markdown, fill

from .decided import DECIDED, TROUBLES, Decided, Outcome

PAGE = DOCS / "faults.md"


def tables() -> list[str]:
    """Return the table: a row for each combination of effects, with the number of faults that have it."""
    groups: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for name, decided in DECIDED.items():
        form = decided.message.form_text if decided.message else "succeeds"
        minutes = f"{decided.next_poll // 60} min"
        effects = form, _while_running(decided), minutes
        groups[effects].append(TROUBLES[name].description)
    by_number = sorted(groups.items(), key=lambda it: (-len(it[1]), it[0][1:]))
    rows = [
        [str(len(faults)), faults[len(faults) // 2], *effects]
        for effects, faults in by_number
    ]
    head = ("Faults", "Example", "While signing in", "While running", "Next poll")
    return [as_markdown(head, rows)]


def _while_running(decided: Decided) -> str:
    if decided.message is None:
        return "the field is unknown or as sent" if decided.changes else "available"
    if decided.then is Outcome.SIGN_IN:
        return f"{Outcome.UNAVAILABLE}, then {decided.then}"
    return Outcome.UNAVAILABLE


if __name__ == "__main__":
    fill(PAGE, tables())
