"""Short ways for tests of the opening block: facts made by hand, and their narrative. It checks nothing itself."""

from datetime import datetime
from zoneinfo import ZoneInfo

from bot.core.files import PromptFiles, resource_dir
from bot.core.memories import STABILITY_DAYS, Commitment, Dated, Memory
from bot.core.people import Chat, MemoryKind, Person, Script
from bot.core.sessions import Dialogue
from bot.pipeline.texts import Texts
from bot.prompt.opening import light, opening
from bot.prompt.opening_facts import OpeningBlock, OpeningFacts
from bot.prompt.templates import BootTemplate, read_templates
from bot.text.catalogue import catalogue

FIND = PromptFiles(None).path
WORDS = Texts(catalogue(FIND, "messages"), catalogue(FIND, "opening"), "zh-Hans", "Asia/Shanghai", "", ("小暖",))
TEMPLATES = read_templates(FIND, resource_dir("data/persona") / "default")
DAY = 86_400_000


def at(text: str, zone: str = "Asia/Shanghai") -> int:
    """The instant, ms, of a local time like 2026-06-12 09:00."""
    return round(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp() * 1000)


NOW = at("2026-06-12 09:00")


def memory(
    number: int,
    text: str,
    kind: MemoryKind = "knowledge",
    when: int = NOW,
    *,
    asked: bool = False,
    emotion: str = "",
    owner: int = 1,
    dated: Dated = "",
    said: int = 0,
    subject: str = "",
    slot: str = "",
    lasting: bool = False,
) -> Memory:
    """One memory of 小王, stored when it was said, or else when it happened."""
    said = said or when
    return Memory(
        number,
        owner,
        1,
        "private",
        kind,
        text,
        when,
        said,
        "command" if asked else "digest",
        asked=asked,
        emotion=emotion,
        stability_days=STABILITY_DAYS[kind],
        accessed_at=said,
        said_at=said,
        dated=dated,
        subject=subject,
        slot=slot,
        lasting=lasting,
    )


def promise(number: int, text: str, made: int, due: int | None, dated: Dated = "") -> Commitment:
    """One open commitment of 小王."""
    return Commitment(number, 1, 1, "private", text, "pending", made, due, "digest", made, dated=dated)


def talk(number: int, summary: str, ended: int) -> Dialogue:
    """One summary."""
    return Dialogue(number, number, 1, summary, ended, ended, ("小王",))


def facts(
    *memories: Memory,
    talks: tuple[Dialogue, ...] = (),
    promises: tuple[Commitment, ...] = (),
    now: int = NOW,
    zone: str = "Asia/Shanghai",
    last: int | None = None,
    who: str = "小暖，记得住事的伙伴。",
    vitality: dict[int, float] | None = None,
    met: bool = True,
    user: str = "",
) -> OpeningFacts:
    """What an opening in a DM with 小王 may tell."""
    return OpeningFacts(
        "小暖",
        who,
        "",
        zone,
        ZoneInfo(zone),
        now,
        Chat(1, "telegram", "1", "dm"),
        (Person(1, "小王"),),
        {1: "小王"},
        memories,
        talks,
        vitality or {},
        promises,
        last,
        None,
        met,
        user,
    )


def opened(
    known: OpeningFacts, script: Script = "zh-Hans", limit: int = 600, template: BootTemplate | None = None
) -> OpeningBlock:
    """The block that these facts make."""
    begin = (template or TEMPLATES[script]).begin
    return opening(known, WORDS.opening(script), WORDS.days(script), begin, limit)


def narrative(known: OpeningFacts, script: Script = "zh-Hans", limit: int = 600) -> str:
    """The warm boot alone, from its title on."""
    text = opened(known, script, limit).text
    return text[text.index("\n# ") + 1 :] if "\n# " in text else ""


def small(known: OpeningFacts, script: Script = "zh-Hans") -> OpeningBlock:
    """What small talk is told of these facts."""
    return light(known, WORDS.opening(script), WORDS.days(script))
