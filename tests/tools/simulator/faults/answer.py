"""Faults of the connection and of the whole body: refused, cut off, slow, not JSON, or too large."""

from collections.abc import Iterator
from functools import lru_cache
import zlib

from aiohttp import web

from tests.tools.simulator.wire import (
    Late,
    Raw,
    Reset,
    Silence,
    Streamed,
    Trickle,
    head,
)

from .fault import Call, Fault, as_json

DEPTH = 100_000
SIZE = 64 * 2**20
CHUNK = 2**20
GZIP = 16 + zlib.MAX_WBITS
DEFLATE = zlib.MAX_WBITS

HTML = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in</body></html>"


def _padded(body: bytes) -> Iterator[bytes]:
    """Yield a JSON body in chunks, with white space after its first byte. The result has 64 MiB."""
    yield body[:1]
    padding = SIZE - len(body)
    for start in range(0, padding, CHUNK):
        yield b" " * min(CHUNK, padding - start)
    yield body[1:]


@lru_cache(maxsize=2)
def _bomb(body: bytes, wbits: int) -> bytes:
    compressor = zlib.compressobj(9, wbits=wbits)
    parts = [compressor.compress(chunk) for chunk in _padded(body)]
    return b"".join([*parts, compressor.flush()])


def _encoded(body: bytes, encoding: str) -> web.Response:
    response = as_json(body)
    response.headers["Content-Encoding"] = encoding
    return response


BODY_FAULTS = (
    Fault(
        "json-truncated",
        "the JSON ends in the middle",
        lambda call: as_json(call.body[: len(call.body) // 2]),
    ),
    Fault(
        "invalid-utf8",
        "a byte that is no UTF-8",
        lambda call: as_json(call.body.replace(b'"name": "', b'"name": "\xff')),
    ),
    Fault("empty-body", "a 200 with an empty body", lambda _: as_json(b"")),
    Fault(
        "html",
        "a 200 with a web page",
        lambda _: web.Response(text=HTML, content_type="text/html"),
    ),
    Fault("html-as-json", "a web page that claims to be JSON", lambda _: as_json(HTML)),
    Fault(
        "json-as-text",
        "the right JSON, called text/plain",
        lambda call: web.Response(body=call.body, content_type="text/plain"),
    ),
    Fault(
        "json-as-nothing",
        "the right JSON without a content type",
        lambda call: Raw(head(len(call.body), content_type=None) + call.body),
    ),
    Fault("json-object", "an object in place of the array", lambda _: as_json("{}")),
    Fault("json-null", "null in place of the array", lambda _: as_json("null")),
    Fault(
        "json-string", "a string in place of the array", lambda _: as_json('"devices"')
    ),
    Fault("json-number", "a number in place of the array", lambda _: as_json("0")),
    Fault(
        "json-mixed",
        "an array of anything but objects",
        lambda _: as_json('[1, "a", null, []]'),
    ),
    Fault(
        "json-deep-arrays",
        "arrays nested 100,000 deep",
        lambda _: as_json("[" * DEPTH + "]" * DEPTH),
    ),
    Fault(
        "json-deep-objects",
        "objects nested 100,000 deep",
        lambda _: as_json('{"a":' * DEPTH + "0" + "}" * DEPTH),
    ),
    Fault(
        "huge-body",
        "64 MB, announced by Content-Length",
        lambda call: Streamed(_padded(call.body), length=SIZE),
    ),
    Fault(
        "huge-body-chunked",
        "64 MB, not announced",
        lambda call: Streamed(_padded(call.body)),
    ),
    Fault(
        "gzip-bomb",
        "64 kB that are 64 MB once decompressed (gzip)",
        lambda call: _encoded(_bomb(call.body, GZIP), "gzip"),
    ),
    Fault(
        "deflate-bomb",
        "64 kB that are 64 MB once decompressed (deflate)",
        lambda call: _encoded(_bomb(call.body, DEFLATE), "deflate"),
    ),
    Fault(
        "gzip-broken",
        "plain JSON that claims to be gzip",
        lambda call: _encoded(call.body, "gzip"),
    ),
)


def _half(call: Call) -> bytes:
    return head(len(call.body)) + call.body[: len(call.body) // 2]


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
        lambda call: Reset(_half(call)),
    ),
    Fault("no-answer", "the request is taken and never answered", lambda _: Silence()),
    Fault(
        "no-answer-mid-body",
        "half of the body comes, then nothing more",
        lambda call: Silence(_half(call)),
    ),
    Fault(
        "slow-body",
        "the body comes one byte a second",
        lambda call: Trickle(
            head(len(call.body)), call.body, per_second=call.options.rate
        ),
    ),
    Fault(
        "late-answer",
        "the answer comes after 20 seconds",
        lambda call: Late(head(len(call.body)) + call.body, call.options.late),
    ),
    Fault(
        "length-too-long",
        "Content-Length is more than comes",
        lambda call: Raw(head(len(call.body) + 100) + call.body),
    ),
    Fault(
        "length-too-short",
        "Content-Length is half of what comes",
        lambda call: Raw(head(len(call.body) // 2) + call.body),
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
        "the certificate is self-signed",
        certificate="self-signed",
    ),
    Fault(
        "tls-other-host",
        "the certificate is for another host",
        certificate="other-host",
    ),
)
