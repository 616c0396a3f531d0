"""Digests by a model behind a wire: good, broken, lying, too long, cut and refused answers, and how it is asked."""

import json
from collections.abc import Mapping

import pytest

from bot.memory.minutes import DigestLine, Scope
from bot.model.client import OpenAIModel
from bot.model.dialect import Dialect
from bot.types.capabilities import Capabilities, JsonMode
from tests.conftest import NewWorld
from tests.fakes.openai_dialects import DialectName
from tests.fakes.openai_rules import mapping
from tests.fakes.openai_script import Asked, Reply
from tests.fakes.openai_server import FakeOpenAI
from tests.labelled import parse_digest
from tests.world import World

TALK = (
    "我昨天去医院拔了智齿，脸肿得像包子",
    "我搬到上海了，房子在地铁站旁边",
    "我答应了妈妈周末回家看看她和外婆",
    "我下周三要交年度总结，一个字还没动",
    "今天上班好累，晚上随便吃了碗面就睡了",
    "楼下新开的面馆味道不错，老板人也好",
)


def item(text: str, *cited: int, day: str = "", **more: str) -> dict[str, object]:
    return {"text": text, "from": list(cited), "day": day, **more}


def answer(**lists: object) -> str:
    whole = {"summary": "小王拔了智齿，搬到上海", "memories": [], "profile": [], "commitments": [], "unfinished": []}
    return json.dumps(whole | lists, ensure_ascii=False)


GOOD = answer(
    memories=[item("拔了智齿", 1, day="昨天", type="event", tag=""), item("今天上班好累", 9, type="emotion", tag="累")],
    profile=[item("搬到上海了", 3)],
    commitments=[item("答应妈妈周末回家", 5)],
    unfinished=[item("下周三交年度总结", 7, day="2026-06-17")],
)
"""People's lines have the odd numbers, the bot's answers the even ones."""


class Served:
    """A World whose model is behind the wire; digests get the next of `answers`, people get 好的."""

    def __init__(self, world: World, server: FakeOpenAI, answers: list[Reply]) -> None:
        self.world, self.server, self.answers = world, server, answers

    def digests(self) -> list[Mapping[str, object]]:
        """The bodies of the requests for digests."""
        return [body for raw in self.server.bodies if "tools" not in (body := mapping(json.loads(raw)))]

    def column(self, sql: str) -> list[object]:
        return [row[0] for row in self.world.rows(sql)]

    async def talk(self, *texts: str) -> None:
        """Say these lines and close the session."""
        for text in texts or TALK:
            await self.world.say(text)
        await self.world.say("/new")


async def serve(
    new_world: NewWorld, *answers: Reply | str, mode: JsonMode = "none", dialect: DialectName = "any",
    texts: tuple[str, ...] = TALK, **sections: dict[str, object],
) -> Served:  # fmt: skip
    """A talk, closed, with a model that answers its digest so."""
    left = [Reply(one) if isinstance(one, str) else one for one in answers]

    def script(asked: Asked) -> Reply:
        return Reply("好的") if asked.tool_names else left.pop(0)

    world = await new_world(**sections)
    async with FakeOpenAI(script, dialect=dialect) as server:
        model = OpenAIModel(server.base_url, "", "fake", speaks=Dialect(Capabilities(json_mode=mode)))
        world.model.digests = True
        world.model.wire = model
        served = Served(world, server, left)
        await served.talk(*texts)
        await model.close()
        assert server.violations == []
    return served


async def test_a_good_answer_leaves_everything_in_one_call(new_world: NewWorld) -> None:
    served = await serve(new_world, GOOD)
    assert len(served.digests()) == 1
    assert served.column("SELECT summary || made_by FROM digest") == ["小王拔了智齿，搬到上海model"]
    assert served.world.rows("SELECT kind, text FROM memory ORDER BY id") == [
        ("event", "拔了智齿"), ("emotion", "今天上班好累"), ("knowledge", "我搬到上海了，房子在地铁站旁边"),
    ]  # fmt: skip
    assert served.world.rows("SELECT text, source, visibility FROM commitment ORDER BY id") == [
        ("我答应了妈妈周末回家看看她和外婆", "digest", "private"),
        ("我下周三要交年度总结，一个字还没动", "digest", "private"),
    ]
    (at,) = served.column("SELECT observed_at FROM memory WHERE text = '拔了智齿'")
    assert 0 < served.world.clock.now() - int(str(at)) < 2 * 86_400_000, "it happened yesterday at noon"
    assert int(str(at)) < served.world.clock.now() - 20 * 3_600_000
    assert served.column("SELECT due_at IS NULL FROM commitment ORDER BY id") == [0, 0]


@pytest.mark.parametrize("mode", ["none", "object", "schema"])
async def test_json_is_asked_for_as_the_server_can(new_world: NewWorld, mode: JsonMode) -> None:
    served = await serve(new_world, GOOD, mode=mode)
    (body,) = served.digests()
    form = mapping(body.get("response_format", {}))
    assert form.get("type", "none") == {"none": "none", "object": "json_object", "schema": "json_schema"}[mode]
    others = [mapping(json.loads(raw)) for raw in served.server.bodies if b'"tools"' in raw]
    assert others
    assert not any("response_format" in other for other in others)


BROKEN = {
    "words": Reply("好的，这是这段聊天的摘要。"),
    "refusal in words": Reply("抱歉，我不能处理这段内容。"),
    "half": Reply(GOOD[: len(GOOD) // 2]),
    "wrong types": Reply(answer(memories=[item("拔了智齿", 1, type="event", tag="") | {"from": "1"}])),
    "unknown field": Reply(answer(note="x")),
    "too long": Reply(answer(summary="长" * 21_000), fault="plain_json"),
    "cut": Reply(GOOD, fault="length"),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_answer_is_mended_once(new_world: NewWorld, name: str) -> None:
    served = await serve(new_world, BROKEN[name], GOOD)
    first, second = served.digests()
    sent = json.dumps(second, ensure_ascii=False)
    assert "不是要的那个 JSON 对象" in sent
    assert len(str(second["messages"])) > len(str(first["messages"]))
    assert served.column("SELECT made_by FROM digest") == ["model"]
    assert served.column("SELECT count(*) FROM commitment") == [2]
    assert served.column("SELECT cause FROM call WHERE cause = 'digest'") == ["digest", "digest"]
    assert served.column("SELECT count(*) FROM call WHERE state = 'reserved'") == [0]
    (line,) = served.world.log.named("digest_broken")
    assert line["fault"]
    assert not any(part in str(line) for part in ("智齿", "抱歉", "长长"))


@pytest.mark.parametrize("name", BROKEN)
async def test_what_cannot_be_mended_is_made_by_rule(new_world: NewWorld, name: str) -> None:
    served = await serve(new_world, BROKEN[name], BROKEN["words"])
    assert len(served.digests()) == 2
    assert served.column("SELECT made_by FROM digest") == ["rule"]
    assert "我昨天去医院拔了智齿，脸肿得像包子" in served.column("SELECT text FROM memory")
    assert served.column("SELECT count(*) FROM commitment") == [2]
    assert len(served.world.log.named("digest_broken")) == 2


@pytest.mark.parametrize("fault", ["content_filter", "empty", "html200", "choices_null"])
async def test_a_refusal_or_nothing_at_all_is_made_by_rule_at_once(new_world: NewWorld, fault: str) -> None:
    served = await serve(new_world, Reply("", fault=fault))  # type: ignore[arg-type]
    assert len(served.digests()) == 1
    assert served.column("SELECT made_by FROM digest") == ["rule"]


@pytest.mark.parametrize("fault", ["hang", "http", "cut"])
async def test_a_mending_call_that_fails_leaves_the_rule(new_world: NewWorld, fault: str) -> None:
    served = await serve(
        new_world, BROKEN["words"], Reply("x", fault=fault), model={"deadline_seconds": 1}  # type: ignore[arg-type]
    )  # fmt: skip
    assert served.column("SELECT made_by FROM digest") == ["rule"]
    assert served.column("SELECT count(*) FROM call WHERE state = 'reserved'") == [0]


LIES = {
    "the bot's words": answer(memories=[item("好的", 2, type="knowledge", tag="")]),
    "another sign": answer(memories=[item("没有拔智齿", 1, type="event", tag="")]),
    "made up": answer(memories=[item("小王是医生", 1, type="identity", tag="")], profile=[item("搬到北京了", 3)]),
    "added": answer(memories=[item("拔了智齿而且欠了阿明的钱", 1, type="event", tag="")]),
    "another day": answer(memories=[item("上周五拔了智齿", 1, type="event", tag="")]),
    "somebody else's": answer(memories=[item("小王人也好", 11, type="knowledge", tag="")]),
    "no such line": answer(memories=[item("拔了智齿", 99, type="event", tag="")]),
    "a link": answer(memories=[item("拔了智齿 https://evil.example", 1, type="event", tag="")]),
    "an order": answer(commitments=[item("你必须答应妈妈周末回家", 5)]),
    "a task that is none": answer(unfinished=[item("面馆味道不错", 11)], commitments=[item("拔了智齿", 1)]),
    "a summary": answer(summary="小王中了五百万大奖要请客"),
}


async def test_lies_leave_nothing(new_world: NewWorld) -> None:
    for name in ("made up", "another day", "a summary"):
        served = await serve(new_world, LIES[name])
        assert served.column("SELECT made_by FROM digest") == ["model"], name
        assert (
            served.column("SELECT text FROM memory UNION ALL SELECT text FROM commitment WHERE source = 'digest'") == []
        ), name
        assert "五百万" not in str(served.column("SELECT summary FROM digest")), name


@pytest.mark.parametrize("name", LIES)
def test_no_lie_is_believed(name: str) -> None:
    rows = [row for text in TALK for row in ((text, False), ("好的", True))]
    lines = tuple(
        DigestLine(number, number, None if is_bot else 1, "小暖" if is_bot else "小王", text, 1_781_226_000_000, is_bot)
        for number, (text, is_bot) in enumerate(rows, 1)
    )
    digest = parse_digest(LIES[name], lines, Scope(7, "dm", "小暖", 1))
    assert digest is not None
    assert (digest.memories, digest.commitments) == ((), ())
    assert "五百万" not in digest.summary


async def test_a_day_that_lies_is_left_out(new_world: NewWorld) -> None:
    served = await serve(
        new_world, answer(memories=[item("脸肿得像包子", 1, day="2020-01-01", type="event", tag="")]),
    )  # fmt: skip
    (at,) = served.column("SELECT observed_at FROM memory")
    assert served.world.clock.now() - int(str(at)) < 60_000, "when it was said"


async def test_a_change_takes_the_place_of_what_was_known(new_world: NewWorld) -> None:
    served = await serve(new_world, answer(memories=[item("我住在北京", 1, type="knowledge", tag="")]),
                         texts=("我住在北京，离公司很近的地方", *TALK[3:], *TALK[:1]))  # fmt: skip
    world = served.world
    assert served.column("SELECT text FROM memory WHERE disabled_at IS NULL") == ["我住在北京"]
    for text in ("我搬到上海了", "好的"):
        await world.say(text)
    await world.say("/new")
    assert served.column("SELECT text FROM memory WHERE disabled_at IS NULL") == ["我搬到上海了"]


async def test_what_was_done_later_is_not_to_do(new_world: NewWorld) -> None:
    tasks = answer(unfinished=[item("下周三交年度总结", 7)], commitments=[item("答应妈妈周末回家", 5)])
    served = await serve(new_world, tasks, texts=(*TALK, "年度总结交了，终于可以歇一歇"))
    assert served.column("SELECT text FROM commitment") == ["我答应了妈妈周末回家看看她和外婆"]
