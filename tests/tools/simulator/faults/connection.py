"""Faults of the connection: refused, reset, silent, slow, cut short."""

from aiohttp import web

from tests.tools.simulator.wire import Late, Raw, Reset, Silence, Trickle, head

from .fault import Call, Fault


def _reset_mid_body(call: Call) -> web.StreamResponse:
    body = call.body
    return Reset(head(len(body)) + body[: len(body) // 2])


def _silence_mid_body(call: Call) -> web.StreamResponse:
    body = call.body
    return Silence(head(len(body)) + body[: len(body) // 2])


def _trickle(call: Call) -> web.StreamResponse:
    body = call.body
    return Trickle(head(len(body)), body, per_second=call.options.rate)


def _late(call: Call) -> web.StreamResponse:
    return Late(head(len(call.body)) + call.body, call.options.late)


def _length_too_long(call: Call) -> web.StreamResponse:
    body = call.body
    return Raw(head(len(body) + 100) + body)


def _length_too_short(call: Call) -> web.StreamResponse:
    body = call.body
    return Raw(head(len(body) // 2) + body)


def _restart(call: Call) -> web.StreamResponse:
    call.restart(call.options.seconds)
    return Reset()


CONNECTION_FAULTS = (
    Fault("connection-refused", "nothing listens on the port", refuses=True),
    Fault(
        "close-before-headers",
        "the connection is closed without an answer",
        lambda _: Raw(),
    ),
    Fault(
        "reset-before-headers",
        "the connection is reset without an answer",
        lambda _: Reset(),
    ),
    Fault(
        "reset-before-body",
        "the connection is reset after the headers",
        lambda call: Reset(head(len(call.body))),
    ),
    Fault(
        "reset-mid-body",
        "the connection is reset after half of the body",
        _reset_mid_body,
    ),
    Fault("no-answer", "the request is taken and never answered", lambda _: Silence()),
    Fault(
        "no-answer-mid-body",
        "half of the body comes, then nothing more",
        _silence_mid_body,
    ),
    Fault("slow-body", "the body comes one byte a second", _trickle),
    Fault("late-answer", "the answer comes after 20 seconds", _late),
    Fault("length-too-long", "Content-Length is more than comes", _length_too_long),
    Fault(
        "length-too-short", "Content-Length is half of what comes", _length_too_short
    ),
    Fault(
        "not-http",
        "another protocol answers on the port",
        lambda _: Raw(b"SSH-2.0-OpenSSH_9.2\r\n"),
    ),
    Fault(
        "headers-too-long",
        "one header of a megabyte",
        lambda call: Raw(
            b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 2**20 + b"\r\n\r\n" + call.body
        ),
    ),
    Fault(
        "restart",
        "the server goes away during a call and comes back",
        _restart,
        times=1,
    ),
    Fault("tls-expired", "the certificate has expired", certificate="expired"),
    Fault(
        "tls-self-signed",
        "the certificate is signed by itself",
        certificate="self-signed",
    ),
    Fault(
        "tls-other-host",
        "the certificate is for another host",
        certificate="other-host",
    ),
)
