"""The rule that stands in for a model: whole sentences that people plainly say of themselves, and nothing it doubts."""

import re
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.language.statements import READ_CHARS, statements_in, tasks_in
from bot.memory.digest.rule import rule_digest
from bot.memory.promises import promise_endings
from bot.memory.transcript import DigestLine, TalkScope, own_words
from bot.text.clean import one_row
from bot.text.fold import fold
from bot.text.length import estimate_tokens
from tests.tables import all_cases
from tests.world import World

SHANGHAI = ZoneInfo("Asia/Shanghai")
DM = TalkScope(7, "dm", "小暖", 1, SHANGHAI)
GROUP = TalkScope(8, "group", "小暖", None, SHANGHAI)
NOW = 1_781_226_000_000
"""Friday 2026-06-12 09:00 in Shanghai."""
ROWS = [
    [*line.split("\t"), ""][:3]
    for line in (Path(__file__).parent / "fallback.tsv").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def talk(*texts: str, who: tuple[int, ...] = ()) -> tuple[DigestLine, ...]:
    people = who or (1,) * len(texts)
    return tuple(
        DigestLine(number, 100 + number, person, f"P{person}", text, NOW + number, False)
        for number, (person, text) in enumerate(zip(people, texts, strict=True), 1)
    )


def tasks(*texts: str, who: tuple[int, ...] = ()) -> list[str]:
    return [task.text for task in rule_digest(talk(*texts, who=who), GROUP if who else DM).commitments]


def test_there_are_sentences_enough() -> None:
    assert len({row[1] for row in ROWS}) >= 120


@all_cases(("kind", "text", "subject"), ROWS)
def test_a_whole_sentence_is_kept_or_nothing(kind: str, text: str, subject: str) -> None:
    digest = rule_digest(talk(text.replace("\\n", "\n")), DM)
    kept = [(str(memory.kind), memory.text, memory.subject) for memory in digest.memories]
    kept += [("task", task.text, "") for task in digest.commitments]
    assert [(one, about) for one, _, about in kept] == ([] if kind == "-" else [(kind, subject)])
    for _, told, _ in kept:
        said = (
            text.rstrip("。！!")
            .removeprefix("待办：")
            .removeprefix("todo: ")
            .removeprefix("小暖，")
            .removeprefix("ugh, ")
        )
        assert told == said


def test_what_has_one_value_holds_its_slot_and_what_has_several_none() -> None:
    kept = rule_digest(
        talk("我叫李雷", "我住在杭州", "我对花生过敏", "我对猫毛过敏", "我有一只猫，我住在城东"), DM
    ).memories
    assert [memory.slot for memory in kept] == ["name", "home", "", "", ""]
    assert [memory.lasting for memory in kept] == [True] * 5


@all_cases(
    ("text", "day", "dated"),
    [
        ("我明天下午三点面试", "2026-06-13 15:00", "time"),
        ("我昨天拔牙了", "2026-06-11", "day"),
        ("I have an interview tomorrow", "2026-06-13", "day"),
        ("我下週三要去看牙醫", "2026-06-17", "day"),
        ("我住在杭州", "2026-06-12", ""),
    ],
)
def test_a_memory_knows_the_day_it_is_about_and_the_day_it_was_said(text: str, day: str, dated: str) -> None:
    (memory,) = rule_digest(talk(text), DM).memories
    at = datetime.fromtimestamp(memory.observed_at / 1000, UTC).astimezone(SHANGHAI)
    assert f"{at:%Y-%m-%d %H:%M}".startswith(day)
    assert (memory.dated, memory.said_at) == (dated, NOW + 1)


@pytest.mark.parametrize(("text", "sign"), [("我好難過", -1), ("我不开心", -1), ("我好开心", 1), ("I'm so happy", 1)])
def test_a_feeling_carries_its_word_and_weight(text: str, sign: int) -> None:
    (memory,) = rule_digest(talk(text), DM).memories
    assert fold(memory.emotion) in fold(text)
    assert 0 < memory.emotion_value * sign <= 1


def test_each_in_a_group_owns_what_they_said_and_a_sentence_without_a_person_is_nobodys() -> None:
    lines = talk("我住在杭州", "我住在上海", "明天下午体检", who=(1, 2, 2))
    kept = rule_digest(lines, GROUP).memories
    assert [(one.owner_id, one.visibility, one.text) for one in kept] == [
        (1, "chat", "我住在杭州"),
        (2, "chat", "我住在上海"),
    ]


def test_what_was_asked_to_be_forgotten_is_not_learnt_again() -> None:
    digest = rule_digest(
        talk("我对花生过敏", "我明天要交报告", "忘记我对花生过敏", "忘记我明天要交报告", "我住在杭州"), DM
    )
    assert ([memory.text for memory in digest.memories], digest.commitments) == (["我住在杭州"], ())
    assert "花生" not in digest.summary


@all_cases("later", ["报告交了", "报告已经交上去了", "搞定了", "报告不用交了", "done, I handed in the 报告"])
def test_what_the_same_talk_shows_done_or_off_is_no_task(later: str) -> None:
    assert tasks("我明天要交报告", later) == []


@all_cases("later", ["报告还没交", "报告交了一半", "报告交了吗？", "你搞定了吗", "好的", "报告真难写"])
def test_what_is_not_over_stays(later: str) -> None:
    assert tasks("我明天要交报告", later) == ["我明天要交报告"]


def test_only_the_person_themselves_can_end_their_task() -> None:
    assert tasks("我明天要交报告", "我报告交了", who=(1, 2)) == ["我明天要交报告"]
    assert tasks("我明天要交报告", "我报告交了", who=(2, 2)) == []


@all_cases(
    ("texts", "summary"),
    [
        (
            ("你好", "我下周五要去杭州出差", "今天上班好累，老板又临时加了需求。"),
            "P1：我下周五要去杭州出差；今天上班好累，老板又临时加了需求",
        ),
        (("我昨天拔了智齿", "明天早上八点提醒我开会"), "P1：我昨天拔了智齿"),
        (("I have to hand in my thesis draft next week",), "P1: I have to hand in my thesis draft next week"),
        (("看看这个网站 https://example.com/x <b>很有意思的</b>东西",), ""),
        (("你好", "在吗", "嗯嗯", "/new", "我去睡了，拜拜"), ""),
    ],
)
def test_the_summary_tells_whole_sentences_of_people(texts: tuple[str, ...], summary: str) -> None:
    assert rule_digest(talk(*texts), DM).summary == summary


def test_a_summary_names_everyone_it_quotes() -> None:
    assert rule_digest(talk("I made soup tonight", "The bus was late", who=(1, 2)), GROUP).summary == (
        "P1: I made soup tonight; P2: The bus was late"
    )


def test_a_model_that_digests_judges_promises_not_the_rule() -> None:
    assert own_words("老王：我明天要交报告", ()) == ""
    assert list(tasks_in(own_words("小暖，我明天要交报告", ("小暖",)))) == ["我明天要交报告"]


@pytest.mark.parametrize(("digests", "noted"), [(False, 1), (True, 0)])
async def test_a_promise_is_read_as_it_is_made_only_where_no_model_digests(
    world: World, digests: bool, noted: int
) -> None:
    world.model.digests = digests
    await world.say("我明天把报告发给你")
    assert world.peek.commitments.count() == noted


PIECES = [*(row[1] for row in ROWS), "，", "忘记", "<", "？", "\n", "我明天要", "done", "\ud800", "\u200b"]
LINES = st.lists(
    st.tuples(st.sampled_from([None, 1, 2]), st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)))),
    max_size=8,
)


@given(LINES, st.sampled_from([DM, GROUP]))
def test_any_talk_gives_a_small_digest_of_peoples_own_lines(
    rows: list[tuple[int | None, list[str]]], scope: TalkScope
) -> None:
    lines = tuple(
        DigestLine(number, 100 + number, person, "小王", "".join(said), NOW + number, person is None)
        for number, (person, said) in enumerate(rows, 1)
    )
    digest = rule_digest(lines, scope)
    assert digest == rule_digest(lines, scope)
    assert estimate_tokens(digest.summary) <= 60
    people = {line.event_id: line for line in lines if not line.is_bot}
    for owner, text, events in (
        *((one.owner_id, one.text, one.event_ids) for one in digest.memories),
        *((one.owner_id, one.text, one.event_ids) for one in digest.commitments),
    ):
        assert [people[event].person_id for event in events] == [owner]
        assert text
        said = one_row(people[events[0]].text.replace("\n", " "))
        assert re.sub(r"\s", "", fold(text)) in re.sub(r"\s", "", fold(said))
    assert len(digest.memories) <= 8
    assert len(digest.commitments) <= 8


PROMISES = ("我明天把报告发给你", "i'll send you the file tomorrow")


@given(st.text(alphabet="我明天把发给你答应说好了吗？，。\n i'll send promise done.了完在写:「」\"`>", max_size=80))
def test_no_text_breaks_a_reader(text: str) -> None:
    words = own_words(text, ("小暖",))
    assert all(told in one_row(words.replace("\n", " ")) for told in tasks_in(words))
    assert {each.number for each in promise_endings(words, enumerate(PROMISES)).ended} <= {0, 1}


@all_cases(
    "piece",
    [
        "我",
        "今天",
        "我今天",
        "很",
        "今天上班",
        "a ",
        "i'm so ",
        "好",
        "<",
        ",",
        "在",
        "我对",
        "i have a b ",
        "在5月",
        "我和妈妈",
        "my mom ",
    ],
)
def test_hostile_repetition_is_read_quickly(piece: str) -> None:
    text = piece * READ_CHARS
    assert len(statements_in(text)) <= len(text)
    assert {each.number for each in promise_endings(text[:READ_CHARS], enumerate(PROMISES)).ended} <= {0, 1}
    assert len(list(tasks_in(text))) <= len(text)


@pytest.mark.parametrize("words", ["我几岁了", "我家猫叫啥", "我去年住在哪", "我妈生日是几号"])
def test_a_question_without_its_mark_tells_nothing(words: str) -> None:
    assert statements_in(words) == ()


@pytest.mark.parametrize(
    "text", ["我昨天见了她，好难过", "她走了以后我一直很难过", "I called him yesterday, I'm so sad"]
)
def test_nothing_is_kept_of_somebody_whom_a_sentence_only_points_at(text: str) -> None:
    assert rule_digest(talk(text), DM).memories == ()


def test_who_is_named_may_be_pointed_at() -> None:
    kept = rule_digest(
        talk("我妈妈有糖尿病，我很担心她", "my sister is allergic to nuts, she found out today"), DM
    ).memories
    assert len(kept) == 2
