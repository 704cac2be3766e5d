"""What pyscorpiontrack asks for: one shared location with all its vehicles."""

from aiohttp import web
import orjson

from tests.tools.simulator import SimDevice
from tests.tools.simulator.render import timestamp

from .fleet import Fleet


def routes(fleet: Fleet) -> list[web.RouteDef]:
    """Return what is answered where."""

    async def view(request: web.Request) -> web.Response:
        share = {
            "id": 1,
            "token": request.match_info["token"],
            "title": "Bikes",
            "vehicles": [_vehicle(device) for device in fleet.devices],
        }
        return web.json_response(body=orjson.dumps({"data": share}))

    return [web.get("/scorpiontrack/location-shares/{token}/view", view)]


def _vehicle(device: SimDevice) -> dict[str, object]:
    assert device.position is not None
    return {
        "id": device.id,
        "name": device.name,
        "registration": None,
        "make": None,
        "model": None,
        "latest_position": {
            "lat": device.position.latitude,
            "lng": device.position.longitude,
            "timestamp": timestamp(device.last_update, "Z"),
            "speed": 0,
            "ignition": device.status == "online",
            "bearing": 0,
            "address": None,
        },
    }
