"""What was said apart is not put together: of clauses of one line, of two people, of two days."""

from datetime import UTC, datetime

import pytest

from bot.memory.digest_answer import Broken
from bot.memory.digest_review import Review, checked, review
from bot.memory.minutes import DigestLine
from bot.text.dated import checked_when
from tests.test_digest_parse import DM, answer, item

SAID_AT = 1_781_226_000_000
"""Friday, 12 June 2026."""


def stands(said: str, claim: str) -> bool:
    lines = (DigestLine(1, 11, 1, "Dana" if said.isascii() else "小王", said, SAID_AT, False),)
    told = answer(item(claim, [1]))
    found = review(told, lines, DM)
    assert isinstance(found, Review)
    return any(one.text == claim for one, _ in (found if found.kept else checked(found, "", lines, DM)).kept)


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("我对虾不过敏，对螃蟹过敏", "小王对虾过敏"), ("我弟在南京读书，我妹在西安工作", "小王的弟弟在西安工作"),
        ("月租从三千八涨到四千二", "月租从四千二降到三千八"), ("我借给表哥两万", "表哥借给小王两万"),
        ("我没有要搬家，是我同事要搬家", "小王要搬家"), ("我爸叫我去考公务员，我不想", "小王要去考公务员"),
        ("要是奖金到了我就换手机", "小王换了手机"), ("周一去苏州，周四去无锡", "小王周四去苏州"),
        ("my brother runs 10 km a day, i hate running", "Dana runs 10 km a day"),
        ("i lent my cousin 50 bucks", "Dana borrowed 50 bucks"), ("去云南玩五天四夜", "小王去云南玩四天五夜"),
    ],
)  # fmt: skip
def test_what_is_put_together_otherwise_is_not_kept_unless_a_second_look_confirms_it(said: str, claim: str) -> None:
    assert not stands(said, claim)


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("我对虾不过敏，对螃蟹过敏", "小王对螃蟹过敏"), ("我弟在南京读书，我妹在西安工作", "小王的妹妹在西安工作"),
        ("月租从三千八涨到四千二", "月租从3800涨到4200"), ("奖金十二萬", "小王的奖金12万"), ("我借给表哥两万", "小王借给表哥两万"),
        ("周一去苏州，周四去无锡", "小王周四去无锡"), ("我1月结的婚", "小王1月结的婚"),
        ("my brother runs 10 km a day, i hate running", "Dana's brother runs 10 km a day"),
    ],
)  # fmt: skip
def test_what_was_said_so_is_kept(said: str, claim: str) -> None:
    assert stands(said, claim)


@pytest.mark.parametrize(
    ("said", "when", "is_meant"),
    [
        ("下周一要交房租", "2026-06-15", True), ("下周一要交房租", "2026-06-12", False),
        ("i saw the dentist tuesday", "2026-06-09", True), ("i saw the dentist tuesday", "2026-06-16", False),
        ("周三看牙医", "2026-06-17", True), ("周三看牙医", "2026-06-10", False), ("今天看牙医", "2026-06-12", True),
        ("I moved here in january", "2026-01", True), ("I moved here in january", "2027-01", False),
    ],
)  # fmt: skip
def test_a_models_day_is_one_that_the_words_mean(said: str, when: str, is_meant: bool) -> None:
    at = round(datetime(2026, 6, 12, 12, tzinfo=UTC).timestamp() * 1000)
    assert (checked_when(when, ((said, at),), UTC) is not None) is is_meant


def test_a_digest_in_kana_of_a_chinese_talk_is_none() -> None:
    lines = (DigestLine(1, 11, 1, "小王", "我在银行上班", SAID_AT, False),)
    assert review(answer(item("小王は銀行で働いています", [1])), lines, DM) == Broken("language")
