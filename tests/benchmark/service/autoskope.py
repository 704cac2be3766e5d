"""What autoskope_client asks for: a list of cars, and their places as GeoJSON within JSON."""

from aiohttp import web
import orjson

from tests.simulator import SimDevice
from tests.simulator.render import timestamp

from .fleet import Fleet


def routes(fleet: Fleet) -> list[web.RouteDef]:
    """Return what is answered where."""

    async def info(_: web.Request) -> web.Response:
        places = {
            "type": "FeatureCollection",
            "features": [_feature(device) for device in fleet.devices],
        }
        return web.json_response(
            body=orjson.dumps(
                {
                    "cars": [_car(device) for device in fleet.devices],
                    "lastPos": orjson.dumps(places).decode(),
                }
            )
        )

    async def login(_: web.Request) -> web.Response:
        return web.Response()

    return [
        web.post("/autoskope/scripts/ajax/login.php", login),
        web.post("/autoskope/scripts/ajax/app/info.php", info),
    ]


def _car(device: SimDevice) -> dict[str, object]:
    return {
        "id": device.id,
        "name": device.name,
        "ex_pow": "12.6",
        "bat_pow": "4.1",
        "hdop": "0",
        "support_infos": {"imei": device.unique_id},
        "device_type_id": "10",
    }


def _feature(device: SimDevice) -> dict[str, object]:
    assert device.position is not None
    return {
        "type": "Feature",
        "geometry": {
            "type": "Point",
            "coordinates": [device.position.longitude, device.position.latitude],
        },
        "properties": {
            "carid": device.id,
            "s": "0",
            "dt": timestamp(device.last_update),
            "park": device.status == "offline",
        },
    }
