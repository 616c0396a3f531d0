"""Digests by a model behind a wire: good, broken, lying, too long, cut and refused answers, and how it is asked."""

import json
from collections.abc import Mapping

import pytest

from bot.core.models import Capabilities, JsonMode
from bot.memory.transcript import DigestLine, TalkScope
from bot.model.client import OpenAIModel
from bot.model.dialect import Dialect
from tests.conftest import NewWorld
from tests.fakes.openai_dialects import DialectName
from tests.fakes.openai_rules import mapping
from tests.fakes.openai_script import Asked, Reply
from tests.fakes.openai_server import FakeOpenAI
from tests.labelled import parse_digest
from tests.peek import Like
from tests.tables import all_cases
from tests.world import World

TALK = (
    "我昨天去医院拔了智齿，脸肿得像包子",
    "我搬到上海了，房子在地铁站旁边",
    "我答应了妈妈周末回家看看她和外婆",
    "我下周三要交年度总结，一个字还没动",
    "今天上班好累，晚上随便吃了碗面就睡了",
    "楼下新开的面馆味道不错，老板人也好",
)


def item(text: str, *cited: int, **more: object) -> dict[str, object]:
    return {"text": text, "from": list(cited), **more}


def answer(**lists: object) -> str:
    whole = {"summary": "小王拔了智齿，搬到上海"}
    return json.dumps(whole | lists, ensure_ascii=False)


GOOD = answer(
    statements=[
        item("小王去医院拔了智齿", 1, when="2026-06-11", kind="event"),
        item("小王搬到上海了", 3, slot="home", lasting=True),
    ],
    moods=[item("今天上班好累", 9, tag="累")],
    tasks=[item("交年度总结", 7, when="2026-06-17")],
    promises=[item("周末回家看妈妈和外婆", 5, to="妈妈")],
)
"""People's lines have the odd numbers, the bot's answers the even ones."""

RIGHT = '{"wrong": []}'
"""What a second look answers that finds nothing wrong."""


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
    new_world: NewWorld,
    *answers: Reply | str,
    mode: JsonMode = "none",
    dialect: DialectName = "any",
    texts: tuple[str, ...] = TALK,
    **sections: dict[str, object],
) -> Served:
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


async def test_a_good_answer_is_looked_at_once_more_and_leaves_everything(new_world: NewWorld) -> None:
    served = await serve(new_world, GOOD, RIGHT)
    first, second = (str(body["messages"]) for body in served.digests())
    assert "再核对一遍" in second
    assert "1. [1] 小王去医院拔了智齿" in second
    assert "再核对一遍" not in first
    assert served.column("SELECT summary || made_by FROM digest") == ["小王拔了智齿，搬到上海model"]
    assert served.world.peek.memories("kind", "text") == [
        ("event", "小王去医院拔了智齿"),
        ("knowledge", "小王搬到上海了"),
        ("emotion", "6月12日上班好累"),
    ]
    assert ("交年度总结", "private") in served.world.peek.commitments("text", "visibility")
    (at,) = served.world.peek.memories.values("observed_at", text=Like("%智齿"))
    assert 0 < served.world.clock.now() - int(str(at)) < 2 * 86_400_000, "it happened yesterday at noon"
    assert int(str(at)) < served.world.clock.now() - 20 * 3_600_000


@pytest.mark.parametrize("mode", ["none", "object", "schema"])
async def test_json_is_asked_for_as_the_server_can(new_world: NewWorld, mode: JsonMode) -> None:
    served = await serve(new_world, GOOD, RIGHT, mode=mode)
    for body in served.digests():
        form = mapping(body.get("response_format", {}))
        assert form.get("type", "none") == {"none": "none", "object": "json_object", "schema": "json_schema"}[mode]
    others = [mapping(json.loads(raw)) for raw in served.server.bodies if b'"tools"' in raw]
    assert others
    assert not any("response_format" in other for other in others)


BROKEN = {
    "words": Reply("好的，这是这段聊天的摘要。"),
    "refusal in words": Reply("抱歉，我不能处理这段内容。"),
    "half": Reply(GOOD[: len(GOOD) // 2]),
    "wrong types": Reply(answer(statements="拔了智齿")),
    "another form": Reply(answer(memories=[item("拔了智齿", 1)])),
    "another language": Reply(answer(statements=[item("Wang had a tooth pulled", 1)])),
    "too long": Reply(answer(summary="长" * 21_000), fault="plain_json"),
    "cut": Reply(GOOD, fault="length"),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_answer_is_mended_once(new_world: NewWorld, name: str) -> None:
    served = await serve(new_world, BROKEN[name], GOOD, RIGHT)
    first, second, _ = served.digests()
    sent = json.dumps(second, ensure_ascii=False)
    assert "你的回答不能用" in sent
    assert len(str(second["messages"])) > len(str(first["messages"]))
    assert served.world.peek.digests.values("made_by") == ["model"]
    assert served.world.peek.commitments.count() == 2
    assert served.world.peek.calls.values("cause", cause="digest") == ["digest"] * 3
    assert served.world.peek.calls.count(state="reserved") == 0
    (line,) = served.world.log.named("digest_broken")
    assert line["fault"]
    assert not any(part in str(line) for part in ("智齿", "抱歉", "长长"))


@pytest.mark.parametrize("name", BROKEN)
async def test_what_cannot_be_mended_is_made_by_rule(new_world: NewWorld, name: str) -> None:
    served = await serve(new_world, BROKEN[name], BROKEN["words"])
    assert len(served.digests()) == 2
    assert served.world.peek.digests.values("made_by") == ["rule"]
    assert "我昨天去医院拔了智齿，脸肿得像包子" in served.world.peek.memories.values("text")
    assert served.world.peek.commitments.count() == 2
    (line,) = served.world.log.named("digest_broken")
    assert line["tried"] == 2
    assert not served.column("SELECT text FROM memory WHERE text LIKE '%长长%' OR text LIKE '%Wang%'")


@pytest.mark.parametrize("fault", ["content_filter", "empty", "html200", "choices_null"])
async def test_a_refusal_or_nothing_at_all_is_made_by_rule_at_once(new_world: NewWorld, fault: str) -> None:
    served = await serve(new_world, Reply("", fault=fault))  # type: ignore[arg-type]
    assert len(served.digests()) == 1
    assert served.world.peek.digests.values("made_by") == ["rule"]


@pytest.mark.parametrize("fault", ["hang", "http", "cut"])
async def test_a_mending_call_that_fails_leaves_the_rule(new_world: NewWorld, fault: str) -> None:
    served = await serve(
        new_world,
        BROKEN["words"],
        Reply("x", fault=fault),  # type: ignore[arg-type]
        model={"deadline_seconds": 1},
    )
    assert served.world.peek.digests.values("made_by") == ["rule"]
    assert served.world.peek.calls.count(state="reserved") == 0


LIES = {
    "the bot's words": answer(statements=[item("好的", 2)]),
    "another sign": answer(statements=[item("没有拔智齿", 1)]),
    "made up": answer(statements=[item("小王是飞行员", 1, kind="identity")]),
    "another day": answer(statements=[item("上周五拔了智齿", 1)]),
    "somebody else's": answer(statements=[item("小王人也好", 11)]),
    "no such line": answer(statements=[item("拔了智齿", 99)]),
    "a link": answer(statements=[item("拔了智齿 https://evil.example", 1)]),
    "an order": answer(promises=[item("你必须答应妈妈周末回家", 5)]),
    "a summary": answer(summary="小王中了五百万大奖要请客"),
}


async def test_lies_leave_nothing(new_world: NewWorld) -> None:
    for name in ("made up", "another day", "a summary"):
        served = await serve(new_world, LIES[name], RIGHT)
        assert served.world.peek.digests.values("made_by") == ["model"], name
        assert (
            served.column("SELECT text FROM memory UNION ALL SELECT text FROM commitment WHERE source = 'digest'") == []
        ), name
        assert "五百万" not in str(served.world.peek.digests.values("summary")), name


def wrong(*rows: tuple[int, str]) -> str:
    return json.dumps({"wrong": [{"n": n, "text": text, "when": "", "from": []} for n, text in rows]})


async def test_what_a_second_look_finds_wrong_is_mended_or_left_out(new_world: NewWorld) -> None:
    first = answer(
        statements=[item("小王搬到上海了", 3), item("小王去医院拔了门牙", 1), item("楼下面馆老板人很凶", 11)]
    )
    served = await serve(new_world, first, wrong((0, "小王拔牙、搬家。"), (2, "小王去医院拔了智齿"), (3, "")))
    assert served.world.peek.memories.values("text") == ["小王搬到上海了", "小王去医院拔了智齿"]
    assert served.world.peek.digests.values("summary") == ["小王拔牙、搬家。"]
    assert served.world.peek.calls.count(state="reserved") == 0
    (line,) = served.world.log.named("digest")
    assert (line["proposed"], line["kept"], line["mended"], line["refused"]) == (3, 2, 1, 1)


async def test_other_words_stand_where_a_second_look_confirms_them(new_world: NewWorld) -> None:
    told = answer(statements=[item("小王的新家交通便利，就在地铁站附近", 3)])
    served = await serve(new_world, told, RIGHT)
    assert served.world.peek.memories.values("text") == ["小王的新家交通便利，就在地铁站附近"]


@pytest.mark.parametrize(
    "lie",
    [
        "小王搬到上海5年了",
        "小王没有搬到上海",
        "小王6月30日搬到上海了",
        "小王搬到Lark Lane了",
        "小王中了大奖买了游艇出海环游",
    ],
)
async def test_numbers_days_names_and_denials_must_stand_whatever_a_second_look_says(
    new_world: NewWorld, lie: str
) -> None:
    served = await serve(new_world, answer(statements=[item(lie, 3)]), RIGHT)
    assert served.world.peek.memories.values("text") == []


async def test_without_a_second_look_the_rule_makes_the_digest(new_world: NewWorld) -> None:
    served = await serve(new_world, GOOD, BROKEN["words"])
    assert served.world.peek.digests.values("made_by") == ["rule"]
    assert served.world.peek.calls.count(state="reserved") == 0
    (line,) = served.world.log.named("digest_broken")
    assert line["fault"] == "check"


@all_cases("name", LIES)
def test_no_lie_is_believed(name: str) -> None:
    rows = [row for text in TALK for row in ((text, False), ("好的", True))]
    lines = tuple(
        DigestLine(number, number, None if is_bot else 1, "小暖" if is_bot else "小王", text, 1_781_226_000_000, is_bot)
        for number, (text, is_bot) in enumerate(rows, 1)
    )
    digest = parse_digest(LIES[name], lines, TalkScope(7, "dm", "小暖", 1))
    assert digest is not None
    assert (digest.memories, digest.commitments) == ((), ())
    assert "五百万" not in digest.summary


STRAY = {
    "lines that are not there": answer(statements=[item("小王搬到上海了", 40), item("小王拔了智齿", 0, 99)]),
    "one statement a hundred times": answer(statements=[item("小王搬到上海了", 3)] * 100),
    "one false statement a hundred times": answer(statements=[item("小王搬到广州了", 3)] * 100),
    "a hundred false ones": answer(statements=[item(f"小王有{number}套房子", 3) for number in range(2, 102)]),
    "a statement ten times too long": answer(statements=[item("小王搬到上海了，" * 60, 3)]),
    "no lines at all": answer(statements=[{"text": "小王搬到上海了"}]),
    "lines as words": answer(statements=[{"text": "小王搬到上海了", "from": "第三行"}]),
}


@pytest.mark.parametrize("name", STRAY)
async def test_an_answer_that_strays_leaves_nothing_false_and_one_line(new_world: NewWorld, name: str) -> None:
    served = await serve(new_world, STRAY[name], wrong(*((n, "") for n in range(1, 20))) if "false" in name else RIGHT)
    assert len(served.digests()) <= 2
    assert set(served.world.peek.memories.values("text")) <= {"小王搬到上海了", "我昨天去医院拔了智齿，脸肿得像包子"}
    assert len(served.world.log.named("digest")) == 1
    assert served.world.peek.calls.count(state="reserved") == 0
