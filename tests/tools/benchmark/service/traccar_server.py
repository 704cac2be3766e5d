"""What pytraccar asks for: the documented lists, geofences, and the socket for whoever has a token."""

from aiohttp import web
import orjson

from tests.tools.simulator import Simulator
from tests.tools.simulator.render import Endpoint

from .fleet import EMAIL


def routes(simulator: Simulator) -> list[web.RouteDef]:
    """Return what is answered where, from the same fleet and through the same sockets as to everybody."""

    def listed(endpoint: Endpoint) -> web.Response:
        rows = simulator.listed(endpoint, EMAIL)
        return web.json_response(body=orjson.dumps(rows))

    async def devices(_: web.Request) -> web.Response:
        return listed("devices")

    async def positions(_: web.Request) -> web.Response:
        return listed("positions")

    async def geofences(_: web.Request) -> web.Response:
        return web.json_response([])

    async def sign_in(_: web.Request) -> web.Response:
        return simulator.live.session(EMAIL)

    async def sign_out(_: web.Request) -> web.Response:
        return web.Response(status=204)

    async def socket(request: web.Request) -> web.StreamResponse:
        email = simulator.live.account(request)
        if email is None:
            return web.Response(status=503)
        first = simulator.listed("positions", email)
        return await simulator.live.serve(request, email, first)

    return [
        web.get("/api/devices", devices),
        web.get("/api/positions", positions),
        web.get("/api/geofences", geofences),
        web.get("/api/session", sign_in),
        web.delete("/api/session", sign_out),
        web.get("/api/socket", socket),
    ]
