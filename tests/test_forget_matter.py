"""What people ask to forget of what they only talked of is gone: its lines, summaries, replies; with and without a
model that calls the tool. Laments and reports forget nothing."""

import json
import re

import pytest

from bot.language.wishes.forget import matter_in
from tests.fakes.model import calls, says
from tests.living import FILL, digested
from tests.peek import Like
from tests.tables import all_cases
from tests.test_digest_changes import after
from tests.world import World

MATTERS = [
    (("我表弟小凯上个月从我这里拿了两千块", "他在顺丰开货车"), "小凯的事你全部忘掉吧", "小凯|顺丰|两千"),
    (("其实我去年做过一次抑郁量表，分数挺高的",), "刚才那个量表的事别记着了", "量表"),
    (("我前男友阿伟昨天又给我发消息", "我没回他"), "把阿伟忘了吧，跟他有关的都删掉", "阿伟|没回"),
    (("跟你说个秘密，我存了八万私房钱",), "私房钱那件事你就当我没说过", "八万|私房"),
    (("我同事Mark欠我三千塊", "他在信義區上班"), "關於Mark的全部都忘記", "Mark|信義"),
    (("我這次健檢膽固醇超標",), "健檢那件事不要記", "膽固醇|健檢"),
    (("其實我爸媽在談離婚",), "我爸媽離婚的事請你忘掉", "離婚"),
    (
        ("my roommate Derek got arrested last week", "he works at a pawn shop"),
        "forget everything about Derek",
        "derek|pawn",
    ),
    (("i weigh 240 pounds now lol",), "can you not remember the weight thing", "240|weigh"),
    (("my boss Carla is dating the CFO",), "please forget what i told you about Carla", "carla|cfo"),
    (("i failed my bar exam twice tbh",), "don't remember the bar exam stuff, ok?", "bar exam"),
    (("we paid 430k for the house",), "hey scratch that bit about the house price, don't keep it", "430"),
]
"""Lines, the wish, and what must be nowhere afterwards."""

TALK = [
    "我想忘掉他的事",
    "我把单词都忘了",
    "昨天学的全忘了",
    "你把小凯的事都忘了？",
    "忘掉那些不开心的事吧",
    "did you forget everything about Derek?",
    "i can't forget that house thing",
    "don't forget the bar exam stuff",
    "forget it",
    "let's forget about work",
    "我什么都不记得了",
    "记得小凯的事",
]


def held(world: World, words: str) -> set[str]:
    """Where the database still tells of it, beside what is kept for undo."""
    texts = {
        "event": "SELECT text FROM event",
        "digest": "SELECT summary FROM digest",
        "memory": "SELECT text FROM memory WHERE disabled_at IS NULL",
        "outbox": "SELECT text FROM outbox",
        "entry": "SELECT message FROM entry",
    }
    return {
        table
        for table, sql in texts.items()
        for (text,) in world.rows(sql)
        if re.search(words, str(text), re.IGNORECASE)
    }


@pytest.mark.parametrize("hours", [0, 6])
@pytest.mark.parametrize(("lines", "wish", "words"), MATTERS)
async def test_a_matter_is_gone_with_all_that_was_said_of_it(
    world: World, lines: tuple[str, ...], wish: str, words: str, hours: int
) -> None:
    """Whether the talk is over or not; what else was said that day stays."""
    for line in (*lines, "我今天煮了番茄牛腩"):
        await world.say(line)
    await world.wait(hours * 3_600)
    await world.say(wish)
    asked = len(world.model.requests)
    await world.wait(2 * 86_400)
    await world.say("早上好呀，今天天气怎么样")
    later = "\n".join(m.content for request in world.model.requests[asked:] for m in request.prompt.messages)
    assert not re.search(words, later, re.IGNORECASE)
    assert held(world, words) == set()
    assert held(world, "番茄") >= {"event"}


@all_cases("line", TALK)
def test_a_lament_a_report_or_a_question_is_no_such_wish(line: str) -> None:
    """What forgets for good is asked for in so many words."""
    assert matter_in(line) is None


async def test_a_wish_about_what_nobody_talked_of_is_talk(world: World) -> None:
    """It is answered like any line."""
    await world.say("我今天煮了番茄牛腩")
    await world.say("小凯的事你全部忘掉吧")
    assert world.replies[-1] == "好的"
    assert "番茄" in world.sent


async def test_said_twice_the_second_wish_is_gone_too(world: World) -> None:
    """It names what was forgotten."""
    await world.say("Jenny又来借钱，我跟她吵翻了")
    await world.say("忘记Jenny，跟她有关的全部忘掉")
    await world.say("对，Jenny的都忘掉，全部")
    assert held(world, "jenny") == set()


async def test_what_others_say_of_it_in_a_group_stays_theirs(world: World) -> None:
    """Nobody makes another's lines go."""
    await world.say("小凯昨天请客吃饭了", who="小李", group="同事")
    await world.say("小凯的事你全部忘掉吧 @nuan", group="同事")
    assert "event" in held(world, "请客")


async def test_a_model_that_calls_the_tool_forgets_what_no_memory_tells(world: World) -> None:
    """The rule did not read the wish; the person's own words carry it."""
    await world.say("we've only got 11k saved for the wedding")
    await world.say("oh and i bought shoes")
    arguments = json.dumps({"text": "wedding savings"})

    def script(request: object) -> object:
        messages = request.prompt.messages  # type: ignore[attr-defined]
        return calls(("forget", arguments)) if "erase" in messages[-1].content else says("ok")

    world.model.script = script  # type: ignore[assignment]
    await world.say("tbh i'd feel better if you could erase the wedding savings from your head")
    assert held(world, "11k") == set()
    assert "event" in held(world, "shoes")
    world.model.script = lambda request: "ok"
    asked = len(world.model.requests)
    await world.wait(2 * 86_400)
    await world.say("good morning, how is it going?")
    later = "\n".join(m.content for request in world.model.requests[asked:] for m in request.prompt.messages)
    assert "11k" not in later


@pytest.mark.parametrize(
    ("told", "wish"),
    [
        ("我住在苏州", "忘记我住在苏州"),
        ("我住在高雄", "忘記我住在高雄"),
        ("i live in Leeds", "forget that i live in Leeds"),
        ("我住在苏州", "别记我住在苏州"),
    ],
)
async def test_what_was_only_said_so_far_is_forgotten_too(world: World, told: str, wish: str) -> None:
    await world.say(told)
    await world.say("今天下雨了，好冷")
    await world.say(wish)
    await world.say("/new")
    await world.wait(86_400)
    await world.say("说说你知道我的什么事")
    assert told not in world.last_user
    assert world.peek.memories.count(text=Like(f"%{told}%"), disabled_at=None) == 0


async def test_all_that_is_about_somebody_goes_by_the_tool_when_they_are_called_by_name(world: World) -> None:
    facts = [
        {"text": text, "about": "Kelvin", "lasting": True, "from": [1]}
        for text in ("Kelvin在中环做保险", "Kelvin天天发消息约小王吃饭")
    ]
    other = {"text": "小王只收现金", "lasting": True, "from": [3]}
    digest = json.dumps({"summary": "小王说了摊位的事。", "statements": [*facts, other]}, ensure_ascii=False)
    world.model.digests = True
    digested(world, digest)
    await world.say("Kelvin在中环做保险，Kelvin天天发消息约我吃饭，好烦")
    await world.say(f"我只收现金。{FILL}")
    await world.say("/new")
    await world.wait(3_600)
    forget = ("forget", '{"text": "Kelvin"}')
    world.model.script = lambda request: (
        "好" if not request.prompt.tools or request.prompt.messages[-1].role == "tool" else calls(forget)
    )
    await world.say("忘记Kelvin那些事啦")
    world.model.script = lambda request: "好"
    await world.say("/new")
    await world.say("给我讲讲今天的天气和路上要注意什么")
    opening = world.turns[-1][1].content
    assert "只收现金" in opening
    assert "中环" not in opening
    assert "约小王吃饭" not in opening


async def test_one_line_that_names_it_goes_and_the_lines_after_it_stay(world: World) -> None:
    """Who says 他 there may be somebody else."""
    for line in ("我老板是个好人", "陈朗说他要走了", "我今天很开心"):
        await world.say(line)
    await world.say("忘记我老板")
    assert "好，“我老板”的事，我找到的都忘掉了：你说过的 1 句话" in world.replies[-1]
    assert held(world, "好人") == set()
    assert "event" in held(world, "陈朗")


async def test_several_lines_that_hold_the_words_are_listed_and_asked(world: World) -> None:
    """A yes takes those that were shown, and nothing else."""
    for line in ("我昨天吃了火锅", "我昨天去了杭州", "他说那里很美"):
        await world.say(line)
    await world.say("忘记我昨天")
    assert "“我昨天吃了火锅”\n“我昨天去了杭州”\n" in world.replies[-1]
    assert "很美" not in world.replies[-1]
    assert "event" in held(world, "火锅")
    await world.say("是")
    assert "你说过的 2 句话" in world.replies[-1]
    assert held(world, "火锅|杭州") == set()
    assert "event" in held(world, "很美")


async def test_a_no_leaves_the_lines_that_were_listed(world: World) -> None:
    """Nothing goes without a yes."""
    for line in ("我昨天吃了火锅", "我昨天去了杭州", "忘记我昨天", "算了"):
        await world.say(line)
    assert "event" in held(world, "火锅")


async def test_a_word_of_the_wish_is_not_chopped(world: World) -> None:
    """么 belongs to 什么."""
    for line in ("我叫什么来着", "我叫什么名字好呢", "忘记我叫什么"):
        await world.say(line)
    assert "“我叫什么”" in world.replies[-1]


async def test_a_yes_to_several_lines_of_a_bare_name_takes_them_all(world: World) -> None:
    """What was listed goes, not the last of it alone."""
    for line in ("昨天的火锅好吃", "今天的火锅太辣", "忘记火锅", "是"):
        await world.say(line)
    assert held(world, "好吃|太辣") == set()


@pytest.mark.parametrize("wish", ["/remember", "remember", "/remember I like tea"])
async def test_a_wish_is_never_the_line_that_a_bare_forget_means(world: World, wish: str) -> None:
    await world.say(wish)
    await world.say("/forget")
    assert f"“{wish}”" not in world.replies[-1]


@pytest.mark.parametrize(
    ("told", "other", "about", "wish", "wanted"),
    [
        (
            "Gemma is my ex",
            "Gemma has stopped replying to me",
            "ex Gemma",
            "forget everything about gemma btw. done with that",
            "everything about gemma",
        ),
        ("小美是我前任", "小美不回我消息了", "前任小美", "小美的所有事你忘了吧，我跟那段过去没关系了", "小美的所有事"),
    ],
)
async def test_all_that_is_known_of_somebody_goes_where_a_model_says_all(
    world: World, told: str, other: str, about: str, wish: str, wanted: str
) -> None:
    rows = [{"text": text, "about": about, "from": [place]} for text, place in ((told, 1), (other, 3))]
    await after(world, told, other, statements=rows)
    await world.say("记住我喜欢喝茶")
    asks = calls(("forget", json.dumps({"text": wanted})))
    world.model.script = lambda request: "ok" if request.prompt.messages[-1].role == "tool" else asks
    await world.say(wish)
    assert world.peek.memories("text", disabled_at=None, former_at=None) == [("我喜欢喝茶",)]


@pytest.mark.parametrize(
    ("wish", "told", "words"),
    [
        ("forget my bicycle", "i ride my bicycle daily", "bicycle"),
        ("忘记我的自行车", "我天天骑我的自行车", "自行车"),
        ("忘記關於自行車的事", "我天天騎自行車", "自行車"),
    ],
)
async def test_a_wish_that_was_said_before_tells_nothing_of_the_matter(
    world: World, wish: str, told: str, words: str
) -> None:
    """It is not forgotten in the place of it, so that an undo would mean it; with what tells of it it goes."""
    for _ in range(2):
        await world.say(wish)
        assert (world.replies[-1], "event" in held(world, words)) == ("好的", True)
    await world.say(told)
    await world.say(wish)
    assert held(world, words) == set()


@pytest.mark.parametrize(
    ("wish", "matter", "word"),
    [
        ("forget that Derek owes me 400", "forget everything about Derek", "400"),
        ("forget that I'm pregnant", "forget everything about my pregnancy", "pregnant"),
    ],
)
async def test_a_wish_that_tells_more_goes_with_the_matter(world: World, wish: str, matter: str, word: str) -> None:
    for line in (wish, matter):
        await world.say(line)
    assert held(world, word) == set()


@pytest.mark.parametrize("said", ["小暖，英语全忘了", "小暖，英语的事我忘了", "英语，我忘掉了"])
async def test_what_somebody_has_forgotten_of_a_matter_deletes_nothing(world: World, said: str) -> None:
    await world.say("我英语考了90分")
    await world.say("记住我的英语老师叫Tom")
    await world.say(said)
    assert "event" in held(world, "90分")
    assert world.peek.memories("text", disabled_at=None) == [("我的英语老师叫Tom",)]


async def test_nothing_is_said_to_be_gone_that_is_kept_in_the_other_language(world: World) -> None:
    await world.say("记住我对花生过敏")
    await world.say("i am allergic to shrimp")
    await world.say("forget everything about my allergy")
    assert world.replies[-1] == "All right, I have forgotten what I found of “allergy”: lines of yours (1)"
    await world.say("forget my allergy")
    assert "#1 我对花生过敏" in world.replies[-1]
    await world.say("yes")
    assert not world.peek.memories("text", disabled_at=None)
