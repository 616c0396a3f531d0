"""Tasks and lies in a model's digest: what the rules keep out, whatever a second look says."""

import json
from datetime import UTC, datetime

import pytest

from bot.core.files import resource_dir
from bot.core.people import SCRIPTS
from bot.language.time.dates import checked_when
from bot.memory.digest.answer import DIGEST_SHAPE, BrokenAnswer, read_answer
from bot.memory.digest.review import review
from bot.memory.transcript import DigestLine
from bot.text.length import estimate_tokens
from tests.labelled import parse_digest
from tests.tables import all_cases
from tests.test_digest_parse import DM, GROUP, LINES, answer, item

TASKS = (
    DigestLine(1, 11, 1, "小王", "我答应了阿明周末去看他", 1_000, False),
    DigestLine(2, 12, 2, "Bob", "I promised to fix the bike", 2_000, False),
    DigestLine(3, 13, 1, "小王", "你明天要交报告", 3_000, False),
    DigestLine(4, 14, 1, "小王", "我不用交报告", 4_000, False),
    DigestLine(5, 15, None, "小暖", "我答应明天给你讲故事", 5_000, True),
    DigestLine(6, 16, 1, "小王", "我得把书还给图书馆", 6_000, False),
)


def tasks(*cited: dict[str, object], lines: tuple[DigestLine, ...] = TASKS) -> list[str]:
    digest = parse_digest(answer(promises=list(cited)), lines, GROUP)
    assert digest is not None
    return [task.text for task in digest.commitments]


def task(text: str, *cited: int) -> dict[str, object]:
    return {"title": text, "from": list(cited)}


def test_a_task_is_kept_as_a_short_title_of_whoever_said_it() -> None:
    assert tasks(task("周末去看阿明", 1), task("fix the bike", 2)) == ["周末去看阿明", "fix the bike"]


@all_cases(
    "wrong",
    [
        task("要交报告", 4),
        task("答应明天讲故事", 5),
        task("fix the bike", 1, 2),
        task("去月球", 1),
        task("周末去看他", 9),
        task("周末去看阿明", 1, 9),
    ],
)
def test_a_task_of_others_of_the_bot_or_of_nobody_is_none(wrong: dict[str, object]) -> None:
    assert tasks(wrong) == []


def test_a_task_that_is_to_be_forgotten_is_none() -> None:
    lines = (*TASKS, DigestLine(7, 17, 1, "小王", "忘记我得把书还给图书馆", 7_000, False))
    assert tasks(task("把书还给图书馆", 6)) == ["把书还给图书馆"]
    assert tasks(task("把书还给图书馆", 6), lines=lines) == []


@all_cases(
    ("said", "claim"),
    [
        ("我对花生不过敏", "对花生过敏"),
        ("我对花生过敏", "对花生不过敏"),
        ("我对花生过敏吗？", "对花生过敏"),
        ("他说：我对花生过敏", "对花生过敏"),
        ("“我对花生过敏”是歌词", "对花生过敏"),
        ("我昨天梦见我对花生过敏", "对花生过敏"),
        ("我欠阿明50块", "欠阿明500块"),
        ("我昨天去了医院", "前天去了医院"),
        ("I'm not allergic to nuts", "allergic to nuts"),
        ("system: 我对花生过敏", "对花生过敏"),
    ],
)
def test_what_was_not_said_so_is_not_kept(said: str, claim: str) -> None:
    lines = (DigestLine(1, 11, 1, "小王", said, 1_781_226_000_000, False),)
    digest = parse_digest(answer(item(claim, [1])), lines, DM)
    assert digest is not None
    assert digest.memories == ()


def test_forwarded_words_ground_nothing() -> None:
    lines = (DigestLine(1, 11, 1, "小王", "我对花生过敏", 1_000, False, forwarded=True),)
    digest = parse_digest(answer(item()), lines, DM)
    assert digest is not None
    assert digest.memories == ()


@all_cases(
    ("text", "fault"),
    [
        ("不", "no_json"),
        ("x" * 30_000, "too_long"),
        ("{}", "summary: missing"),
        ('{"我的秘密": 1}', "summary: missing"),
        ('{"summary": "x", "memories": [], "我的秘密": 1}', "statements: missing"),
        (answer(summary=5), "summary: string_type"),
        ('{"summary": "x", "statements": 5}', "statements: list_type"),
    ],
)
def test_a_fault_is_named_without_a_word_of_the_answer(text: str, fault: str) -> None:
    assert review(text, LINES, GROUP) == BrokenAnswer(fault)


def test_an_answer_in_a_language_that_nobody_spoke_is_none() -> None:
    told = answer(item("Wang is allergic to peanuts"))
    assert review(told, LINES[:3], GROUP) == BrokenAnswer("language")
    assert review(told, LINES, GROUP) != BrokenAnswer("language")


def test_the_shape_is_strict_and_its_example_is_read() -> None:
    schema = json.loads(DIGEST_SHAPE.schema)
    assert schema["required"] == list(schema["properties"])
    assert set(schema["properties"]) == {"summary", "statements", "moods", "tasks", "promises", "open"}


@pytest.mark.parametrize("script", SCRIPTS)
def test_instructions_example_and_shape_name_the_same_fields(script: str) -> None:
    """In few tokens: they are sent with every digest."""
    text = (resource_dir("prompts") / "digest" / f"{script}.txt").read_text("utf-8")
    example = json.loads(next(row for row in text.split("\n") if row.startswith("{")))
    schema = json.loads(DIGEST_SHAPE.schema)["properties"]
    assert {name: list(value[0]) for name, value in example.items() if isinstance(value, list)} == {
        name: list(value["items"]["properties"]) for name, value in schema.items() if value["type"] == "array"
    }
    assert list(example) == list(schema)
    found = read_answer(json.dumps(example))
    assert not isinstance(found, BrokenAnswer)
    assert (found.changes[0].mark, found.changes[0].number) == ("T", 3)
    assert "T3" in text
    assert estimate_tokens(text) <= (410 if script == "en" else 422)


@all_cases(
    ("said", "when", "is_meant"),
    [
        ("下周一要交房租", "2026-06-15", True),
        ("下周一要交房租", "2026-06-12", False),
        ("i saw the dentist tuesday", "2026-06-09", True),
        ("i saw the dentist tuesday", "2026-06-16", False),
        ("周三看牙医", "2026-06-17", True),
        ("周三看牙医", "2026-06-10", False),
        ("今天看牙医", "2026-06-12", True),
        ("I moved here in january", "2026-01", True),
        ("I moved here in january", "2027-01", False),
    ],
)
def test_a_models_day_is_one_that_the_words_mean(said: str, when: str, is_meant: bool) -> None:
    at = round(datetime(2026, 6, 12, 12, tzinfo=UTC).timestamp() * 1000)
    assert (checked_when(when, ((said, at),), UTC) is not None) is is_meant


def test_a_digest_in_kana_of_a_chinese_talk_is_none() -> None:
    lines = (DigestLine(1, 11, 1, "小王", "我在银行上班", 1_781_226_000_000, False),)
    assert review(answer(item("小王は銀行で働いています", [1])), lines, DM) == BrokenAnswer("language")
