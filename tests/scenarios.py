"""Ten hard tests as scenarios that leave a full fingerprint: two runs of one must not differ in a byte."""

import asyncio
import hashlib
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from bot.config.settings import Settings
from bot.core.errors import ModelError
from bot.core.models import ModelRequest
from tests.fakes.model import Answer, calls, says
from tests.world import World

Scenario = Callable[[World], Awaitable[None]]

GROUP = "闲聊"
TALK = (
    "我下周三要去成都看大熊猫，机票已经买好了",
    "最近工作压力好大，晚上总是睡不着觉",
    "我妈妈昨天做了红烧肉，真的特别香",
    "我想学吉他，你觉得从哪里开始比较好",
    "周末打算和朋友去爬山，希望不要下雨",
)
LOG = """FROM entry JOIN epoch ON epoch.id = entry.epoch_id JOIN session ON session.id = epoch.session_id
    JOIN turn ON turn.id = entry.turn_id"""
LEFT = (
    "SELECT at, kind, person_id, name, text, label, state, why, due_at, outcome, hidden FROM event WHERE chat_id = ? "
    "ORDER BY id",
    "SELECT part, kind, text, state, attempts, due_at, sent_at FROM outbox WHERE chat_id = ? ORDER BY id",
    "SELECT number, state, opened_at, last_at, close_at, close_reason, closed_at, digest_attempts FROM session "
    "WHERE chat_id = ? ORDER BY number",
    "SELECT session.number, turn.number, turn.state, why, person_id, asked_at, said_at, receipts, error FROM turn "
    "JOIN session ON session.id = session_id WHERE turn.chat_id = ? ORDER BY turn.id",
    "SELECT session.number, epoch.number, epoch.reason, position, turn.number, message, entry.tokens, (SELECT count(*) "
    f"FROM edge WHERE edge.kind = 'entry' AND derived_id = entry.id) {LOG} WHERE session.chat_id = ? "
    "ORDER BY entry.id",
    "SELECT cause, state, at, settled_at, estimated_tokens, output_tokens, cost, counted, CASE counted "
    "WHEN 'returned' THEN prompt_tokens END FROM call "
    "WHERE chat_id = ? ORDER BY at, cause = 'digest', id",  # a digest and the next turn run side by side
    "SELECT owner_id, visibility, kind, slot, text, asked, source, importance, disabled_reason, purge_at, "
    "observed_at FROM memory WHERE chat_id = ? ORDER BY id",
    "SELECT summary, made_by, names, started_at, ended_at, created_at FROM digest WHERE chat_id = ? "
    "ORDER BY started_at, ended_at, session_id IS NULL, id",  # those of two sessions are made side by side
    "SELECT person_id, until FROM conversation_window WHERE chat_id = ? ORDER BY 1",
)
"""What is left in the rows of one chat. Row numbers are left out: chats run beside each other, and which of two is a
moment earlier to get a number depends on the machine; the numbers of memories, which are told, are counted in each chat
instead. So does what an estimate has learnt from the other chats' counts
(reservations, and what is taken for a count that no server gave); what it was made from is compared."""


def clever(request: ModelRequest) -> Answer:
    """A model whose answer follows from its request: tools when asked for, digests, counts."""
    last = request.prompt.messages[-1]
    if not request.prompt.tools:
        return json.dumps({"summary": f"聊了{len(last.content)}个字", "statements": []}, ensure_ascii=False)
    if last.role == "user" and "查" in last.content:
        return calls(
            ("memory_recall", '{"query": "怕狗"}'), ("remember", '{"text": "查之前先想想", "kind": "experience"}')
        )
    return says(
        f"回答{len(request.prompt.messages)}", prompt_tokens=sum(len(m.content) for m in request.prompt.messages)
    )


async def chats_in_parallel(world: World) -> None:
    """Six people in six chats at once, with memories, recall and experiences, whose numbers all chats share."""
    for number in range(3):
        for text in ("你好", "记住我怕狗。你说呢？", "查一下", "忘记我怕狗"):
            await asyncio.gather(*(world.app.ingest.accept(world.message(text, f"人{who}")) for who in range(6)))
            await world.app.settled()
        await world.wait(700 * number)


async def crash_in_a_call(world: World) -> None:
    """kill -9 while two chats wait for the model, twice."""
    await world.say("你好")
    for number in range(2):
        world.shut()
        for who, group in (("小王", ""), ("阿明", GROUP)):
            await world.app.ingest.accept(world.message(f"小暖，想你了{'呀' * number}", who, group))
        await world.held(2)
        await world.crash()
    await world.say("在吗")


async def follow_ups(world: World) -> None:
    """Three people talk at once, with windows that overlap, a crash and a switch."""
    for who in ("阿明", "阿红", "阿蓝"):
        await world.say("小暖，在吗", who, GROUP)
    for step in range(12):
        await world.say(f"第{step}句", ("阿明", "阿红", "阿蓝")[step % 3], GROUP)
        await world.wait(step)
    await world.crash()
    await world.say(".ai off", "小王", GROUP)
    await world.wait(30)
    await world.say(".ai on", "小王", GROUP)
    await world.say("小暖，醒醒", "阿明", GROUP)


async def tools_and_a_crash(world: World) -> None:
    """Death between two model calls of one turn, after the tools ran."""
    await world.say("记住我怕狗")
    world.shut()
    await world.app.ingest.accept(world.message("查一下我怕什么"))
    await world.held()
    await world.answer_one()
    await world.crash()
    await world.say("查一下别的")


async def forgetting_during_a_turn(world: World) -> None:
    """忘记 arrives while the model still thinks about the very thing, and nuan dies before it answers."""
    await world.say("记住我的密码是紫藤4711，你说呢？")
    world.shut()
    await world.app.ingest.accept(world.message("密码是什么"))
    await world.held()
    await world.app.ingest.accept(world.message("忘记我的密码"))
    await world.held()
    await world.crash()
    await world.say("密码是什么")
    await world.say("撤销 #1")
    await world.say("/new")
    await world.say("早")


async def digests_and_a_crash(world: World) -> None:
    """The next session talks on while the last one's digest hangs; then nuan dies."""
    for text in TALK:
        await world.say(text)
    world.shut()
    await world.app.ingest.accept(world.message("/new"))
    await world.held()
    await world.app.ingest.accept(world.message("早"))
    await world.held(2)
    await world.crash()
    await world.wait(3000)
    await world.say(".ai dialog")


async def faults(world: World) -> None:
    """Every fault of the model in a row, then back-off of the digest until it is well."""
    for fault in ("unreachable", "refused", "busy", "timeout", "invalid", "cut", "filtered", "overflow"):
        world.model.script = lambda request, fault=fault: ModelError(fault, "…")  # type: ignore[misc]
        await world.say(f"第{fault}句说给你听听")
        await world.say("记住我怕狗。然后呢？")
    await world.say("/new")
    await world.wait(100)
    world.model.script = clever
    await world.wait(3000)
    await world.say("早")


async def away_and_back(world: World) -> None:
    """Stops with work waiting, and starts long after deadlines have passed."""
    await world.say("小暖，在吗", "阿明", GROUP)
    await world.say("我想说", "阿明", GROUP)
    await world.say("你好")
    for seconds in (3, 1800, 90_000):
        await world.close()
        world.away(seconds)
        await world.open()
        await asyncio.gather(*(world.app.ingest.accept(world.message("我回来了", who)) for who in ("小王", "阿红")))
        await world.app.settled()


async def a_broken_platform(world: World) -> None:
    """Replies pile up, nuan dies, and all go out in order later."""
    world.talk.broken = True
    for text in ("你好", "记住我怕狗", "在吗", ".ai help"):
        await world.say(text)
        await world.say(f"小暖，{text}", "阿明", GROUP)
    await world.crash()
    await world.wait(60)
    world.talk.broken = False
    await world.wait(400)


async def a_busy_group(world: World) -> None:
    """Much that nobody answers, scenes, names that change, and a clear."""
    for number in range(30):
        await world.say(f"闲话{number}" * 9, f"人{number % 7}", GROUP, scene=f"场景{number // 8}")
        await world.wait(number)
    await world.say("小暖，他们说了什么，查一下", "阿明", GROUP)
    await world.say(".ai clear", "小王", GROUP)
    await world.say("小暖，现在呢", "阿明", GROUP)
    await world.wait(20 * 3600)
    await world.say("小暖，早", "阿明", GROUP)


SCENARIOS: tuple[Scenario, ...] = (
    chats_in_parallel,
    crash_in_a_call,
    follow_ups,
    tools_and_a_crash,
    forgetting_during_a_turn,
    digests_and_a_crash,
    faults,
    away_and_back,
    a_broken_platform,
    a_busy_group,
)


def in_their_chats(memories: Iterable[tuple[object, ...]]) -> Callable[[str], str]:
    """What writes `#chat.n` for the number of a memory, n counted in its chat."""
    counts: Counter[object] = Counter()
    local: dict[str, str] = {}
    for number, chat in memories:
        counts[chat] += 1
        local[f"#{number}"] = f"#{chat}.{counts[chat]}"
    return lambda text: re.sub(r"#\d+(?![.\d])", lambda found: local.get(found[0], found[0]), text)


async def fingerprint(scenario: Scenario, folder: Path) -> str:
    """Run it in a new installation; what the model was sent, what was said, and what is left in each chat, as one
    hash.
    """
    settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "session": {"log_tokens": 900}})
    world = World(folder, settings)
    await world.open()
    world.model.script, world.model.digests = clever, True
    try:
        await scenario(world)
        chats = [chat for (chat,) in world.peek.chats("id")]
        rows = [[world.rows(query, chat) for query in LEFT] for chat in chats]
        numbers = in_their_chats(world.rows("SELECT id, chat_id FROM memory ORDER BY id"))
    finally:
        await world.close()
    assert world.peek.calls.count(state="reserved") == 0
    assert not [line for line in world.log.lines if line[0] == "error"]
    sent = sorted([numbers(message.canonical()) for message in prompt] for prompt in world.prompts)
    said = [[outgoing.text for outgoing in world.talk.said if outgoing.chat_id == chat] for chat in chats]
    text = numbers(json.dumps([sent, said, rows], ensure_ascii=False, indent=0))
    (folder / "fingerprint.json").write_text(text, "utf-8")
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
