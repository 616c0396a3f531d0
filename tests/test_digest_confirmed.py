"""What a good model's digest says in its own words, and a second look leaves, is kept as it is."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime

from bot.core.memories import Memory
from bot.core.sessions import Digest
from bot.language.time.dates import date_in
from bot.memory.digest.answer import read_check
from bot.memory.digest.request import NOTHING, KnownFacts
from bot.memory.digest.review import Review, checked, digest_of, review
from bot.memory.grounding import stands
from bot.memory.transcript import DigestLine, TalkScope
from bot.text.dates import local_day, ms_of
from tests.tables import all_cases

SAID = datetime(2026, 6, 10, 9, 41, tzinfo=UTC)
"""A Wednesday."""
SCOPE = TalkScope(chat_id=7, kind="dm", bot_name="Nuan", owner_id=1)


def talk(name: str, *texts: str) -> tuple[DigestLine, ...]:
    """Lines of one person; nuan's begin with a >."""
    return tuple(
        DigestLine(
            number,
            100 + number,
            None if text.startswith(">") else 1,
            "Nuan" if text.startswith(">") else name,
            text.removeprefix(">"),
            ms_of(SAID),
            text.startswith(">"),
        )
        for number, text in enumerate(texts, 1)
    )


def first_look(answer: Mapping[str, object], lines: tuple[DigestLine, ...], known: KnownFacts = NOTHING) -> Review:
    found = review(json.dumps({"summary": "", **answer}), lines, SCOPE, known)
    assert isinstance(found, Review)
    return found


def digest(
    answer: Mapping[str, object], lines: tuple[DigestLine, ...], *wrong: dict[str, object], known: KnownFacts = NOTHING
) -> Digest:
    """What is kept after a second look that calls this wrong."""
    corrections = read_check(json.dumps({"wrong": list(wrong)}))
    assert corrections is not None
    found = checked(first_look(answer, lines, known), corrections, lines, SCOPE, known)
    return digest_of(found, lines, SCOPE, known)


def statement(text: str, *cited: int, **more: object) -> dict[str, object]:
    return {"statements": [{"text": text, "from": list(cited), **more}]}


def plan(text: str, day: datetime) -> KnownFacts:
    at = ms_of(day.replace(hour=12))
    return KnownFacts((Memory(30, 1, 7, "private", "event", text, at, 1_000, "digest", dated="day", said_at=1_000),))


@all_cases(
    ("name", "lines", "text", "cited"),
    [
        ("小王", ["老板让我周日去公司值班 我可太爱值班了🙃"], "小王的老板让他6月14日周日去公司值班", [1]),
        ("小王", ["楼上奶奶下周要做手术"], "楼上奶奶6月15日那周要做手术", [1]),
        ("Dana", ["my brother is here till the end of next week"], "Dana's brother stays in the week of 15 June.", [1]),
        (
            "Dana",
            ["I'm making a carrot cake for the party", ">nuts?", "oh no. ok lemon tart it is"],
            "Dana is making a lemon tart, not a carrot cake, for the party.",
            [1, 3],
        ),
        ("Dana", ["dana here. 29, leeds", ">Hi! Grand for somebody who lives by rivers."], "Dana lives in Leeds.", [1]),
        ("Dana", ["dentist friday, quarter to 5"], "Dana's dentist is on 12 June 2026 at 16:45.", [1]),
        (
            "Dana",
            ["mum's scan is the 23rd. i'll fly over the day before"],
            "Dana flies over on 22 June 2026, the day before the scan.",
            [1],
        ),
    ],
)
def test_what_the_lines_mean_stands(name: str, lines: list[str], text: str, cited: list[int]) -> None:
    kept = digest(statement(text, *cited), talk(name, *lines)).memories
    assert [memory.text for memory in kept] == [text]


@all_cases(
    ("lines", "text", "cited"),
    [
        (["我可太爱值班了🙃"], "小王很爱值班", [1]),
        (["楼上奶奶下周要做手术"], "楼上奶奶6月15日要出院", [1]),
        (["我做红烧肉，不做鱼"], "小王做鱼，不做红烧肉", [1]),
        (["我妈23号检查"], "小王22号检查", [1]),
    ],
)
def test_what_they_do_not_mean_does_not(lines: list[str], text: str, cited: list[int]) -> None:
    assert digest(statement(text, *cited), talk("小王", *lines)).memories == ()


def test_a_summary_that_was_looked_at_stays_whole_and_one_that_was_not_loses_its_end() -> None:
    lines = talk("Dana", "the board decides on the 2nd whether they sell the hall. if so i go to my aunt")
    told = "The board decides whether Corn Street Hall is sold; Dana is sad. If it is, she goes to her aunt."
    seen = statement("Dana goes to her aunt if the hall is sold.", 1)
    assert digest({"summary": told, **seen}, lines).summary == told
    late = "Dana may go to her aunt. The board sells Corn Street Hall. She likes that."
    alone = first_look({"summary": late}, lines)
    assert digest_of(alone, lines, SCOPE).summary == "Dana may go to her aunt."
    lines_of, rows = first_look({"summary": told, **seen}, lines).second_look(lines)
    assert (len(lines_of), rows.split("\n")[0]) == (1, f"0. {told} ? words (corn street)")


def test_a_summary_may_say_when_a_line_was_said() -> None:
    summary = "Dana was up at 09:41 and asked why."
    assert (
        digest_of(first_look({"summary": summary}, lines := talk("Dana", "up. why")), lines, SCOPE).summary == summary
    )


def test_what_is_handed_on_is_in_no_summary_that_was_looked_at() -> None:
    own, *_ = talk("Dana", "i had soup")
    passed = DigestLine(2, 102, 1, "Dana", "the lottery pays everybody millions", ms_of(SAID), False, forwarded=True)
    answer = {"summary": "Dana had soup. The lottery pays everybody millions.", **statement("Dana had soup.", 1)}
    assert digest(answer, (own, passed)).summary.strip() == "Dana had soup."


def test_an_empty_day_of_a_second_look_is_none_and_a_missing_one_as_it_was() -> None:
    lines = talk("Dana", "tobias is 40 on saturday and i'm in charge of the party")
    said = statement("Dana is in charge of Tobias's party.", 1, when="2026-06-13")
    right = {"n": 1, "text": "Dana is in charge of the party for Tobias.", "from": [1]}
    (as_it_was,) = digest(said, lines, right).memories
    (none,) = digest(said, lines, {**right, "when": ""}).memories
    assert (as_it_was.dated, none.dated) == ("day", "")


def test_a_plan_of_the_night_before_moves_with_its_day_and_what_is_not_made_is_doubted() -> None:
    text = "Dana drives down the night before her mum's scan on the 17th."
    known = plan(text, datetime(2026, 6, 16, tzinfo=UTC))
    lines = talk("Dana", "it's the 24th not the 17th, mum's scan")
    change = {"id": "#30", "now": "changed", "title": "", "from": [1]}
    moved, strange = ({"open": [{**change, "when": day}]} for day in ("2026-06-23", "2026-06-29"))
    (now,) = digest(moved, lines, known=known).memories
    assert (now.replaces, local_day(now.observed_at, UTC).day) == ((30,), 23)
    assert first_look(strange, lines, known).second_look(lines, known)[1].endswith("? day (2026-06-29)")
    assert digest(strange, lines, known=known).memories == ()
    mended = digest(strange, lines, {"n": 1, "text": text, "when": "2026-06-23", "from": [1]}, known=known)
    assert [local_day(memory.observed_at, UTC).day for memory in mended.memories] == [23]


@all_cases(
    ("text", "day"),
    [
        ("Dana drives down the night before her mum's scan on the 24th.", 23),
        ("Dana drives down the night before her mum's scan, 23 June 2026.", 23),
        ("6月24日前一天晚上回老家", 23),
        ("6月24日隔天回老家", 25),
        ("6月24日手术，隔天6月25日回来", 24),
    ],
)
def test_the_day_of_what_is_counted_from_another_one(text: str, day: int) -> None:
    found = date_in(text, ms_of(SAID), UTC)
    assert found is not None
    assert local_day(found.at, UTC).day == day


def test_other_words_of_what_is_known_with_a_new_day_rest_on_the_line_that_says_the_day() -> None:
    said = [("昨天说错了 妈开刀是6/24啦", ms_of(SAID))]
    known = "小王的妈妈白内障要开刀，排6月17日在嘉基"
    assert stands("小王的妈妈白内障开刀是6/24，在嘉基", said, SCOPE, known, "statements", "小王") == 0
    assert stands("小王的爸爸白内障开刀是6/24，在长庚", said, SCOPE, known, "statements", "小王") != 0


def test_how_much_so_says_is_no_clause_of_its_own() -> None:
    lines = talk("Dana", "home at last. never been so tired of a choir")
    moods = [{"text": "Dana had never been so tired, after the choir", "tag": "tired", "from": [1]}]
    told = [one.text for one in digest({"moods": moods}, lines).memories]
    assert all("so tired" in text for text in told), told
