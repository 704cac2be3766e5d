"""The address that a user types, and the base URL into which it is converted."""

import pytest

from custom_components.bike_tracker.api.address import (
    canonical_url,
    possible_urls,
    server_of,
)
from custom_components.bike_tracker.api.errors import TrackingError

# Different spellings of the same server, from people, browsers and manuals.
SAME = (
    *("tracker.example.com", "https://tracker.example.com", "tracker.example.com/api/"),
    *(" tracker.example.com \n", "https://tracker.example.com/api/devices"),
    *("https://tracker.example.com/api/devices?all=true#top", "tracker.example.com:"),
    *("tracker.example.com/?next=/api", "tracker。example。com"),
)
# Addresses in the local network, where http is allowed.
OWN_NETWORK = (
    *("localhost:8082", "nas", "bikes.local", "bikes.home.arpa", "traccar.fritz.box"),
    *("5c53de3b-traccar:8082", "_traccar", "127.0.0.1:8082", "100.64.0.0"),
    *("[::1]:8082", "[::ffff:192.168.0.1]"),
)
ACCEPTED = [
    *((typed, "https://tracker.example.com/api") for typed in SAME),
    *((f"http://{host}", f"http://{host}/api") for host in OWN_NETWORK),
    ("tracker.example.com.", "https://tracker.example.com./api"),
    # Addresses with a path
    ("tracker.example.com//a//api//", "https://tracker.example.com/a/api"),
    ("tracker.example.com/a/../b", "https://tracker.example.com/b/api"),
    ("tracker.example.com/a%2fb", "https://tracker.example.com/a%2Fb/api"),
    ("tracker.example.com/%", "https://tracker.example.com/%25/api"),
    # Ports, names in other scripts, and numeric addresses
    ("tracker.example.com:8443", "https://tracker.example.com:8443/api"),
    ("http://nas:80", "http://nas/api"),
    ("bücher.example", "https://xn--bcher-kva.example/api"),
    ("https://[2001:DB8::1]:444/x", "https://[2001:db8::1]:444/x/api"),
    ("http://１９２.１６８.１.５", "http://192.168.1.5/api"),
]

NO_ADDRESS = [
    *("", "https://", "/api", "//tracker.example.com", "#x"),
    # A misspelled scheme would be read as a host, and other schemes do not belong to
    # web servers.
    *("https:\\\\tracker.example.com", "ftp://tracker.example.com"),
    # A user name or password in the address would be stored in plain text.
    *("ann@tracker.example.com", "https://ann:secret@tracker.example.com"),
    "http://192.168.1.5:80@tracker.example.com",
    *("tracker.example.com:0", "tracker.example.com:http"),
    # Spaces and control characters
    *("tracker example.com", "tracker.example.com\r\nX-Header: 1"),
    *("tracker.example.com\u202e", "tracker.example.com/a b"),
    "tracker.example.com/a\u202eb",
    # Invalid host names
    *(".", "tracker..com", "*.example.com", "tracker.example.com\\x"),
    *("http://nas\\@tracker.example.com", "%74racker.example.com"),
    *("a" * 64 + ".example.com", "a." * 127 + "a", "::1", "http://[::1"),
    # Numbers that are no IPv4 address, although operating systems may read them as one
    *("192.168.1.500", "http://192.168.1:8082", "http://127.1", "http://134744072"),
    *("http://010.8.8.8", "http://①③④⑦④④⓪⑦②", "8.8.8.8.8."),
    # An IPv6 zone, which is valid only on one machine, and an unpaired surrogate
    "http://[fe80::1%25eth0]",
    "\ud800.example.com",
]

INSECURE = [
    *("http://tracker.example.com", "http://tracker.example.com:8082/api"),
    *("http://8.8.8.8", "http://[::ffff:8.8.8.8]", "http://[64:ff9b::808:808]"),
    # Public addresses that look like local ones
    *("http://bikes.local.example.com", "http://fritz.box", "http://home.arpa"),
    "http://tracker.example.com#@nas",
    # Numbers that operating systems read as public addresses
    *("http://0x8080808", "http://0x8.0x8080808"),
]


@pytest.mark.parametrize(("typed", "url"), ACCEPTED)
def test_accepted(typed: str, url: str) -> None:
    """An accepted address is converted to the expected base URL. A base URL is not changed."""
    assert canonical_url(typed) == url
    assert canonical_url(url) == url


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        *((typed, "invalid_url") for typed in NO_ADDRESS),
        *((typed, "insecure_url") for typed in INSECURE),
    ],
)
def test_refused(typed: str, code: str) -> None:
    """The error about a wrong or insecure address does not contain it. With https, an insecure address is accepted."""
    with pytest.raises(TrackingError) as caught:
        canonical_url(typed)
    assert caught.value.code == code
    assert len(typed) < 4 or typed not in str(caught.value)
    assert "secret" not in str(caught.value)
    if code == "insecure_url":
        assert canonical_url(typed.lower().replace("http:", "https:"))


@pytest.mark.parametrize(
    ("typed", "urls"),
    [
        # In the local network, https is tried first, then http
        (" nas ", ["https://nas/api", "http://nas/api"]),
        ("NAS:8082/x", ["https://nas:8082/x/api", "http://nas:8082/x/api"]),
        ("nas:80", ["https://nas:80/api", "http://nas/api"]),
        ("nas:443", ["https://nas/api", "http://nas:443/api"]),
        ("[fd00::1]:1", ["https://[fd00::1]:1/api", "http://[fd00::1]:1/api"]),
        # Other hosts get only https
        ("tracker.example.com", ["https://tracker.example.com/api"]),
        ("8.8.8.8:8082", ["https://8.8.8.8:8082/api"]),
        ("0x8080808", ["https://0x8080808/api"]),
        # A typed scheme is kept
        ("http://nas", ["http://nas/api"]),
        (" https://nas", ["https://nas/api"]),
    ],
)
def test_possible_urls(typed: str, urls: list[str]) -> None:
    """A local host without a scheme gets a URL with https, then with http. Other addresses get only one URL."""
    assert possible_urls(typed) == urls
    assert [canonical_url(url) for url in urls] == urls


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("https://tracker.example.com/api", "tracker.example.com"),
        ("https://tracker.example.com./api", "tracker.example.com"),
        ("https://tracker.example.com:8443/api", "tracker.example.com:8443"),
        ("https://tracker.example.com/a/B/api", "tracker.example.com/a/B"),
        ("http://nas:8082/r%C3%A4der/api", "nas:8082/r%C3%A4der"),
        ("http://[fd00::1]/api", "[fd00::1]"),
        ("https://xn--bcher-kva.example/api", "bücher.example"),
    ],
)
def test_server(url: str, server: str) -> None:
    """Host, port and path identify a server, because a host may have several servers. Scheme and `/api` are left out."""
    assert server_of(url) == server
