"""When a message calls nuan, and what is decided about it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config.settings import BotSettings, Settings
from bot.config.speaking import SpeakRules
from bot.core.speaking import Decision, Situation
from bot.speaking.activation import called_by_name, decide, extended
from tests.tables import all_cases

NAMES = ("小暖", "暖暖", "nuan")
RULES = Settings(bot=BotSettings(names=NAMES))
AT = 1_795_000_000_000
HEARD = Situation(
    at=AT,
    chat_kind="group",
    enabled=True,
    text="今天好冷",
    is_message=True,
    from_bot=False,
    is_command=False,
    is_memory_command=False,
    mentions_bot=False,
    replies_to_bot=False,
    addresses_other=False,
    forwarded=False,
    window_until=0,
)
OPEN = AT + 20_000


@all_cases(
    "text",
    [
        "小暖",
        "小暖，在吗",
        "小暖在吗？",
        "  @小暖 在吗",
        "你好，小暖",
        "嗨小暖！今天怎么样",
        "喂喂，小暖你听到了吗",
        "早上好 小暖 ☀️",
        "今天吃什么呀，小暖",
        "今天吃什么小暖？",
        "晚安啦小暖呀～",
        "晚安，暖暖酱！！",
        "😀小暖😀 你好",
        "小　暖".replace("　", ""),
        "ＮＵＡＮ，你好",
        "小\u200b暖你好",
        "妳好，小暖",
        "謝謝小暖，再見",
        "請問小暖，明天會下雨嗎",
        "小暖：幫我記一下",
        "> 小明说不去\n小暖，那我们呢",
        "nuan",
        "nuan: hi",
        "nuan, hi",
        "Nuan what's up",
        "NUAN!!",
        "nuan:hi",
        "nuan你好",
        "hey nuan, are you there?",
        "Good morning nuan",
        "@nuan hi",
        "what do you think, nuan?",
        "what time is it nuan please",
        "问问nuan",
        "hi there, nuan :)",
        "well...nuan",
    ],
)
def test_a_name_at_the_start_or_the_end_calls(text: str) -> None:
    assert called_by_name(text, NAMES)


@all_cases(
    "text",
    [
        "",
        "   ",
        "？？？",
        "我跟小暖说过了",
        "我覺得小暖很可愛喔",
        "你认识小暖吗",
        "暖暖的被子真舒服",
        "“小暖”这个名字好听",
        "> 小暖，在吗",
        "＞小暖，在吗\n哈哈",
        "心里暖暖的",
        "nuance",
        "nuance matters",
        "nuan2 is my nick",
        "the nuances of nuan are many",
        "nuan's code is short",
        "nuan.toml is broken",
        "nuan-bot: hi",
        "nuan_ hi",
        "a continuan",
        "see https://example.com/nuan",
        "write to joe@nuan",
        "join #nuan",
        "hinuan",
        "I told nuan that already",
    ],
)
def test_a_name_elsewhere_is_talk_about_her(text: str) -> None:
    assert not called_by_name(text, NAMES)


def test_traditional_and_simplified_names_are_the_same_name() -> None:
    assert called_by_name("小愛，妳在嗎", ("小爱",))
    assert called_by_name("小爱，你在吗", ("小愛",))


@pytest.mark.parametrize("nick", ["foo_", "[gnu]", "_bar", "A|way"])
def test_odd_nicks_call_too(nick: str) -> None:
    assert called_by_name(f"{nick}: ping", (nick,))
    assert called_by_name(f"ping {nick}", (nick,))
    assert not called_by_name(f"{nick}x: ping", (nick,))


def test_three_letters_call_only_where_the_operator_wants_it() -> None:
    assert not called_by_name("nua come here", NAMES)
    assert called_by_name("nua come here", NAMES, prefix_trigger=True)
    assert not called_by_name("come here nua now", NAMES, prefix_trigger=True)
    assert not called_by_name("小朋友", NAMES, prefix_trigger=True)


def test_no_name_calls_nobody() -> None:
    assert not called_by_name("hello", ("", " "))
    assert not called_by_name("hello", ())


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=80), st.booleans())
def test_any_text_is_decided_without_an_error(text: str, prefix: bool) -> None:
    called_by_name(text, (*NAMES, text[:5]), prefix)


@given(st.sampled_from(NAMES), st.text("好呀天 abc.,，！?", max_size=20))
def test_a_name_and_a_comma_always_call(name: str, rest: str) -> None:
    assert called_by_name(f"{name}， {rest}", NAMES)
    assert called_by_name(f"{name.upper()}: {rest}", NAMES)


NOW_UNTIL = AT + 60_000


@all_cases(
    ("facts", "decision"),
    [
        ({}, Decision("listen", "silent", 0, 0)),
        ({"is_message": False, "chat_kind": "dm"}, Decision("listen", "listen", 0, 0)),
        ({"from_bot": True, "text": "小暖", "window_until": OPEN}, Decision("listen", "listen", 0, OPEN)),
        ({"chat_kind": "dm"}, Decision("now", "dm", AT, NOW_UNTIL)),
        ({"chat_kind": "dm", "enabled": False}, Decision("listen", "off", 0, 0)),
        ({"chat_kind": "dm", "enabled": False, "is_command": True}, Decision("now", "command", AT, 0)),
        ({"chat_kind": "dm", "forwarded": True, "is_command": True}, Decision("now", "dm", AT, NOW_UNTIL)),
        ({"is_command": True}, Decision("now", "command", AT, 0)),
        ({"is_command": True, "window_until": OPEN}, Decision("now", "command", AT, OPEN)),
        ({"enabled": False, "mentions_bot": True}, Decision("listen", "off", 0, 0)),
        ({"mentions_bot": True}, Decision("now", "mention", AT, NOW_UNTIL)),
        ({"mentions_bot": True, "addresses_other": True}, Decision("now", "mention", AT, NOW_UNTIL)),
        ({"replies_to_bot": True}, Decision("now", "reply", AT, NOW_UNTIL)),
        ({"text": "小暖，早"}, Decision("now", "name", AT, NOW_UNTIL)),
        ({"text": "小暖", "forwarded": True, "window_until": OPEN}, Decision("listen", "forwarded", 0, OPEN)),
        ({"forwarded": True, "is_command": True}, Decision("listen", "forwarded", 0, 0)),
        ({"window_until": OPEN}, Decision("follow", "window", AT + 5_000, NOW_UNTIL)),
        ({"window_until": AT}, Decision("listen", "silent", 0, AT)),
        ({"window_until": OPEN, "addresses_other": True}, Decision("listen", "other", 0, OPEN)),
        ({"window_until": OPEN, "is_memory_command": True}, Decision("now", "window", AT, NOW_UNTIL)),
        ({"is_memory_command": True}, Decision("listen", "silent", 0, 0)),
        ({"chat_kind": "dm", "stop": "stop"}, Decision("now", "stop", AT, 0)),
        ({"chat_kind": "dm", "stop": "stop", "forwarded": True}, Decision("now", "dm", AT, NOW_UNTIL)),
        ({"chat_kind": "dm", "stop": "stop", "enabled": False}, Decision("listen", "off", 0, 0)),
        ({"stop": "stop"}, Decision("listen", "silent", 0, 0)),
        ({"stop": "quiet", "mentions_bot": True}, Decision("now", "quiet", AT, 0)),
        ({"stop": "stop", "window_until": OPEN}, Decision("now", "stop", AT, OPEN)),
        ({"stop": "stop", "window_until": OPEN, "addresses_other": True}, Decision("listen", "other", 0, OPEN)),
        ({"stop": "stop", "chat_kind": "dm", "age_ms": 60_000}, Decision("now", "stop", AT, 0)),
        ({"stop": "stop", "chat_kind": "dm", "age_ms": 700_000}, Decision("listen", "old", 0, 0)),
        (
            {"window_until": OPEN, "is_memory_command": True, "addresses_other": True},
            Decision("listen", "other", 0, OPEN),
        ),
    ],
)
def test_what_is_decided(facts: dict[str, object], decision: Decision) -> None:
    assert decide(replace(HEARD, **facts), RULES) == decision  # type: ignore[arg-type]


def test_the_operator_sets_both_times() -> None:
    slow = Settings(bot=RULES.bot, speak=SpeakRules(window_seconds=90, followup_seconds=8))
    assert decide(replace(HEARD, window_until=OPEN), slow) == Decision("follow", "window", AT + 8_000, AT + 90_000)


def test_a_window_never_becomes_shorter() -> None:
    assert extended(AT + 70_000, AT, RULES) == AT + 70_000
    assert extended(0, AT, RULES) == AT + 60_000


FACTS = st.builds(
    Situation,
    at=st.just(AT),
    chat_kind=st.sampled_from(("dm", "group")),
    enabled=st.booleans(),
    text=st.sampled_from(("小暖，早", "我跟小暖说过", "记住我叫小明", "nuance")),
    is_message=st.booleans(),
    from_bot=st.booleans(),
    is_command=st.booleans(),
    is_memory_command=st.booleans(),
    mentions_bot=st.booleans(),
    replies_to_bot=st.booleans(),
    addresses_other=st.booleans(),
    forwarded=st.booleans(),
    window_until=st.integers(AT - 100_000, AT + 100_000),
)


@given(FACTS)
def test_other_bots_only_where_they_mention_her_switched_off_chats_never_and_windows_never_shrink(
    facts: Situation,
) -> None:
    made = decide(facts, RULES)
    assert made.window_until >= facts.window_until
    assert (made.due_at >= facts.at) == (made.action != "listen")
    if not facts.is_message:
        assert made.action == "listen"
    if facts.from_bot:
        calls = facts.mentions_bot and facts.chat_kind == "group" and not facts.is_command and not facts.forwarded
        assert (made.action, made.why) in (("listen", "listen"), ("now", "bot"))
        assert (made.why == "bot") == (calls and facts.is_message and facts.enabled)
        assert made.window_until == facts.window_until
    if not facts.enabled:
        assert made.why in {"off", "listen", "command"}
    if facts.forwarded:
        assert made.why != "command"
        assert made.action == "listen" or facts.chat_kind == "dm"


@all_cases(
    "text",
    [
        "do NOT. Nuan, call me Kev",
        "no way! nuan can you check",
        "我不去了。小暖，帮我记一下",
        "哈哈哈！小暖你说呢",
        "等一下…小暖，几点了",
        "ugh. Nuan what time is it",
        "thanks guys. Nuan, remind us",
        "真的假的？小暖，你覺得呢",
        "and Nuan remind us the night before",
        "so nuan, what do you think",
        "对了小暖，帮我查一下",
        "那小暖你觉得呢",
    ],
)
def test_a_sentence_inside_a_message_that_speaks_to_her_calls_her(text: str) -> None:
    assert called_by_name(text, ("小暖", "Nuan"))


@all_cases(
    "text",
    [
        "I told him. Nuan is a bot",
        "他说不行。小暖是机器人",
        "see nuan.toml. it works",
        "大家别吵。小暖的被子真好",
        "we asked. nuan's answer was odd",
        "这是我朋友。小暖她不在",
        "and Nuan said so",
        "but nuan is a bot",
        "然后小暖说了什么",
        "那小暖的名字呢",
    ],
)
def test_a_sentence_inside_a_message_that_tells_of_her_calls_nobody(text: str) -> None:
    assert not called_by_name(text, ("小暖", "Nuan"))
