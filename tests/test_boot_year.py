"""A year of talks, every day one: the store stays bounded, what lasts is told on its last day, within the limit."""

from dataclasses import replace
from pathlib import Path

from bot.config.settings import Settings
from bot.core.memories import NewMemory
from bot.core.people import SCRIPTS, Audience, MemoryKind
from bot.core.sessions import Digest
from bot.ops.log_files import NullLog
from bot.pipeline.concurrency import TextThread
from bot.pipeline.jobs.upkeep import MemoryAging
from bot.pipeline.opening import OpeningReader
from bot.pipeline.recall import SectionFilter
from bot.prompt.opening_facts import OpeningBlock
from bot.prompt.templates import PersonaOpening
from bot.store.deadlines import Retention
from bot.store.digests import Digested
from bot.store.store import Store
from bot.text.length import estimate_tokens
from tests.blank import lay, open_laid, unsynced
from tests.configured import configured
from tests.fakes.clock import SimClock
from tests.storing import DAY, NOW, keep, look, statement, talk
from tests.waking import TEMPLATES, WORDS

DAYS = 365
LIFE = {"max_knowledge": 60, "max_event": 30, "max_emotion": 20, "max_total": 90, "max_lasting": 40, "archive_days": 30}
"""Small limits are reached soon, and cost a test little."""

ALONE = Audience(1, "dm", (1,))
FOR_EVER = [("对芒果过敏", "allergy"), ("外婆去世了", "death"), ("住在杭州西湖边", "home"), ("妹妹生了女儿", "birth")]
PLACES = [
    "公园",
    "海边",
    "图书馆",
    "医院",
    "超市",
    "车站",
    "学校",
    "博物馆",
    "电影院",
    "山上",
    "河边",
    "菜市场",
    "健身房",
]
THINGS = [
    "面条",
    "咖啡",
    "电影",
    "毛衣",
    "自行车",
    "相机",
    "吉他",
    "小说",
    "茶叶",
    "雨伞",
    "手表",
    "台灯",
    "花盆",
    "耳机",
    "地图",
    "拼图",
    "饼干",
]


def found(day: int) -> tuple[NewMemory, ...]:
    """What the digest of a day finds: two events, a fact, a mood, what a model takes for lasting, a value that changes
    daily; once a month who somebody is; and in the first week what matters for ever."""
    place, thing = PLACES[day % len(PLACES)], THINGS[day % len(THINGS)]
    texts: list[tuple[str, MemoryKind]] = [
        (f"第{day}天去了{place}", "event"),
        (f"第{day}天带了{thing}回家", "event"),
        (f"在{place}第{day}次看到{thing}", "knowledge"),
        (f"第{day}天心情不错", "emotion"),
    ]
    texts += [(f"第{day // 30}个外号是{thing}{place}", "identity")] if day % 30 == 0 else []
    at = NOW + day * DAY
    passing = [replace(statement(text, 1, 1, source="digest", kind=kind), observed_at=at) for text, kind in texts]
    lasting = [(f"第{day}天起习惯了{place}", "habit"), (f"在读第{day}本书《{thing}》", "current book")]
    lasting += [FOR_EVER[day - 1]] if day <= len(FOR_EVER) else []
    return (
        *passing,
        *(
            replace(statement(text, 1, 1, source="digest", slot=slot), observed_at=at, said_at=at, lasting=True)
            for text, slot in lasting
        ),
    )


async def one_day(store: Store, day: int) -> None:
    """A talk, and its digest."""
    at = NOW + day * DAY
    asked = await talk(store, f"第{day}天的话", "好", at=at)
    session = await store.sessions.session(asked.turn.session_id)
    await store.sessions.close(session.id, "idle", at + 1)
    digest = Digest(f"聊了第{day}天", found(day), "rule")
    assert await store.digests.store(Digested(session, digest, 1, ("Ann",), asked.turn.event_ids), at + 2)


async def nights(store: Store, tidying: MemoryAging, at: int) -> None:
    """What nights do: memories age, what may not be kept longer goes."""
    await tidying.work()
    await store.deadlines.tidy(Retention(at - 30 * DAY, at - 90 * DAY, at - 7 * DAY, at))
    await store.memories.purge(at)


async def year(folder: Path) -> tuple[list[OpeningBlock], list[int], list[int]]:
    """The opening of every month, and how many memories and pages of the file there were every fortnight."""
    settings, thread, clock = Settings.model_validate({"memory": {"life": LIFE}}), TextThread(), SimClock(NOW)
    lay(folder)
    opened: list[OpeningBlock] = []
    counts: list[int] = []
    pages: list[int] = []
    async with await open_laid(folder) as store:
        unsynced(store)
        begins = PersonaOpening(TEMPLATES, dict.fromkeys(SCRIPTS, "小暖，记得住事的伙伴。"))
        current = configured(settings, WORDS, opening=begins)
        booting = OpeningReader(store, current, SectionFilter(store, current), NullLog())
        tidying = MemoryAging(store, clock, current, thread, NullLog())
        await keep(store, "我对花生严重过敏")
        for day in range(1, DAYS + 1):
            await one_day(store, day)
            if day % 14 == 0 or day == DAYS:
                await clock.advance(NOW + day * DAY + 60_000 - clock.now(), clock_stands)
                await nights(store, tidying, clock.now())
                counts.append(int(str(look(folder, "SELECT count(*) FROM memory")[0][0])))
                pages.append(int(str(look(folder, "SELECT page_count FROM pragma_page_count")[0][0])))
            if day % 30 == 0 or day == DAYS:
                chat, person = await store.people.chat(1), await store.people.person(1)
                opened.append(await booting.boot(ALONE, chat, person, NOW + (day + 3) * DAY))
    thread.close()
    return opened, counts, pages


async def clock_stands() -> None:
    """Nothing else waits for the time."""


async def test_a_year_of_daily_talk(tmp_path: Path) -> None:
    opened, counts, pages = await year(tmp_path)
    for block in opened:
        assert estimate_tokens(block.text) <= 600
        assert "我对花生严重过敏" in block.text, "what somebody asked to keep is never dropped for age"
        assert "个外号是" in block.text, "nor is who somebody is"
        assert all(text in block.text for text, _ in FOR_EVER), "nor health, death, home and birth"
        assert "隔了三天" in block.text
    last = opened[-1].text
    assert f"- Ann：第365天去了{PLACES[365 % len(PLACES)]}（3天前）" in last
    assert "第1天去了" not in last
    assert max(counts[13:]) <= max(counts[:13]) * 1.1, "it does not grow any more"
    assert pages[-1] - pages[12] <= 80, "the file grows by counts and summaries alone, about a kilobyte a day"
    assert [f"第{day}本书" in last for day in range(360, 366)] == [False] * 5 + [True], "one value is current"
    alive = "SELECT count(*) FROM memory WHERE disabled_at IS NULL AND asked = 0 AND "
    lasts = "former_at IS NULL AND (lasting = 1 OR kind = 'identity')"
    assert look(tmp_path, f"{alive} {lasts}") == [(LIFE["max_lasting"],)]
    assert look(tmp_path, f"{alive} NOT ({lasts})")[0][0] == LIFE["max_total"]
    texts = look(tmp_path, "SELECT count(*) FROM event WHERE text <> ''")
    assert int(str(texts[0][0])) <= 2 * 104, "older lines have gone"
