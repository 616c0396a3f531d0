"""Money and faults: no call without a reservation, one clear line when something is wrong, and nothing is lost."""

import errno
import json
import re

import pytest

from bot.core.errors import ModelError
from bot.core.models import ModelRequest
from bot.money import limits
from bot.store.ledger import Reservation
from tests.conftest import NewWorld
from tests.fakes.model import Answer, calls, says
from tests.peek import Other
from tests.test_closing import TALK, is_digest
from tests.world import World

PRICED = {"price_input": 100.0, "price_cached": 10.0, "price_output": 200.0}
HINTS = {
    "unreachable": ("连不上模型", "連不上模型", "can't reach my model"),
    "refused": ("不肯接", "不肯接", "refused"),
    "busy": ("太忙", "太忙", "too busy"),
    "timeout": ("想太久", "想太久", "thought for too long"),
    "invalid": ("看不懂", "看不懂", "couldn't make sense"),
    "cut": ("没说完就断了", "沒說完就斷了", "broke off"),
    "filtered": ("不愿意回答", "不願意回答", "does not want to answer"),
    "overflow": ("太长", "太長", "too long"),
}


def reserved(world: World) -> list[tuple[object, ...]]:
    return world.peek.calls("cause", state="reserved")


async def test_every_call_of_any_kind_is_reserved_before_it_is_made(world: World) -> None:
    seen: list[object] = []

    def script(request: ModelRequest) -> Answer:
        seen.extend(row[0] for row in reserved(world))
        if is_digest(request):
            return "no digest"
        if "查" in request.prompt.messages[-1].content and request.prompt.messages[-1].role == "user":
            return calls(("memory_recall", '{"query": "x"}'))
        return "好的"

    world.model.digests = True
    world.model.script = script
    for text in TALK:
        await world.say(text)
    await world.say("查一下")
    await world.say("小暖，在吗", "阿明", "闲聊")
    await world.say("接着说", "阿明", "闲聊")
    await world.wait(5)
    await world.say("/new")
    assert seen == ["reply"] * 6 + ["tool", "reply", "followup", "digest", "digest"]
    assert reserved(world) == []


@pytest.mark.parametrize("limit", ["day_tokens", "month_tokens"])
async def test_a_token_limit_gives_one_clear_line_and_no_call(new_world: NewWorld, limit: str) -> None:
    world = await new_world(budget={"day_tokens": None, limit: 100})
    await world.say("你好")
    assert world.model.requests == []
    assert len(world.replies) == 1
    assert world.replies[0].startswith("预算不够再答一次啦")
    assert len(world.log.named("over_budget")) == 1
    await world.say("记住我怕狗")
    assert world.replies[-1].startswith("记住啦 #1")
    await world.say("在吗")
    assert len(world.replies) == 2, "it is said once a day"


@pytest.mark.parametrize("limit", ["day_money", "month_money"])
async def test_a_money_limit_counts_what_calls_cost(new_world: NewWorld, limit: str) -> None:
    world = await new_world(model=PRICED, budget={limit: 0.5})
    world.model.script = lambda request: says("好", prompt_tokens=1000)
    asked = 0
    while len(world.model.requests) == asked:
        await world.say("你好")
        asked += 1
    spent = world.rows("SELECT sum(cost) FROM call")[0][0]
    assert isinstance(spent, float)
    assert 0.1 <= spent <= 0.5
    assert asked - 1 == len(world.model.requests) == round(spent / 0.1002)
    assert world.replies[-1].startswith("预算不够再答一次啦")
    assert reserved(world) == []


async def test_the_next_day_she_speaks_again_and_reads_what_was_missed(new_world: NewWorld) -> None:
    world = await new_world(budget={"day_tokens": 2500})
    world.model.script = lambda request: says("好", prompt_tokens=1500)
    await world.say("你好")
    await world.say("这句没有答到")
    assert world.replies[-1].startswith("预算不够再答一次啦")
    await world.wait(15 * 3600)
    await world.say("早")
    assert world.replies[-1] == "好"
    assert "这句没有答到" in world.last_user


async def test_a_limit_reached_between_two_rounds_ends_the_turn_in_one_line(new_world: NewWorld) -> None:
    world = await new_world(budget={"day_tokens": 3000})
    world.model.script = lambda request: type(says(""))(
        "", calls(("memory_recall", '{"query": "x"}')).tool_calls, says("", prompt_tokens=1500).usage, "tool_calls"
    )
    await world.say("你好")
    assert len(world.model.requests) == 1
    assert len(world.replies) == 1
    assert world.replies[0].startswith("预算不够再答一次啦")
    assert reserved(world) == []


async def test_without_money_for_a_digest_the_rule_makes_it(new_world: NewWorld) -> None:
    world = await new_world(budget={"day_tokens": 12_000})
    world.model.digests = True
    for text in TALK:
        await world.say(text)
    while not world.replies[-1].startswith("预算"):
        await world.say("你好")
    left = 12_000 - (await world.store.ledger.spend(0)).tokens
    (session,) = world.rows("SELECT max(id) FROM session")[0]
    assert isinstance(session, int)
    rest = Reservation("digest", "m", left, 0.0, limits(world.settings), 0, 0)
    await world.store.ledger.reserve(session, rest, world.clock.now())
    await world.say("/new")
    assert world.peek.calls.count(cause="digest", state=Other("reserved")) == 0
    assert world.peek.digests("made_by") == [("rule",)]


async def test_what_the_server_counted_is_what_is_charged(new_world: NewWorld) -> None:
    world = await new_world(model=PRICED)
    world.model.script = lambda request: says("好好好", prompt_tokens=1000)
    await world.say("你好")
    assert world.rows("SELECT prompt_tokens, output_tokens, round(cost, 6), counted FROM call") == [
        (1000, 3, 0.1006, "returned")
    ]


async def test_without_counts_what_was_reserved_is_charged(new_world: NewWorld) -> None:
    world = await new_world(model={"price_input": 2.0, "price_output": 8.0})
    await world.say("你好")
    ((output, counted),) = world.peek.calls("output_tokens", "counted")
    assert isinstance(output, int)
    assert (0 < output < 20, counted) == (True, "reserved")
    ((tokens, cost),) = world.rows(
        "SELECT prompt_tokens + output_tokens - reserved_tokens, cost / reserved_cost FROM call"
    )
    assert (tokens, cost) == (0, 1.0)


@pytest.mark.parametrize("fault", HINTS)
@pytest.mark.parametrize(("script", "text"), [(0, "我说的话"), (1, "我說的話"), (2, "what I said")])
async def test_each_fault_is_one_line_to_the_person_and_the_conversation_goes_on(
    world: World, fault: str, script: int, text: str
) -> None:
    world.model.script = lambda request: ModelError(fault, "secret detail")  # type: ignore[arg-type]
    await world.say(text)
    assert len(world.replies) == 1
    assert HINTS[fault][script] in world.replies[0]
    assert "\n" not in world.replies[0]
    assert "secret" not in world.replies[0]
    assert [line["fault"] for line in world.log.named("model_failed")] == [fault]
    assert world.log.named("model_failed")[0]["detail"] == "secret detail"
    state = "released" if fault in ("unreachable", "refused", "busy", "overflow") else "lost"
    assert world.peek.calls("state") == [(state,)]
    world.model.script = lambda request: "好的"
    await world.say("go on")
    assert world.replies[-1] == "好的"
    assert text in world.last_user


async def test_a_fault_after_a_memory_command_keeps_its_receipt(world: World) -> None:
    world.model.script = lambda request: ModelError("busy", "")
    await world.say("记住我怕狗。今天吃什么？")
    assert len(world.replies) == 1
    assert world.replies[0].startswith("记住啦 #1：我怕狗\n")
    assert world.peek.memories("text") == [("我怕狗",)]


async def test_a_defect_in_the_model_is_one_line_and_the_chat_lives_on(world: World) -> None:
    world.model.script = lambda request: RuntimeError("boom")
    await world.say("你好")
    assert (world.replies, reserved(world)) == ([], [])
    await world.wait(130)  # it is tried again for two minutes
    assert world.replies == ["我这边出了点问题，已经记进日志；你说的话没有丢"]
    assert reserved(world) == []
    world.model.script = lambda request: "好的"
    await world.say("在吗")
    assert world.replies[-1] == "好的"
    assert "你好" in world.last_user


async def test_a_call_lost_in_a_crash_is_charged_at_its_reservation(world: World) -> None:
    world.shut()
    await world.app.ingest.accept(world.message("你好"))
    await world.held()
    ((tokens,),) = world.peek.calls("reserved_tokens")
    await world.crash()
    assert world.peek.calls("state", "prompt_tokens")[0] == ("lost", tokens)
    assert world.peek.calls("state")[1:] == [("settled",)]
    assert world.replies == ["好的"]


async def test_a_call_that_the_machine_cut_off_is_charged_when_its_turn_goes_on(world: World) -> None:
    def full(request: ModelRequest) -> Answer:
        raise OSError(errno.ENOSPC, "no space left")

    world.model.script = full
    await world.say("你好")
    world.model.script = lambda request: "好的"
    await world.say("在吗")
    assert world.replies[0] == "好的"
    assert reserved(world) == []
    assert ("lost",) in world.peek.calls("state")


async def test_a_stop_during_a_call_resumes_it_at_the_next_start(world: World) -> None:
    await world.say("你好")
    world.shut()
    await world.app.ingest.accept(world.message("想你了"))
    await world.held()
    await world.crash()
    assert world.replies == ["好的", "好的"]
    assert reserved(world) == []


async def test_a_platform_that_is_away_gets_the_reply_later_once(world: World) -> None:
    world.talk.broken = True
    await world.say("你好")
    await world.wait(30)
    assert world.replies == []
    world.talk.broken = False
    await world.wait(200)
    assert world.replies == ["好的"]
    await world.wait(1000)
    assert world.replies == ["好的"]
    assert len(world.model.requests) == 1


async def test_what_was_not_sent_is_sent_after_a_crash(world: World) -> None:
    world.talk.broken = True
    await world.say("你好")
    await world.crash()
    world.talk.broken = False
    await world.wait(200)
    assert world.replies == ["好的"]
    assert len(world.model.requests) == 1


async def test_the_log_has_one_line_for_each_turn_and_nobodys_text(world: World) -> None:
    for text in ("你好蓝鲸", "记住我怕蓝鲸", "还有蓝鲸吗"):
        await world.say(text)
    assert [line["turn"] for line in world.log.named("turn")] == [1, 2]
    told = [{k: v for k, v in fields.items() if k not in ("text", "reply")} for _, _, fields in world.log.lines]
    assert "蓝鲸" not in json.dumps(told, ensure_ascii=False, default=str)


async def test_who_is_refused_below_the_limit_learns_what_is_used_held_and_needed(new_world: NewWorld) -> None:
    world = await new_world(budget={"day_tokens": 4_400})
    world.model.script = lambda request: says("好", prompt_tokens=2_000)
    await world.say("我今天想聊聊工作上的事")
    world.shut()
    await world.app.ingest.accept(world.message("小暖，我想聊聊工作上的事", "小李", "家"))
    await world.held()
    await world.app.ingest.accept(world.message("后来老板又加了需求"))
    await world.held()
    await world.let_answer()
    found = re.fullmatch(
        r"预算不够再答一次啦（今天的 token 用了 (\d+)%，正在进行的调用占着 (\d+)%，这一次还要先留 (\d+)%），.*",
        world.replies[-2],
    )
    assert found is not None, world.replies
    used, held, needed = map(int, found.groups())
    assert used == 45
    assert held > 10
    assert used + held < 100 < used + held + needed + 2
    await world.say(".ai budget")
    lines = world.replies[-1].splitlines()
    assert lines[1] == f"上次没有答：今天的 token 用了 {used}%，正在进行的调用占着 {held}%，这一次还要先留 {needed}%"
