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
    Fault(
        name="connection-refused",
        description="nothing listens on the port",
        refuses=True,
    ),
    Fault(
        name="close-before-headers",
        description="the connection is closed without an answer",
        respond=lambda _: Raw(),
    ),
    Fault(
        name="reset-before-headers",
        description="the connection is reset without an answer",
        respond=lambda _: Reset(),
    ),
    Fault(
        name="reset-before-body",
        description="the connection is reset after the headers",
        respond=lambda call: Reset(head(len(call.body))),
    ),
    Fault(
        name="reset-mid-body",
        description="the connection is reset after half of the body",
        respond=_reset_mid_body,
    ),
    Fault(
        name="no-answer",
        description="the request is taken and never answered",
        respond=lambda _: Silence(),
    ),
    Fault(
        name="no-answer-mid-body",
        description="half of the body comes, then nothing more",
        respond=_silence_mid_body,
    ),
    Fault(
        name="slow-body",
        description="the body comes one byte a second",
        respond=_trickle,
    ),
    Fault(
        name="late-answer",
        description="the answer comes after 20 seconds",
        respond=_late,
    ),
    Fault(
        name="length-too-long",
        description="Content-Length is more than comes",
        respond=_length_too_long,
    ),
    Fault(
        name="length-too-short",
        description="Content-Length is half of what comes",
        respond=_length_too_short,
    ),
    Fault(
        name="not-http",
        description="another protocol answers on the port",
        respond=lambda _: Raw(b"SSH-2.0-OpenSSH_9.2\r\n"),
    ),
    Fault(
        name="headers-too-long",
        description="one header of a megabyte",
        respond=lambda call: Raw(
            b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 2**20 + b"\r\n\r\n" + call.body
        ),
    ),
    Fault(
        name="restart",
        description="the server goes away during a call and comes back",
        respond=_restart,
        times=1,
    ),
    Fault(
        name="tls-expired",
        description="the certificate has expired",
        certificate="expired",
    ),
    Fault(
        name="tls-self-signed",
        description="the certificate is signed by itself",
        certificate="self-signed",
    ),
    Fault(
        name="tls-other-host",
        description="the certificate is for another host",
        certificate="other-host",
    ),
)
