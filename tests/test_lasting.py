"""What does not fade, and what the rows of an older nuan become: years put right, what lasts known as such."""

import sqlite3
from contextlib import closing
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from bot.core.memories import Memory, OldMemory, ReviewedMemory
from bot.core.people import MemoryKind
from bot.language.sections import is_lasting
from bot.memory.lifecycle import reread
from bot.store.schema import MIGRATIONS
from bot.store.store import DATABASE
from tests.living import DAY, active, found, later
from tests.storing import NOW
from tests.tables import all_cases
from tests.test_digest_changes import after
from tests.world import World

SHANGHAI = ZoneInfo("Asia/Shanghai")


def at(day: str) -> int:
    """Noon of a day there, ms."""
    return round(datetime.fromisoformat(f"{day} 12:00").replace(tzinfo=SHANGHAI).timestamp() * 1000)


def older(
    text: str, day: str = "2026-06-12", kind: MemoryKind = "knowledge", *said: str, recalled: int = 0, slot: str = ""
) -> OldMemory:
    """A memory that an older nuan stored on 2026-06-12, about that day, with the lines it comes from."""
    memory = Memory(
        7, 1, 1, "private", kind, text, at(day), NOW, "digest", slot=slot, said_at=NOW, access_count=recalled
    )
    return OldMemory(memory, tuple((each, NOW) for each in said))


@all_cases(
    ("text", "kind", "slot"),
    [
        ("我对花生过敏", "knowledge", ""),
        ("我确诊糖尿病了", "event", ""),
        ("我奶奶上周去世了", "event", ""),
        ("我搬到杭州了", "event", ""),
        ("我妹妹在医院上班", "knowledge", ""),
        ("我離婚了", "event", ""),
        ("I got diagnosed with asthma", "event", ""),
        ("my grandmother passed away", "event", ""),
        ("I moved to Lisbon", "event", ""),
        ("糖尿病", "event", "illness"),
    ],
)
def test_health_death_birth_relations_home_and_work_of_an_older_nuan_last(
    text: str, kind: MemoryKind, slot: str
) -> None:
    assert reread(older(text, kind=kind, slot=slot), SHANGHAI) == ReviewedMemory(7, True, at("2026-06-12"))


@all_cases(
    ("text", "kind"),
    [
        ("我喜欢喝乌龙茶", "knowledge"),
        ("昨天去了公园", "event"),
        ("心情不好，奶奶去世了", "emotion"),
        ("went to the zoo", "event"),
        ("如果我搬到杭州了", "knowledge"),
        ("我对花生过敏", "experience"),
    ],
)
def test_what_passes_passes(text: str, kind: MemoryKind) -> None:
    assert reread(older(text, kind=kind), SHANGHAI) is None


def test_slots_that_last() -> None:
    assert all(map(is_lasting, ("home", "Birthday", "allergy", "death", "住址", "過敏", "过敏")))
    assert not any(map(is_lasting, ("", "taste", "like", "plan", "address to send")))


@all_cases(
    ("text", "was", "line", "becomes"),
    [
        ("我订了8月15日的机票", "2025-08-15", "我订了8月15日的机票", "2026-08-15"),
        ("妈妈的手术约在7月3号", "2025-07-03", "妈妈的手术约在7月3号，有点紧张", "2026-07-03"),
        ("booked a table for July 20", "2025-07-20", "booked a table for July 20", "2026-07-20"),
        ("要去旅行", "2025-09-01", "我9月1日要去旅行", "2026-09-01"),
        ("12月1日考试", "2025-12-01", "12月1日考试", "2026-12-01"),
    ],
)
def test_a_year_that_was_read_wrongly_is_put_right(text: str, was: str, line: str, becomes: str) -> None:
    mended = reread(older(text, was, "event", line), SHANGHAI)
    assert mended is not None
    assert datetime.fromtimestamp(mended.observed_at / 1000, SHANGHAI).date().isoformat() == becomes


@pytest.mark.parametrize(
    "row",
    [
        older("我订了8月15日的机票", "2025-08-15", "event"),
        older("我订了8月15日的机票", "2025-08-15", "event", "我订了8月15日的机票", recalled=1),
        older("我2025年8月15日去过海边", "2025-08-15", "event", "我2025年8月15日去过海边"),
        older("我去年8月15日去过海边", "2025-08-15", "event", "我去年8月15日去过海边"),
        older("去过海边", "2025-08-15", "event", "那次去过海边"),
        older("我订了8月15日的机票", "2025-08-14", "event", "我订了8月15日的机票"),
        older("5月20日去爬了山", "2026-05-20", "event", "5月20日去爬了山"),
    ],
    ids=["no line", "recalled", "year", "last year", "no day", "another day", "right"],
)
def test_a_year_that_may_be_right_stays(row: OldMemory) -> None:
    assert reread(row, SHANGHAI) is None


async def test_a_database_of_an_older_nuan_is_read_again_once_before_anything_is_tidied_away(world: World) -> None:
    await found(world, "我对虾过敏", "event")
    await found(world, "我订了8月15日的机票", "event")
    await found(world, "我去了公园", "event")
    await found(world, "我去了海边", "event")
    await world.close()
    with closing(sqlite3.connect(world.folder / DATABASE)) as db, db:
        db.execute("UPDATE memory SET lasting = 0, slot = '', dated = ''")
        db.execute("UPDATE memory SET observed_at = said_at - 301 * 86400000 WHERE id <> 2")
        db.execute("UPDATE memory SET observed_at = ? WHERE id = 2", (at("2025-08-15"),))
        db.execute("UPDATE memory SET disabled_reason = 'archived', disabled_at = 5, purge_at = 6 WHERE id = 4")
        for statement in next(each for each in MIGRATIONS if any("'reread'" in one for one in each)):
            db.execute(statement)
        assert db.execute("SELECT purge_at - disabled_at FROM memory WHERE id = 4").fetchone() == (90 * DAY * 1000,)
    world.away(50 * DAY)
    await world.open()
    assert active(world, "id, lasting") == [(1, 1), (2, 0)], "an event of weeks ago is put away, not what lasts"
    assert active(world, "observed_at, dated")[1] == (at("2026-08-15"), "day")
    assert world.peek.facts.count(key="reread") == 0
    await later(world, 1)
    assert len(active(world)) == 2


async def test_a_diagnosis_is_told_a_year_later(world: World) -> None:
    """It was an event of fourteen days: archived after six weeks, deleted seven days later."""
    await found(world, "我去了公园", "event")
    await found(world, "我确诊了糖尿病", "event", lasting=True)
    await later(world, 365)
    await later(world, 91)
    assert active(world) == [("我确诊了糖尿病",)]
    assert world.peek.memories.count() == 1
    await world.say("最近怎么样，跟我说说好吗")
    assert "我确诊了糖尿病" in world.last_user


@pytest.mark.parametrize(
    ("said", "facets", "lasts"),
    [
        ("我奶奶上周去世了", {"slot": "death", "about": "奶奶"}, True),
        ("我确诊糖尿病了", {"slot": "health"}, True),
        ("我妹妹生了个女儿", {"slot": "family", "about": "妹妹"}, True),
        ("I moved to Lisbon", {"slot": "home"}, True),
        ("我明天去体检", {"slot": "health", "when": "2026-06-13"}, False),
        ("我昨天去了公园", {"slot": "outing"}, False),
    ],
)
async def test_what_is_of_health_death_birth_or_home_lasts_whatever_a_model_says(
    world: World, said: str, facets: dict[str, object], *, lasts: bool
) -> None:
    await after(world, said, statements=[{"text": said, "kind": "event", "lasting": False, "from": [1], **facets}])
    assert world.rows("SELECT lasting FROM memory") == [(int(lasts),)]
