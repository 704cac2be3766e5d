"""Blueprints of the repository, in Home Assistant without a click."""

from tests.e2e.internet.hosting import BRANCH, Repository
from tests.tools.demo import HomeAssistantClient


async def import_blueprint(
    client: HomeAssistantClient, repository: Repository, name: str
) -> str:
    """Import a blueprint from where the repository is hosted; return its path."""
    file = f"blueprints/automation/bike_tracker/{name}.yaml"
    source = f"https://github.com/{repository.full_name}/blob/{BRANCH}/{file}"
    imported = await client.call("blueprint/import", url=source)
    path = f"{imported['suggested_filename']}.yaml"
    await client.call(
        "blueprint/save",
        domain="automation",
        path=path,
        yaml=imported["raw_data"],
        source_url=source,
    )
    return path
