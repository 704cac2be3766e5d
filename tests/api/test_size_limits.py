"""How much of an answer is read, and what that costs."""

from collections.abc import Callable
from compression import zstd
import gzip
import tracemalloc

from aiohttp import web
from aiohttp.test_utils import RawTestServer
import orjson
import pytest

from custom_components.bike_tracker.api.client import TrackingClient
from custom_components.bike_tracker.api.errors import InvalidResponseError
from tests.tools.simulator import Simulator

from .conftest import MakeClient
from .rows import DEVICE

MIB = 2**20
MAX_BYTES = 8 * MIB
# The body twice, as it grows and as bytes, and what aiohttp keeps of it on the way.
MAX_MEMORY = 24 * MIB

COMPRESS: dict[str | None, Callable[[bytes], bytes]] = {
    None: bytes,
    "gzip": gzip.compress,
    "zstd": zstd.compress,
}


def padded(size: int) -> bytes:
    """Return a good list of one tracker of this size."""
    row = orjson.dumps(DEVICE)
    return b"[" + b" " * (size - len(row) - 2) + row + b"]"


@pytest.mark.parametrize(
    "name", ["huge-body", "huge-body-chunked", "gzip-bomb", "deflate-bomb"]
)
async def test_64_mib(simulator: Simulator, client: TrackingClient, name: str) -> None:
    """A list that is good but for its size is refused before it fills the memory."""
    simulator.fault(name)
    # Let the simulator make and keep its bomb.
    with pytest.raises(InvalidResponseError):
        await client.async_get_devices()
    tracemalloc.start()
    with pytest.raises(InvalidResponseError, match="more than 8 MiB") as caught:
        await client.async_get_devices()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < MAX_MEMORY
    assert caught.value.is_too_large
    simulator.fault(None)
    assert len(await client.async_get_devices()) == 2


@pytest.mark.parametrize("encoding", [None, "gzip", "zstd"])
async def test_8_mib_to_the_byte(make_client: MakeClient, encoding: str | None) -> None:
    """The decompressed size counts: 8 MiB are taken, one byte more is not."""
    headers = {"Content-Encoding": encoding} if encoding else {}
    bodies = [COMPRESS[encoding](padded(size)) for size in (MAX_BYTES, MAX_BYTES + 1)]

    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(body=bodies.pop(0), headers=headers)

    async with RawTestServer(answer) as server:
        client = make_client(str(server.make_url("/api")))
        devices = await client.async_get_devices()
        assert devices.keys() == {DEVICE["uniqueId"]}
        with pytest.raises(InvalidResponseError, match="more than 8 MiB"):
            await client.async_get_devices()
