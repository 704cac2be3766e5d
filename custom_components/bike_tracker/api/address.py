"""Parse a typed server address into the base URL of the API."""

from contextlib import suppress
import ipaddress
from itertools import takewhile
import re

from yarl import URL

from .errors import TrackingError

_API = "api"
_SCHEMES = ("http", "https")
# Names that only a local network resolves: these domains, or a name without a dot.
_LOCAL_NAME = re.compile(
    r".+\.(localhost|local|lan|home|home\.arpa|internal|fritz\.box)|[^.]+"
)
_HAS_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
# A host that ends in a number is an IP address, perhaps with a typo, and not a name.
_HOST_NAME = re.compile(
    r"(?!.{254}|(.+\.)?[0-9]+\.?$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.|$))+"
)
# Operating systems read 0x8080808 as the IP address 8.8.8.8. So such a host is not a
# local name, although it has no dot.
_NUMBER = re.compile(r"0x[0-9a-f]*")


def canonical_url(text: str) -> str:
    """Return the base URL for requests: it ends in `/api`, without a trailing slash.

    Scheme, slash and `/api` are optional in the text; the default scheme is `https`.
    Everything after `/api`, and a query or fragment copied from a browser, is dropped.

    Raises TrackingError if the text is not the address of a web server, or if it uses
    `http` for a host outside the local network.
    """
    url = _parse(text.strip())
    if url.scheme == "http" and not _is_local(host_of(str(url))):
        reason = "http is for hosts in the own network only"
        raise TrackingError(reason, code="insecure_url")
    parts = takewhile(lambda part: part != _API, url.raw_path.split("/"))
    path = "/".join(["", *filter(None, parts), _API])
    return str(url.with_path(path, encoded=True))


def possible_urls(text: str) -> list[str]:
    """Return the base URLs to try for a typed address, in the order of the attempts.

    A local host that was typed without a scheme gets a second URL, with `http`.
    """
    text = text.strip()
    urls = [canonical_url(text)]
    if not _HAS_SCHEME.match(text) and _is_local(host_of(urls[0])):
        urls.append(canonical_url(f"http://{text}"))
    return urls


def server_of(url: str) -> str:
    """Return the identity of a server: host, port and path of its base URL.

    The scheme's default port and the final `/api` are left out.
    """
    return origin_of(url) + URL(url, encoded=True).raw_path.removesuffix(f"/{_API}")


def origin_of(url: str) -> str:
    """Return the host and port of a URL. Leave out the default port of the scheme."""
    host, port = host_of(url), URL(url, encoded=True).explicit_port
    host = f"[{host}]" if ":" in host else host
    return host if port is None else f"{host}:{port}"


def host_of(url: str) -> str:
    """Return the host of a URL, without port and without a trailing dot."""
    return (URL(url, encoded=True).host or "").removesuffix(".")


def _parse(text: str) -> URL:
    if not _HAS_SCHEME.match(text):
        text = f"https://{text}"
    try:
        url = URL(text)
        is_host, port = _is_host(url), url.port
    except ValueError, IndexError:
        raise TrackingError("the address cannot be read", code="invalid_url") from None
    # Browsers silently drop spaces and control characters. Here they are an error,
    # because they are probably a typo.
    is_text = text.isprintable() and " " not in text
    has_user = url.user is not None or url.password is not None
    if has_user or not (is_text and is_host and url.scheme in _SCHEMES and port != 0):
        raise TrackingError("not the address of a web server", code="invalid_url")
    return url


def _is_host(url: URL) -> bool:
    host = url.host or ""
    # Refuse "http:/host", which would be parsed as a host named "http". Refuse an IPv6
    # zone ID, because it is valid only on one machine.
    if host in _SCHEMES or "%" in host:
        return False
    return bool(_ip_address(host) or _HOST_NAME.fullmatch(url.raw_host or ""))


def _is_local(host: str) -> bool:
    """Return whether the host is this machine or a machine in the local network."""
    if address := _ip_address(host):
        return not address.is_global
    return bool(_LOCAL_NAME.fullmatch(host)) and not _NUMBER.fullmatch(host)


def _ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    with suppress(ValueError):
        return ipaddress.ip_address(host)
    return None
