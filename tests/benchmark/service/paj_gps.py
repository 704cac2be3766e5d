"""What pajgps_api asks for: a token, the devices, and their last places."""

from aiohttp import web
import orjson

from tests.simulator import SimDevice

from .fleet import Fleet


def routes(fleet: Fleet) -> list[web.RouteDef]:
    """Return what is answered where."""

    async def login(_: web.Request) -> web.Response:
        return _success({"token": "t", "refresh_token": "r", "userID": 1})

    async def devices(_: web.Request) -> web.Response:
        return _success([_device(device) for device in fleet.devices])

    async def positions(request: web.Request) -> web.Response:
        wanted = set((await request.json())["deviceIDs"])
        return _success(
            [_track_point(device) for device in fleet.devices if device.id in wanted]
        )

    return [
        web.post("/paj_gps/api/v1/login", login),
        web.get("/paj_gps/api/v1/device", devices),
        web.post("/paj_gps/api/v1/trackerdata/getalllastpositions", positions),
    ]


def _success(answer: object) -> web.Response:
    return web.json_response(body=orjson.dumps({"success": answer}))


def _device(device: SimDevice) -> dict[str, object]:
    return {
        "id": device.id,
        "name": device.name,
        "imei": device.unique_id,
        "device_models": [
            {"model": "Bike Finder", "standalone_battery": 1, "alarm_volt": 0}
        ],
    }


def _track_point(device: SimDevice) -> dict[str, object]:
    assert device.position is not None
    return {
        "id": device.position.id,
        "iddevice": device.id,
        "lat": device.position.latitude,
        "lng": device.position.longitude,
        "direction": 0,
        "dateunix": int(device.last_update.timestamp()),
        "battery_level": 80,
        "speed": 12 if device.status == "online" else 0,
    }
