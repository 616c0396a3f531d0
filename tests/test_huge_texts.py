"""Huge texts: what is stored, read and compared of them is bounded, whatever they are made of."""

from bot.pipeline.ingest import MOST_CHARS, cleaned
from bot.text.clean import NAME_CHARS, clean, clean_file
from bot.text.fold import fold
from tests.tables import all_cases
from tests.world import World


@all_cases("unit", ["长话", "\ud800", "ﷺ", "\r\n", "㌖", "e\u0301"])
def test_a_million_characters_are_cut_before_they_are_worked_on(unit: str) -> None:
    text = cleaned(unit * (1_000_000 // len(unit)))
    assert len(text) <= MOST_CHARS
    assert text == clean(text)
    assert len(fold(text[:8_000])) <= 8 * 8_000


async def test_a_huge_message_is_answered_and_two_that_differ_at_their_end_are_two(world: World) -> None:
    await world.say("ﷺ" * 1_000_000)
    assert world.replies == ["好的"]
    start = "长" * 9_000
    await world.app.ingest.accept(world.message(start + "一"))
    await world.app.ingest.accept(world.message(start + "二"))
    await world.app.settled()
    assert world.rows("SELECT count(*), max(length(text)) FROM event WHERE kind = 'message'") == [(3, MOST_CHARS)]


@all_cases(
    ("name", "kept"),
    [("a\nb.txt", "a b.txt"), ("\u202egpj.exe\u202c", "gpj.exe"), ("", ""), ("照片.png", "照片.png"), ("\x00", "")],
)
def test_a_files_name_is_one_line_that_turns_nothing(name: str, kept: str) -> None:
    assert clean_file(name) == kept


def test_a_long_files_name_keeps_its_ending() -> None:
    kept = clean_file("文" * 300 + ".tar.gz")
    assert kept.endswith(".tar.gz")
    assert len(kept) <= NAME_CHARS


async def test_of_a_sentence_that_never_ends_the_last_clauses_are_kept(world: World) -> None:
    await world.say("今天走走停停，" * 300 + "我对花生过敏，帮我记住这件事")
    kept = [str(text) for (text,) in world.peek.memories("text")]
    assert kept[-1] == "我对花生过敏"
    assert max(map(len, kept)) <= 400
