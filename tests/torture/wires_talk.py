"""Rows of the table of faults about what becomes of what was said: edits, deletions, bots, wishes to keep, apologies.

They run the whole bot in this process, with simulated time and real SQLite.
"""

from __future__ import annotations

import random
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from tests.peek import Like
from tests.torture.row import Bound, Found, Row, Size
from tests.torture.wires_queue import nuan, number

if TYPE_CHECKING:
    from tests.world import World

CANARY = "zyx4711q"


async def edits(folder: Path, size: Size) -> Found:
    """D18: a message is edited three times after it was answered."""
    from tests.test_changes import happens

    async with nuan(folder) as world:
        replies = right = memories = 0
        for each in range(size.units):
            before, who = len(world.replies), f"人{each}"
            await world.say(f"我的暗号是甲{each}。记住我怕猫{each}。好吗？", who, external_id=f"m{each}")
            for last in "乙丙丁":
                text = f"我的暗号是{last}{each}。记住我怕狗{last}{each}。好吗？"
                await happens(world, "edit", f"m{each}", text, who=who, key=f"{each}{last}")
            replies += len(world.replies) - before
            await world.say("你说呢", who)
            right += f"暗号是丁{each}" in str(world.prompts[-1])
            kept = world.peek.memories("text", disabled_at=None, text=Like(f"%{each}%"))
            memories += [str(text) for (text,) in kept if str(text).endswith(f"丁{each}")] != [] and len(kept) == 1
        return Found({"messages": size.units, "replies": replies, "last text told": right, "memories right": memories})


async def deletions(folder: Path, size: Size) -> Found:
    """D19: a message is deleted while the model thinks about it, or at a random moment before, by turns."""
    from tests.fakes.clock import let_others_run
    from tests.storing import holding
    from tests.test_changes import change

    chance, quoted, prompts, files, midst, kept = random.Random(size.seed), 0, 0, 0, 0, 0
    for each in range(size.units):
        async with nuan(folder / str(each)) as world:
            world.model.script = lambda request: f"你说{CANARY}"
            world.shut()
            await world.app.ingest.accept(world.message(f"我的暗号是{CANARY}。记住我怕狗。", external_id="m"))
            if each % 2:
                await world.held()
            for _ in range(0 if each % 2 else chance.randrange(40)):
                await let_others_run()
            midst += world.model.held > 0
            await world.app.ingest.accept(change(world, "delete", "m"))
            await world.let_answer()
            await world.wait(3)
            quoted += any(CANARY in text for text in world.replies)
            since = len(world.prompts)
            world.model.script = lambda request: "在"
            await world.say("在吗")
            prompts += any(CANARY in str(prompt) for prompt in world.prompts[since:])
            files += bool(holding(world.folder, CANARY))
            kept += number(world, "SELECT count(*) FROM memory WHERE disabled_at IS NULL")
    return Found(
        {
            "deletions": size.units,
            "in the midst": midst,
            "quoted": quoted,
            "in a prompt": prompts,
            "on disk": files,
            "memories left": kept,
        }
    )


async def bots(folder: Path, size: Size) -> Found:
    """D20: two nuans and an echo bot in one group, each of which mentions whoever spoke."""
    from tests.test_bots import GROUP, bot_says

    most = humans = 0
    for each in range(size.units):
        async with nuan(folder / f"{each}a") as one, nuan(folder / f"{each}b") as other:
            await one.say("小暖，在吗", "阿明", GROUP)
            counts = [len(one.replies), len(other.replies)]
            for _ in range(100):
                before = [*counts]
                for hearer, speaker, name in ((other, one, "另一个暖"), (one, other, "另一个暖"), (one, one, "复读机")):
                    if speaker.replies:
                        await bot_says(hearer, f"@小暖 {speaker.replies[-1]}", name)
                counts = [len(one.replies), len(other.replies)]
                if counts == before:
                    break
            most = max(most, counts[0] - 1, counts[1])
            before_ms = one.clock.now()
            await one.say("小暖，别理它们", "阿明", GROUP)
            humans += one.replies[-1] == "好的" and one.clock.now() - before_ms < 5_000
    return Found({"loops": size.units, "humans answered": humans}, {"replies in 60 s": most})


async def spam(folder: Path, size: Size) -> Found:
    """R7: one person asks again and again to have something kept; how long recall takes before and after, for another
    one and, beside that, for them: the median of turns, in time of this process."""
    mine = "SELECT count(*) FROM memory JOIN person ON person.id = owner_id WHERE name = '阿明'"

    async def recalling(world: World, who: str) -> float:
        took = list[float]()
        for _ in range(45):
            begun = time.process_time()
            await world.say("我的暗号是什么", who)
            took.append(time.process_time() - begun)
        return median(took[5:]) * 1000  # the first ones warm up

    async with nuan(folder, memory={"keep_minute": 30, "keep_most": 1_000}) as world:
        for each in range(20):
            await world.say(f"记住我的第{each}件事是{each * 7919}", "阿红")
        before = await recalling(world, "阿红")
        lately = list[int]()
        for each in range(size.units):
            await world.app.ingest.accept(world.message(f"记住我的第{each}个暗号是{each * 7919}", "阿明"))
            if each % 100 == 99:
                await world.app.settled()
                await world.wait(30)
                lately.append(number(world, f"{mine} AND memory.created_at > ?", world.clock.now() - 60_000))
        await world.app.settled()
        after = await recalling(world, "阿红")
        theirs = await recalling(world, "阿明")
        rows = number(world, mine)
        first = number(world, "SELECT count(*) FROM memory WHERE text LIKE '%第0个暗号%' AND disabled_at IS NULL")
        unanswered = size.units - sum("记" in text or "过一分钟" in text for text in world.replies[20:])
        return Found(
            {"wishes": size.units, "first kept": first},
            {
                "rows": rows,
                "in a minute": max(lately, default=0),
                "recall by before": round(after / before, 2),
                "their recall by another's": round(theirs / after, 2),
                "unanswered": max(0, unanswered),
            },
        )


async def outage(folder: Path, size: Size) -> Found:
    """D27: the model is down for nine minutes while people write every half minute, in groups of their own."""
    from bot.config.settings import Settings
    from bot.core.errors import ModelError
    from tests.slow import SlowWorld
    from tests.world import Talk

    begun, typed = 0, set[str]()

    class Typed(Talk):
        """Shows where it is typing."""

        def typing(self, external_chat_id: str, on: bool) -> None:
            nonlocal begun
            begun += on
            (typed.add if on else typed.discard)(external_chat_id)

    settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "budget": {"day_tokens": None}})
    world = SlowWorld(folder / "data", settings, takes_ms=lambda: 1_000)
    world.talk = Typed()
    await world.open()
    world.model.script = lambda request: ModelError("unreachable", "")
    late = 0
    for _ in range(18):
        for chat in range(size.units):
            await world.app.ingest.accept(world.message("小暖，在吗", f"人{chat}", f"群{chat}"))
        await world.wait(10)
        late += len(typed)
        await world.wait(20)
    told = [out.external_chat_id for out in world.talk.said]
    most = max(told.count(chat) for chat in set(told))
    world.model.script = lambda request: "好的"
    await world.wait(300)  # a model that failed is let rest
    await world.app.ingest.accept(world.message("小暖，好了吗", "人0", "群0"))
    await world.wait(5)
    await world.close()
    return Found(
        {
            "chats": size.units,
            "apologies": len(told),
            "answered after": world.replies.count("好的"),
            "typing": begun,
            "typing after 10 s": late,
        },
        {"apologies in a chat": most},
    )


TALK = (
    Row(
        "D18",
        "an edited message",
        "one reply, the next request has the last text, the memory says it too",
        "messages",
        50,
        2,
        50,
        300,
        (
            Bound("replies", "==", 1, "messages"),
            Bound("last text told", "==", 1, "messages"),
            Bound("memories right", "==", 1, "messages"),
        ),
        edits,
        ("test_changes.py::test_any_order_of_messages_edits_and_deletions_ends_in_the_last_text",),
    ),
    Row(
        "D19",
        "a message deleted while it is answered",
        "not quoted, not in the next request, nowhere in the database",
        "deletions",
        60,
        2,
        20,
        300,
        (
            Bound("quoted", "==", 0),
            Bound("in a prompt", "==", 0),
            Bound("on disk", "==", 0),
            Bound("memories left", "==", 0),
            Bound("in the midst", ">=", 0.2, "deletions"),
        ),
        deletions,
        ("test_deletions.py::test_a_deleted_message_leaves_no_trace",),
        differs="Telegram tells no bot of deletions: there a reply with 忘记 is the way",
    ),
    Row(
        "D20",
        "bots that answer each other",
        "at most 20 replies in 60 s, a human is answered at once",
        "loops",
        5,
        0,
        5,
        300,
        (Bound("replies in 60 s", "<=", 20), Bound("humans answered", "==", 1, "loops")),
        bots,
        (
            "test_bots.py::test_two_nuans_in_one_group_fall_silent",
            "test_bots.py::test_two_bots_end_after_twenty_exchanges_and_a_human_is_still_answered",
        ),
    ),
    Row(
        "R7",
        "one person floods memory",
        "no more rows than the quota, none dropped, recall as fast as before",
        "wishes",
        10_000,
        0,
        10_000,
        1_800,
        (
            Bound("rows", "<=", 1_000),
            Bound("in a minute", "<=", 30),
            Bound("first kept", "==", 1),
            Bound("recall by before", "<=", 1.5),
            Bound("their recall by another's", "<=", 3),
        ),
        spam,
        ("test_memory_quota.py::test_a_person_keeps_so_many_and_no_more",),
        differs="others' recall is within half as long again, and of whoever has a thousand memories within three "
        "times that of one who has twenty",
    ),
    Row(
        "D27",
        "apologies while no model answers",
        "one in each chat and outage of ten minutes, no sign of typing 10 s later",
        "chats",
        50,
        2,
        50,
        300,
        (
            Bound("apologies", "==", 1, "chats"),
            Bound("apologies in a chat", "==", 1),
            Bound("answered after", "==", 1),
            Bound("typing", ">=", 1, "chats"),
            Bound("typing after 10 s", "==", 0),
        ),
        outage,
    ),
)
