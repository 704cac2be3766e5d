"""The night guard together with forms, settings, registries, languages and other accounts.

`pytest --snapshot-update` writes the messages of `NIGHTS` to `__snapshots__`, so that
people can read them in each language.
"""

from functools import partial
from pathlib import Path
from typing import Any

from homeassistant.config_entries import ConfigEntryDisabler
from homeassistant.core import CoreState, HomeAssistant
from homeassistant.data_entry_flow import InvalidData
from homeassistant.helpers import (
    device_registry as dr,
    entity_registry as er,
    issue_registry as ir,
)
from homeassistant.setup import async_setup_component
import pytest
from pytest_homeassistant_custom_component.common import (
    MockConfigEntry,
    async_mock_service,
)
from pytest_homeassistant_custom_component.typing import ClientSessionGenerator
from syrupy.assertion import SnapshotAssertion
from yarl import URL

from custom_components.bike_tracker.const import DOMAIN
from custom_components.bike_tracker.database.file import Sent
from custom_components.bike_tracker.night_guard import DEFAULTS
from custom_components.bike_tracker.night_guard.alerts import silences
from custom_components.bike_tracker.responses.texts import async_load_texts
from custom_components.bike_tracker.responses.theft_report import ReportView
from tests.blueprints.house import stories
from tests.books import file_of
from tests.conftest import BOB, EMAIL, PASSWORD, Bikes, MakeEntry
from tests.tracking.conftest import NOW, Service, a_device, a_position

from .night import Night

TYPE = "night_guard"
FILTERS = {
    "phones": [{"integration": "mobile_app"}],
    "others": [{"domain": ["notify"]}],
    "riders": [{"domain": ["person"]}],
}


def suggested_by(form: Any) -> dict[str, Any]:
    """Return the suggested values of a form, in the order of its fields."""
    fields = form["data_schema"].schema
    values = {str(it): (it.description or {}).get("suggested_value") for it in fields}
    return {key: it for key, it in values.items() if it is not None}


async def async_submit(
    hass: HomeAssistant, entry: MockConfigEntry, changed: str = "", **typed: Any
) -> tuple[dict[str, Any], Any]:
    """Add a night guard by the form, or change the night guard with ID `changed`. Return suggested values and result."""
    subentries = hass.config_entries.subentries
    context: Any = {"source": "user"}
    if changed:
        context = {"source": "reconfigure", "subentry_id": changed}
    form = await subentries.async_init((entry.entry_id, TYPE), context=context)
    assert form["type"] == "form" and form["data_schema"] and not form["errors"]
    chosen = form["data_schema"].schema
    selectors = {field: chosen[field].config for field in FILTERS}
    assert {field: it["filter"] for field, it in selectors.items()} == FILTERS
    assert all(it["multiple"] for it in selectors.values())
    assert chosen["bikes"].config["sort"]
    meters = {"min": 50, "max": 5000, "step": 1, "unit_of_measurement": "m"}
    assert chosen["away_distance"].config == {**meters, "mode": "box"}
    suggested = suggested_by(form)
    filled = {key: it for key, it in (suggested | typed).items() if it is not None}
    return suggested, await subentries.async_configure(form["flow_id"], filled)


async def test_nothing_to_type(ready: Bikes, phones: list[str]) -> None:
    """A user can submit the form unchanged. By default, all phones of the house get the messages. The name is suggested in Home Assistant's language."""
    hass, entry = ready.hass, ready.entry
    suggested, result = await async_submit(hass, entry)
    defaults = {"name": "Night guard", **DEFAULTS, "phones": suggested["phones"]}
    assert suggested == defaults and [*suggested] == [*defaults]
    assert set(suggested["phones"]) == set(phones)
    assert result["type"] == "create_entry"
    [subentry] = entry.get_subentries_of_type(TYPE)
    assert subentry.title == "Night guard"
    assert subentry.data == suggested
    hass.config.language = "de"
    await async_load_texts(hass)
    suggested, _ = await async_submit(hass, entry)
    assert suggested["name"] == "Nachtwache"


async def test_choices(ready: Bikes, bobs: MockConfigEntry, phones: list[str]) -> None:
    """Only bikes of the account can be chosen. The form does not suggest stored bikes and phones that no longer exist."""
    hass, registry = ready.hass, dr.async_get(ready.hass)
    ready.simulator.add_device("860000000000033", name="Green bike", email=BOB)
    await hass.config_entries.async_setup(bobs.entry_id)
    [bike] = dr.async_entries_for_config_entry(registry, bobs.entry_id)
    [red, _] = dr.async_entries_for_config_entry(registry, ready.entry.entry_id)
    await async_submit(hass, bobs, bikes=[bike.id])
    [subentry] = bobs.get_subentries_of_type(TYPE)
    assert subentry.data["bikes"] == [bike.id]
    with pytest.raises(InvalidData):
        await async_submit(hass, bobs, bikes=[red.id])
    gone = {"bikes": [bike.id, "gone"], "phones": ["gone", phones[1]]}
    data = {**subentry.data, **gone}
    hass.config_entries.async_update_subentry(bobs, subentry, data=data)
    shown, _ = await async_submit(hass, bobs, subentry.subentry_id)
    assert (shown["bikes"], shown["phones"]) == ([bike.id], phones[1:])
    # An empty field means all bikes, so warn if all chosen bikes are gone.
    data["bikes"] = ["gone"]
    hass.config_entries.async_update_subentry(bobs, subentry, data=data)
    async_init, key = hass.config_entries.subentries.async_init, (bobs.entry_id, TYPE)
    form = await async_init(
        key, context={"source": "reconfigure", "subentry_id": subentry.subentry_id}
    )
    assert not suggested_by(form)["bikes"]
    assert form["errors"] == {"bikes": "bikes_gone"}


async def test_half_a_night(ready: Bikes) -> None:
    """If the user enters only the start or the end of the night, the form asks for the missing time.

    The form keeps the other fields. Without both times, no night exists. An account may
    have several night guards.
    """
    hass, entry = ready.hass, ready.entry
    for missing in ("night_begins", "night_ends"):
        typed: dict[str, Any] = {"away_distance": 300, missing: None}
        _, form = await async_submit(hass, entry, **typed)
        assert form["errors"] == {missing: "half_a_night"}
        assert suggested_by(form)["away_distance"] == 300
        assert missing not in suggested_by(form)
    await async_submit(hass, entry, night_begins=None, night_ends=None)
    await async_submit(hass, entry)
    empty, full = entry.get_subentries_of_type(TYPE)
    assert not empty.data.keys() & {"night_begins", "night_ends"}
    assert full.data.keys() >= {"night_begins", "night_ends"}
    await async_submit(hass, entry, empty.subentry_id)


async def test_change(ready: Bikes) -> None:
    """The form shows the stored settings and the current name, and changes them. It refuses a distance below 50 meters."""
    hass, entry = ready.hass, ready.entry
    await async_submit(hass, entry, away_distance=300)
    [first] = entry.subentries
    shown, result = await async_submit(hass, entry, first, name="New", follow=False)
    assert (shown["night_begins"], shown["away_distance"]) == ("22:00:00", 300)
    assert result["reason"] == "reconfigure_successful"
    night, update = entry.subentries[first], hass.config_entries.async_update_subentry
    assert (night.title, night.data["follow"]) == ("New", False)
    update(entry, night, title="Renamed in its menu")
    shown, _ = await async_submit(hass, entry, first, name=" ")
    assert shown["name"] == "Renamed in its menu"
    assert entry.subentries[first].title == "Night guard"
    with pytest.raises(InvalidData):
        await async_submit(hass, entry, away_distance=1)


NIGHTS = """
A cat, *Guard again*, a theft after a vibration, *Guard again* under way, *It's me*.
until 22 = armed
report alarm=vibration, tap arm = armed
stand 3, now alarm=vibration, seconds 10, now meters=100 motion=yes speed=16, ride 1
tap arm = triggered
ride 12, stand 10 = armed
tap disarm = disarmed
stand 1, until 6, until 22 = armed

Two trackers that fall silent.
night begins=12:02, stand 12 red blue, wait 76

An outage, and its end; a tracker that is silent, and then offline.
until 22, stand 15, fail, wait 20, work, wait 76, offline red, wait 20

Home at 22:10 with a guard that was triggered at dusk: armed once it stands.
until 21, automate, wait 50, ride 10 = triggered
ride 8, report motion=yes speed=0, stand 10 = armed
"""


async def test_not_guarded(night: Night, entity_registry: er.EntityRegistry) -> None:
    """When a night begins, one message names all bikes that cannot be guarded, with the reasons.

    The message is removed at the end of the night. In the second night, the same reasons
    are not sent again. A message about an outage names only the bike that is guarded.
    While nothing changes, polls write nothing.
    """
    night.simulator.add_device("green", name="Green bike", email=EMAIL)
    night.simulator.set_disabled("green", disabled=True)
    # After the loss of the database, a guard may exist although the place is unknown.
    kind = ("alarm_control_panel", "bike_tracker", "new_guard")
    entity_registry.async_get_or_create(*kind)
    await night.async_tell("new, wait 2")
    panel, user = "alarm_control_panel.blue_bike_guard", er.RegistryEntryDisabler.USER
    entity_registry.async_update_entity(panel, disabled_by=user)
    await night.async_tell("night, until 22 = armed, = green disarmed, wait 11")
    database = night.entry.runtime_data.coordinator.database
    # On a slow disk, a write may still be under way.
    await database.async_write()
    written_at = database.written_at
    await night.async_tell("wait 9")
    assert database.written_at == written_at
    await night.async_tell("until 6, until 22, fail, wait 20")
    assert night.pushes[0].data["data"]["url"] == "/map"
    assert night.told == [
        "22:00 time-sensitive: Not guarded tonight / Blue bike: disabled / Green bike: disabled / New bike: its place is not known",
        "06:00 dusk removed",
        "22:00 time-sensitive: Red bike has not reported since 2026-11-20 12:00 / Red bike: guarded, but without contact since 2026-11-20 12:00. A theft would go unnoticed.",
        "22:15 time-sensitive: No contact with the tracking service / Red bike: guarded, but without contact since 22:00. A theft would go unnoticed.",
    ]


def test_last_contact_is_unknown() -> None:
    """If the service sends no time of the last contact, an online tracker does not count as silent."""
    service = Service()
    service.poll(a_device(last_update=None), red=a_position())
    assert not list(silences(service.red(), NOW))


@pytest.mark.parametrize("is_loaded", [True, False])
async def test_deleted(hass: HomeAssistant, night: Night, is_loaded: bool) -> None:
    """The messages of a deleted night guard are forgotten, even if it was deleted while its account was unloaded."""
    entries, entry = hass.config_entries, night.entry
    begin = "night begins=12:05, wait 6, ride 1, tap disarm, fail, wait 18"
    await night.async_tell(begin)
    assert entry.runtime_data.coordinator.database.content.sent != Sent()
    if not is_loaded:
        await entries.async_unload(entry.entry_id)
    entries.async_remove_subentry(entry, *entry.subentries)
    await night.async_tell("work")
    if not is_loaded:
        await entries.async_setup(entry.entry_id)
    await night.async_tell("wait 12")
    assert entry.runtime_data.coordinator.database.content.sent == Sent()


async def test_recipient_is_gone(night: Night, phones: list[str]) -> None:
    """While a rider of a night guard does not exist, or no message can reach a recipient, a repair issue names the night guard."""
    hass, entry, registry = night.hass, night.entry, ir.async_get(night.hass)
    entries, issue_id = hass.config_entries, f"recipient_gone_{entry.entry_id}"

    async def names(story: str = "", **data: Any) -> Any:
        for it in [*entry.subentries.values()] if data else ():
            entries.async_update_subentry(entry, it, data={**it.data, **data})
        await night.async_tell(story)
        issue: Any = registry.async_get_issue(DOMAIN, issue_id)
        return issue and issue.translation_placeholders["names"]

    hass.states.async_set("notify.chat", "unknown")
    assert await names("night") is await names(others=["notify.chat"]) is None
    ben = ("notify", "mobile_app_ben_s_phone")
    hass.services.async_remove(*ben)
    assert await names("wait 1") == "Night"
    async_mock_service(hass, *ben)
    assert await names("wait 1") is None
    dr.async_get(hass).async_remove_device(phones[1])
    assert await names("wait 1") == await names(follow=False) == "Night"
    # While Home Assistant starts, entities may not have been added yet.
    hass.states.async_remove("notify.chat")
    assert await names(phones=[], others=[], riders=["person.zoe"]) == "Night"
    assert await names(riders=[]) is None
    hass.set_state(CoreState.starting)
    assert await names("wait 1", others=["notify.chat"]) is None
    hass.set_state(CoreState.running)
    assert await names("wait 1")
    registry.async_ignore(DOMAIN, issue_id, ignore=True)
    await entries.async_reload(entry.entry_id)
    assert await names("wait 1")
    assert registry.issues[DOMAIN, issue_id].dismissed_version
    disable = partial(entries.async_set_disabled_by, entry.entry_id)
    await disable(ConfigEntryDisabler.USER)
    assert await names() is None
    await disable(None)
    assert await names("wait 1")
    entries.async_remove_subentry(entry, *entry.subentries)
    assert await names() is None
    assert await names("night") == "Night"
    await entries.async_remove(entry.entry_id)
    assert await names() is None


async def test_removed_entities(night: Night) -> None:
    """If the user removed the device tracker entity of a bike, no message mentions the bike. A chat of two night guards gets messages once."""
    chats = async_mock_service(night.hass, "notify", "send_message")
    await night.async_tell("night begins=12:00, wait 1")
    er.async_get(night.hass).async_remove("device_tracker.blue_bike")
    chat = "others=chat begins=11:00"
    await night.async_tell(f"night {chat}, night also=yes {chat}, ride 15 red blue")
    told = ["critical: Red bike is being moved" in it for it in night.told]
    assert told == [True, True] and len(chats) == 2


async def test_lost_state(night: Night, caplog: pytest.LogCaptureFixture) -> None:
    """A button is ignored if its bike left the account, and the state of the bike was lost with the database."""
    await night.async_tell("night red begins=12:00, ride 1, leave red, stop")
    file_of(night.hass, night.entry).unlink()
    await night.async_tell("start, tap arm, tap disarm")
    assert "KeyError" not in caplog.text


async def test_two_accounts(night: Night, make_entry: MakeEntry) -> None:
    """A night guard guards only bikes of its account. While Home Assistant starts, a changed setting disarms no bike."""
    hass = night.hass
    night.simulator.add_account(BOB, PASSWORD)
    night.simulator.add_device("bob", name="Green bike", email=BOB)
    await night.async_tell("night begins=12:00")
    other = make_entry(BOB)
    await hass.config_entries.async_setup(other.entry_id)
    await night.async_tell("wait 3 = armed, = green disarmed")
    night.simulator.report("bob", attributes={"alarm": "sos"})
    await night.async_tell("wait 1")
    assert night.told == []
    hass.set_state(CoreState.starting)
    await night.async_tell("night begins=20:00 = armed")
    hass.set_state(CoreState.running)
    await hass.config_entries.async_unload(other.entry_id)


@pytest.mark.parametrize("has_folder", [True, False])
async def test_report(night: Night, tmp_path: Path, has_folder: bool) -> None:
    """The button *Theft report* writes a new file, even within a minute or for an unlisted bike. The answer has its name, or the error."""
    hass = night.hass
    if has_folder:
        hass.config.media_dirs = {"local": str(tmp_path)}
        hass.config.allowlist_external_dirs = {str(tmp_path)}
    else:
        hass.config.api, hass.config.media_dirs = None, {}
    await night.async_tell("night red begins=12:00, ride 1, tap report")
    await hass.async_block_till_done()
    await night.async_tell("leave red, clock -.014, tap report")
    await hass.async_block_till_done()
    url = "/map?entity_id=device_tracker.red_bike"
    assert night.pushes[0].data["data"]["url"] == url
    said, data = night.told[-1], night.pushes[-1].data["data"]
    assert "quiet: Red bike: Theft report / " in said and "report" in data["tag"]
    if has_folder:
        _, file = sorted(tmp_path.glob("*.html"))
        assert said.endswith(f"/ Written to the media folder: {file.name}")
        assert "Red bike" in file.read_text()
        url, actions = data["url"], data["actions"]
        assert "/api/bike_tracker/theft_report/" in url
        assert "start_date_time=2026-11-20T12:" in url
        assert actions == [{"action": "URI", "title": "Theft report", "uri": url}]
    else:
        assert "red-bike-2026-11-20-12" in said
        assert "Written" not in said
        assert (data["url"], data["actions"]) == (url, [])


@pytest.mark.parametrize("restart", ["", "restart, "])
async def test_report_in_an_outage(
    night: Night, hass_client_no_auth: ClientSessionGenerator, restart: str
) -> None:
    """In an outage, the link to the report works, also after a restart: the report contains the last place and the ride.

    If the night guard is deleted, the link no longer works.
    """
    hass = night.hass
    assert await async_setup_component(hass, "http", {})
    hass.http.register_view(ReportView)
    await night.async_tell("night red begins=12:02, wait 3, ride 2, tap report")
    await hass.async_block_till_done()
    link = URL(night.pushes[-1].data["data"]["url"]).relative()
    await night.async_tell(f"fail, wait 2, {restart}wait 20")
    client = await hass_client_no_auth()
    page = await (await client.get(link)).text()
    assert "Theft report: Red bike" in page
    assert "2026-11-20 12:05:36</bdi><br><bdi>Roonstraße 12" in page
    assert "These are the stored routes of the rides" in page
    hass.config_entries.async_remove_subentry(night.entry, *night.entry.subentries)
    await night.async_tell("work, wait 10")
    assert (await client.get(link)).status == 401


@pytest.mark.parametrize(("script", "told"), stories(NIGHTS))
@pytest.mark.parametrize("language", ["en", "de", "he", "tlh"])
async def test_in_words(
    night: Night,
    snapshot: SnapshotAssertion,
    language: str,
    script: str,
    told: list[str],
) -> None:
    """In each language, messages and titles of buttons match the snapshot. For Klingon (tlh), no texts are loaded."""
    night.hass.config.language = language
    if language != "tlh":
        await async_load_texts(night.hass)
    await night.async_tell(f"night red, {script}")
    data = [push.data.get("data", {}) for push in night.pushes]
    buttons = {it["title"]: None for each in data for it in each.get("actions", ())}
    assert {"told": night.told, "buttons": [*buttons]} == snapshot


async def test_from_right_to_left(hass: HomeAssistant, night: Night) -> None:
    """In Hebrew, Unicode direction marks enclose each part of a message, so that it is shown in its own direction."""
    await hass.config.async_update(language="he")
    await night.async_tell("night red, until 22, report meters=1112 motion=yes")
    said = night.pushes[0].data["message"]
    assert said.startswith("\u200f\u2068\u200f\u20681.1 km\u2069 ")
    assert said.endswith("\u2069, \u2068Roonstraße 12\u2069, \u206822:00\u2069")
