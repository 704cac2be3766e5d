"""The address of a server, as people type it and as requests need it."""

from contextlib import suppress
import ipaddress
from itertools import takewhile
import re

from yarl import URL

from .errors import TrackingError

_API = "api"
_SCHEMES = ("http", "https")
# Under what only an own network has names, or without a dot.
_LOCAL_NAME = re.compile(
    r".+\.(localhost|local|lan|home|home\.arpa|internal|fritz\.box)|[^.]+"
)
_HAS_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_HOST_NAME = re.compile(r"(?!.{254})([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.|$))+")
# What systems read as a whole address: 134744072 and 0x8080808 are 8.8.8.8.
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def canonical_url(text: str) -> str:
    """Return the base address for requests: no trailing slash, ends in `/api`.

    Scheme, slash and `/api` may be missing; without a scheme it is `https`.
    A query or a fragment, as copied from a browser, is dropped.

    Raises TrackingError if the text is no address of a web server, and for `http` to a
    host outside the own network.
    """
    url = _parse(text.strip())
    if url.scheme == "http" and not _is_local(host_of(str(url))):
        reason = "http is for hosts in the own network only"
        raise TrackingError(reason, code="insecure_url")
    parts = takewhile(lambda part: part != _API, url.raw_path.split("/"))
    path = "/".join(["", *filter(None, parts), _API])
    return str(url.with_path(path, encoded=True))


def possible_urls(text: str) -> list[str]:
    """Return the base addresses that a text may mean, in the order to try them.

    There is a second one, with `http`, for a host in the own network without a scheme.
    """
    text = text.strip()
    urls = [canonical_url(text)]
    if not _HAS_SCHEME.match(text) and _is_local(host_of(urls[0])):
        urls.append(canonical_url(f"http://{text}"))
    return urls


def server_of(url: str) -> str:
    """Return what tells a server from others: host, port and path of an address.

    The port is left out if it is that of the scheme, the path without its `/api`.
    """
    return origin_of(url) + URL(url, encoded=True).raw_path.removesuffix(f"/{_API}")


def origin_of(url: str) -> str:
    """Return host and port of an address, without a port that is that of the scheme."""
    host, port = host_of(url), URL(url, encoded=True).explicit_port
    host = f"[{host}]" if ":" in host else host
    return host if port is None else f"{host}:{port}"


def host_of(url: str) -> str:
    """Return the host of an address, without port and without a dot at the end."""
    return (URL(url, encoded=True).host or "").removesuffix(".")


def _parse(text: str) -> URL:
    if not _HAS_SCHEME.match(text):
        text = f"https://{text}"
    try:
        url = URL(text)
        is_host, port = _is_host(url), url.port
    except ValueError, IndexError:
        raise TrackingError("the address cannot be read", code="invalid_url") from None
    # Browsers drop these inside an address; here they are an error.
    is_text = text.isprintable() and " " not in text
    has_user = url.user is not None or url.password is not None
    if has_user or not (is_text and is_host and url.scheme in _SCHEMES and port != 0):
        raise TrackingError("the address is no web server's", code="invalid_url")
    return url


def _is_host(url: URL) -> bool:
    host = url.host or ""
    # Half a scheme is read as a host. A zone is what no server can tell.
    if host in _SCHEMES or "%" in host:
        return False
    return bool(_ip_address(host) or _HOST_NAME.fullmatch(url.raw_host or ""))


def _is_local(host: str) -> bool:
    """Return whether the host is this machine or in the own network."""
    if address := _ip_address(host):
        return not address.is_global
    return bool(_LOCAL_NAME.fullmatch(host)) and not _NUMBER.fullmatch(host)


def _ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    with suppress(ValueError):
        return ipaddress.ip_address(host)
    return None
