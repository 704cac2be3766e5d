"""The requests that the simulator has received."""

from collections import Counter, deque
from dataclasses import dataclass
from datetime import UTC, datetime

from aiohttp import web

KEPT = 10_000


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as it was received."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    time: datetime
    account: str | None

    def header(self, name: str) -> str | None:
        """Return the first value of a header, or None without this header. The name may be in upper or lower case."""
        values = self.all_headers(name)
        return values[0] if values else None

    def all_headers(self, name: str) -> list[str]:
        """Return the value of each header with this name, in the order in which they were sent."""
        return [value for key, value in self.headers if key.lower() == name.lower()]


class Record:
    """The last 10,000 requests with all details, and the number of all requests to each path."""

    def __init__(self) -> None:
        """Begin without requests."""
        self.requests: deque[RecordedRequest] = deque(maxlen=KEPT)
        self.counts: Counter[str] = Counter()

    def add(self, request: web.BaseRequest, account: str | None) -> None:
        """Add a request. `account` is the email of the account that sent it, or None for an unknown sender."""
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
        """Forget all requests."""
        self.requests.clear()
        self.counts.clear()
