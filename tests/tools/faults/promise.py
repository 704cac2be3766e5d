"""How soon all has to be right again once the service is well."""

from .cases import Case, Lasted
from .decided import DECIDED, Outcome

PROMISED = 5 * 60
"""Seconds, whatever it was; what may take longer has a reason."""
# What is longer than promised: Home Assistant polls late, and places follow within seconds.
_LATENESS = 10

# A password that is really wrong must not lock an account.
_SIGN_IN = {Lasted.MINUTE: PROMISED, Lasted.HOUR: 60 * 60, Lasted.DAY: 60 * 60}

SIGN_IN_REFUSED = "the sign-in was refused, and is tried less and less often"
ASKED_TO_WAIT = "the server asked for a wait (Retry-After)"


# While it is not live, news comes once a minute: nothing is wrong for longer than that.
_LIVE_AGAIN = {Lasted.MINUTE: 4 * 60, Lasted.HOUR: 16 * 60}


def longest(case: Case) -> float:
    """Return the seconds after which all has to be right, or live again."""
    if case.path == "live":
        return _LIVE_AGAIN[case.lasted]
    wait = _wait(case)
    return PROMISED if wait <= PROMISED else wait + _LATENESS


def reason(case: Case) -> str | None:
    """Return why it may take longer than promised, None where it may not."""
    if case.path == "live" or _wait(case) <= PROMISED:
        return None
    return SIGN_IN_REFUSED if _is_sign_in(case) else ASKED_TO_WAIT


def _wait(case: Case) -> int:
    if _is_sign_in(case):
        return _SIGN_IN[case.lasted]
    return DECIDED[case.trouble].next_poll


def _is_sign_in(case: Case) -> bool:
    return case.path == "devices" and DECIDED[case.trouble].then is Outcome.SIGN_IN
