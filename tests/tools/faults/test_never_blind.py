"""Once the service is well, all is right again soon, with nobody doing anything."""

import pytest

from tests.long import some

from .cases import CASES, Case, Lasted
from .home import Home
from .promise import longest
from .recovery import recovery

# Each of a class: of the connection, the body, the status, a value.
_LONG = {
    "devices": [
        "name-not-found",
        "no-answer",
        "tls-expired",
        "json-truncated",
        "html",
        "status-401",
        "status-404",
        "status-429-date",
        "status-500",
        "field-uniqueId-missing",
    ],
    "positions": ["no-answer", "empty-body", "status-401", "status-404"],
    "live": ["session-401", "dies"],
}
SAMPLE = [
    case
    for case in CASES
    if case.lasted is Lasted.MINUTE or case.trouble in _LONG[case.path]
]


@pytest.mark.parametrize("case", some(SAMPLE, every=8), ids=str)
async def test_right_again(home: Home, case: Case) -> None:
    """As soon as promised."""
    at_most = longest(case)
    assert await recovery(home, case, at_most) is not None, f"not after {at_most:.0f} s"
