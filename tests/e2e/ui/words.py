"""What is written in the frontend: by Home Assistant, and by the integration."""

from dataclasses import dataclass
import json
from typing import Any

import pytest

from tests.tools.demo.config_folder import INTEGRATION


@dataclass(frozen=True, slots=True)
class Words:
    """Home Assistant's own words on the way to an account."""

    language: str
    own_name: str
    settings: str
    integrations: str
    add: str
    search: str
    submit: str
    device_name: str
    finish: str
    device_info: str


ENGLISH = Words(
    language="en",
    own_name="English",
    settings="Settings",
    integrations="Devices & services",
    add="Add integration",
    search="Search for a brand name",
    submit="Submit",
    device_name="Device name",
    finish="Skip and finish",
    device_info="Device info",
)
GERMAN = Words(
    language="de",
    own_name="Deutsch",
    settings="Einstellungen",
    integrations="Geräte & Dienste",
    add="Integration hinzufügen",
    search="Nach einem Markennamen suchen",
    submit="OK",
    device_name="Gerätename",
    finish="Überspringen und fertigstellen",
    device_info="Geräte-Informationen",
)

GREEK = Words(
    language="el",
    own_name="Ελληνικά",
    settings="Ρυθμίσεις",
    integrations="Συσκευές & υπηρεσίες",
    add="Προσθήκη ενσωμάτωσης",
    search="Αναζήτηση επωνυμίας",
    submit="Υποβολή",
    device_name="Ονομα συσκευής",
    finish="Παράλειψη και ολοκλήρωση",
    device_info="Device info",
)
HEBREW = Words(
    language="he",
    own_name="עברית",
    settings="הגדרות",
    integrations="מכשירים ושירותים",
    add="הוספת שילוב",
    search="חיפוש שם מותג",
    submit="המשך",
    device_name="שם המכשיר",
    finish="דילוג וסיום",
    device_info="מידע מכשיר",
)
JAPANESE = Words(
    language="ja",
    own_name="日本語",
    settings="設定",
    integrations="デバイスとサービス",
    add="統合を追加",
    search="ブランド名で検索",
    submit="送信",
    device_name="デバイス名",
    finish="スキップして終了",
    device_info="デバイス情報",
)
RUSSIAN = Words(
    language="ru",
    own_name="Русский",
    settings="Настройки",
    integrations="Устройства и службы",
    add="Добавить интеграцию",
    search="Поиск по названию бренда",
    submit="Подтвердить",
    device_name="Название устройства",
    finish="Пропустить и завершить",
    device_info="Информация об устройстве",
)
SIMPLIFIED_CHINESE = Words(
    language="zh-Hans",
    own_name="简体中文",
    settings="设置",
    integrations="设备与服务",
    add="添加集成",
    search="搜索品牌名称",
    submit="提交",
    device_name="设备名称",
    finish="跳过并完成",
    device_info="设备信息",
)

IN_EVERY_LANGUAGE = pytest.mark.parametrize(
    "words",
    [ENGLISH, GERMAN, GREEK, HEBREW, JAPANESE, RUSSIAN, SIMPLIFIED_CHINESE],
    ids=lambda words: words.language,
    indirect=True,
)
"""For each language that is tried: somebody has chosen it."""


class Texts:
    """The integration's texts in a language."""

    def __init__(self, language: str) -> None:
        """Read them."""
        path = INTEGRATION / "translations" / f"{language}.json"
        texts: dict[str, Any] = json.loads(path.read_text())
        config: dict[str, Any] = texts["config"]
        step: dict[str, Any] = config["step"]["user"]
        self.title: str = step["title"]
        self.description: str = step["description"]
        self.labels: dict[str, str] = step["data"]
        self.explanations: dict[str, str] = step["data_description"]
        self.errors: dict[str, str] = config["error"]
        entities: dict[str, dict[str, dict[str, Any]]] = texts["entity"]
        self.entities: dict[str, str] = {
            key: entity["name"]
            for platform in entities.values()
            for key, entity in platform.items()
        }
        self.states: dict[str, dict[str, str]] = {
            key: entity.get("state", {})
            for key, entity in entities["binary_sensor"].items()
        }
