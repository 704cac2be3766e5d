"""Faults that are an HTTP status: errors, rate limits and redirects."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http import HTTPStatus

from aiohttp import web

from tests.tools.simulator.kinds import NULL_POINTER

from .fault import Call, Fault, Respond

STATUSES = (204, 400, 401, 403, 404, 408, 418, 429, 500, 502, 503, 504)
REDIRECTS = (301, 302, 303, 307, 308)

STACK_TRACE = """\
java.lang.NullPointerException: simulated
\tat org.traccar.api.resource.DeviceResource.get(DeviceResource.java:94)
\tat org.glassfish.jersey.server.internal.ApplicationHandler.apply(ApplicationHandler.java:256)
\tat java.base/java.lang.Thread.run(Thread.java:1583)
"""


def _status(status: int, retry_after: str | None = None) -> Respond:
    def respond(call: Call) -> web.StreamResponse:
        headers = {}
        if status == HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = 'Basic realm="api"'
        wait = call.options.retry_after or retry_after
        if wait is not None:
            headers["Retry-After"] = wait
        if status == HTTPStatus.NO_CONTENT:
            return web.Response(status=status, headers=headers)
        text = STACK_TRACE if status == HTTPStatus.BAD_REQUEST else None
        phrase = f"{status} {HTTPStatus(status).phrase}"
        return web.Response(status=status, headers=headers, text=text or phrase)

    return respond


def _too_many_until_a_date(call: Call) -> web.StreamResponse:
    # The date in the header has whole seconds. With half a second more, the wait differs
    # from two minutes by at most half a second.
    then = datetime.now(UTC) + timedelta(minutes=2, seconds=0.5)
    return _status(429, format_datetime(then, usegmt=True))(call)


def _redirect(status: int, *, other: bool) -> Respond:
    def respond(call: Call) -> web.StreamResponse:
        base = call.other_base if other else call.base
        location = f"{base}/moved/{call.path}"
        return web.Response(status=status, headers={"Location": location})

    return respond


STATUS_FAULTS = (
    *(
        Fault(
            f"status-{status}", f"{status} {HTTPStatus(status).phrase}", _status(status)
        )
        for status in STATUSES
    ),
    Fault(
        "status-400-sign-in",
        "400 as Traccar 5.12 answers a wrong password",
        lambda _: web.Response(status=400, text=NULL_POINTER),
    ),
    Fault("status-401-once", "401 once, then all is well", _status(401), times=1),
    Fault(
        "status-429-seconds",
        "429 with a Retry-After of 120 seconds",
        _status(429, "120"),
    ),
    Fault(
        "status-429-date",
        "429 with a Retry-After that is a date, two minutes ahead",
        _too_many_until_a_date,
    ),
    Fault(
        "status-429-nonsense",
        "429 with a Retry-After that means nothing",
        _status(429, "soon"),
    ),
    Fault(
        "status-429-negative", "429 with a Retry-After below zero", _status(429, "-5")
    ),
    *(
        Fault(
            f"redirect-{status}-{'other' if other else 'same'}",
            f"{status} to {'another' if other else 'the same'} origin",
            _redirect(status, other=other),
            redirects=True,
        )
        for status in REDIRECTS
        for other in (False, True)
    ),
)
