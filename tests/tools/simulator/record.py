"""The requests that the simulator got."""

from collections import Counter, deque
from dataclasses import dataclass
from datetime import UTC, datetime

from aiohttp import web

KEPT = 10_000


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One request as it came in."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    time: datetime
    account: str | None

    def header(self, name: str) -> str | None:
        """Return the value of a header by its name in any case, or None."""
        values = self.all_headers(name)
        return values[0] if values else None

    def all_headers(self, name: str) -> list[str]:
        """Return each value of a header that may have come more than once."""
        return [value for key, value in self.headers if key.lower() == name.lower()]


class Record:
    """The last requests in full, and how many there were by path."""

    def __init__(self) -> None:
        """Start empty."""
        self.requests: deque[RecordedRequest] = deque(maxlen=KEPT)
        self.counts: Counter[str] = Counter()

    def add(self, request: web.BaseRequest, account: str | None) -> None:
        """Note a request and the e-mail of the account whose credentials it carried."""
        self.counts[request.path] += 1
        self.requests.append(
            RecordedRequest(
                method=request.method,
                path=request.path,
                query=request.query_string,
                headers=tuple(request.headers.items()),
                time=datetime.now(UTC),
                account=account,
            )
        )

    def clear(self) -> None:
        """Forget everything."""
        self.requests.clear()
        self.counts.clear()
