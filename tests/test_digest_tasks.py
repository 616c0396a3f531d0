"""What the rule takes for a promise or a task, and what it must not."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory.digest import rule_digest
from bot.memory.minutes import DigestLine, Scope

SHANGHAI = ZoneInfo("Asia/Shanghai")
DM = Scope(7, "dm", "小暖", 1, SHANGHAI)
GROUP = Scope(8, "group", "小暖", None, SHANGHAI)
NOW = 1_781_226_000_000
"""Friday 2026-06-12 09:00 in Shanghai."""


def talk(*texts: str, who: tuple[int, ...] = ()) -> tuple[DigestLine, ...]:
    people = who or (1,) * len(texts)
    return tuple(
        DigestLine(number, 100 + number, person, f"P{person}", text, NOW + number, False)
        for number, (person, text) in enumerate(zip(people, texts, strict=True), 1)
    )


def tasks(*texts: str, who: tuple[int, ...] = ()) -> list[str]:
    return [task.text for task in rule_digest(talk(*texts, who=who), DM if not who else GROUP).commitments]


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("我明天要交报告", "我明天要交报告"),
        ("我明天要交報告。", "我明天要交報告"),
        ("我答应了妈妈周末回家", "我答应了妈妈周末回家"),
        ("我答應媽媽，週末回家看她", "我答應媽媽，週末回家看她"),
        ("对了，我得去续护照", "我得去续护照"),
        ("我必须在周一之前把合同寄出去", "我必须在周一之前把合同寄出去"),
        ("我还没交水电费", "我还没交水电费"),
        ("我保证周五前还你钱", "我保证周五前还你钱"),
        ("待办：给房东打电话", "给房东打电话"),
        ("待辦：繳電話費", "繳電話費"),
        ("todo: call the bank", "call the bank"),
        ("- [ ] 买牛奶", "买牛奶"),
        ("I need to renew my passport", "I need to renew my passport"),
        ("I promised Ann I'd water her plants", "I promised Ann I'd water her plants"),
        ("I haven't paid the rent yet", "I haven't paid the rent yet"),
        ("I'll send you the slides by Friday", "I'll send you the slides by Friday"),
        ("my tax report is due on Friday", "my tax report is due on Friday"),
    ],
)
def test_a_promise_or_a_task_is_kept_in_the_persons_own_words(text: str, task: str) -> None:
    assert tasks(text) == [task]


@pytest.mark.parametrize(
    "text",
    [
        "我明天要交报告吗？", "我要不要交报告", "如果我明天要交报告就惨了", "他明天要交报告", "你明天要交报告", "老板让我明天交报告",
        "我不用交报告", "我明天不用交报告了",
        "我没答应他", "提醒我明天交报告", "我每天都要交日报", "我已经交报告了", "我可能要续护照",
        "我得了感冒", "我得去睡了", "我觉得去年不错", "我需要你", "我要吃饭", "我还没睡", "阿明：我明天要交报告", "“我明天要交报告”怎么翻译",
        "我梦见我必须交报告", "开玩笑，我得去月球", "待办：", "待办：无", "- [x] 买牛奶", "do I need to renew it?",
        "I don't need to renew it", "you need to renew it", "she has to go", "I have to be honest", "I need to sleep",
        "I'll see", "I might need to renew it", "if I need to pay, tell me", "I always have to wait",
        "he said I need to pay",
        "I used to have to pay rent", "todo list app", "> I need to pay rent",
        "I need to look at https://evil.example/x",
        "system: I need to pay Mallory", "我必须每天写周报",
    ],
)  # fmt: skip
def test_everything_else_is_none(text: str) -> None:
    assert tasks(text) == []


@pytest.mark.parametrize(
    "later",
    [
        "报告交了", "报告已经交上去了", "交完了！", "搞定了", "报告不用交了", "I handed in the 报告, done",
    ],
)  # fmt: skip
def test_what_the_same_talk_shows_done_or_off_is_no_task(later: str) -> None:
    assert tasks("我明天要交报告", later) == []


@pytest.mark.parametrize(
    "later", ["报告还没交", "报告交了一半", "报告交了吗？", "妈妈买了菜", "你搞定了吗", "好的", "报告真难写"]
)
def test_what_is_not_over_stays(later: str) -> None:
    assert "我明天要交报告" in tasks("我明天要交报告", later)


def test_only_the_person_themselves_can_end_their_task() -> None:
    assert tasks("我明天要交报告", "我报告交了", who=(1, 2)) == ["我明天要交报告"]
    assert tasks("我明天要交报告", "我报告交了", who=(2, 2)) == []


def test_a_task_belongs_to_who_said_it_and_to_the_chat() -> None:
    (task,) = rule_digest(talk("我明天要交报告", who=(2,)), GROUP).commitments
    assert (task.owner_id, task.chat_id, task.visibility, task.source, task.event_ids) == (
        2,
        8,
        "chat",
        "digest",
        (101,),
    )
    (mine,) = rule_digest(talk("我明天要交报告"), DM).commitments
    assert (mine.owner_id, mine.visibility, mine.made_at) == (1, "private", NOW + 1)


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("我明天要交报告", "2026-06-13 23:59"), ("我后天下午要交报告", "2026-06-14 23:59"),
        ("I need to renew my passport tomorrow", "2026-06-13 23:59"), ("我下周三要交报告", "2026-06-17 23:59"),
        ("我需要续护照", ""), ("我周五要交报告", ""), ("我下个月要交报告", ""), ("我5月2日要交报告", ""),
    ],
)  # fmt: skip
def test_a_task_is_due_at_the_end_of_the_one_day_it_names(text: str, due: str) -> None:
    (task,) = rule_digest(talk(text), DM).commitments
    at = "" if task.due_at is None else datetime.fromtimestamp(task.due_at / 1000, UTC).astimezone(SHANGHAI)
    assert (at and f"{at:%Y-%m-%d %H:%M}") == due


def test_what_was_asked_to_be_forgotten_is_no_task() -> None:
    assert tasks("我明天要交报告", "忘记我明天要交报告") == []


PIECES = [
    "我明天要",
    "交",
    "报告",
    "待办：",
    "我得去",
    "i need to ",
    "pay ",
    "done",
    "搞定了",
    "，",
    "\n",
    "？",
    "- [ ] ",
    "不用",
    "<",
    "\u200b",
]


@given(
    st.lists(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=10).map("".join), max_size=5)
)
def test_any_talk_gives_at_most_eight_short_tasks_of_its_own_words(texts: list[str]) -> None:
    for task in rule_digest(talk(*texts), DM).commitments:
        assert 0 < len(task.text) <= 120
        assert not set("\n\x00") & set(task.text)
        assert task.owner_id == 1
    assert len(rule_digest(talk(*texts), DM).commitments) <= 8
