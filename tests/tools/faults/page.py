"""The tables of docs/faults.md: what faults do, in short."""

from collections import Counter
from collections.abc import Iterator

from tests.tools.tables import DOCS, as_markdown

from .decided import DECIDED, DECIDED_PLACES, Decided, DecidedPlace, Outcome
from .trouble import TROUBLES

PAGE = DOCS / "faults.md"

_EXAMPLES = 3


def tables() -> list[str]:
    """Return the tables of the page: what faults of the list and of positions do."""
    return [
        as_markdown(
            ("Faults", "Such as", "At set-up", "While running", "Next poll"),
            _outcomes(),
        ),
        as_markdown(("Faults", "Known place", "Asked again"), _places()),
    ]


def _outcomes() -> Iterator[list[str]]:
    """Yield how many faults end in the same way, with some of them."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, decided in DECIDED.items():
        key = (
            decided.at_setup.value,
            _while_running(decided),
            _time(decided.next_poll),
        )
        groups.setdefault(key, []).append(TROUBLES[name].description)
    for (at_setup, running, next_poll), faults in sorted(
        groups.items(), key=lambda group: -len(group[1])
    ):
        # From all over the group: neighbours are alike.
        examples = faults[:: -(-len(faults) // _EXAMPLES)]
        text = "; ".join(map(_escaped, examples))
        yield [str(len(faults)), text, at_setup, running, next_poll]


def _while_running(decided: Decided) -> str:
    if decided.then is Outcome.SIGN_IN:
        return f"{decided.while_running}, at the second time {decided.then}"
    if decided.message:
        return decided.while_running.value
    if not decided.changes:
        return "as ever"
    return "the field is unknown, or shown as sent; all else as ever"


def _places() -> Iterator[list[str]]:
    found = Counter(
        (decided.place.value, _asked_again(decided))
        for decided in DECIDED_PLACES.values()
    )
    for (place, again), faults in found.most_common():
        yield [str(faults), place, again]


def _asked_again(decided: DecidedPlace) -> str:
    if decided.asked_again is None:
        return "when it moves again"
    return _time(decided.asked_again)


def _time(seconds: int) -> str:
    return f"after {seconds // 60} min"


def _escaped(text: str) -> str:
    """Return a text that Markdown shows as it is, with names in backticks."""
    for character in "\\*_{}[]<>|":
        text = text.replace(character, f"\\{character}")
    return text
