"""The caches of the prompt benchmark against numbers counted by hand, and a short day through the real bot."""

import json
from itertools import pairwise

import pytest

from bot.language.small_talk import is_casual
from tests.bench.day import MIDNIGHT, kept_whole
from tests.bench.designs import Sizes, ours, sliding, tail
from tests.bench.dmday import CASUAL, PEOPLE, SESSION_MS, TURN_MS, dm_day
from tests.bench.killed import judged
from tests.bench.prices import HOUR, MINUTE, RULES, Ask, Bill, Rule, bills, chain, piece
from tests.bench.prompt import Options, lived, rows, table

OLD, NEW, DEEPSEEK, ANTHROPIC = RULES


def ask(names: str, at: int = 0, marks: tuple[int, ...] = (), said: str = "") -> Ask:
    """A prompt of pieces of 1,000 tokens, one for each letter."""
    ends = chain(piece(name, 1000) for name in names)
    reply = chain([piece(said, 1000)], ends[-1])[-1] if said else None
    return Ask(at, "reply", ends, marks, reply)


def test_the_longest_run_of_pieces_is_cached_in_steps_of_128_from_1024_tokens_on() -> None:
    paid = bills(OLD, [ask("sab"), ask("sabc"), ask("sx"), ask("say")])
    # 3000 and 2000 tokens are 23 and 15 whole steps; 1000 tokens are too few.
    assert paid == [Bill(3000, 0, 0), Bill(1056, 2944, 0), Bill(2000, 0, 0), Bill(1080, 1920, 0)]


def test_marks_are_read_and_written_only_where_both_requests_are_marked() -> None:
    first, longer = ask("sab", marks=(0, 1, 2)), ask("sabc", marks=(1, 2, 3))
    unmarked, other = ask("sabc", marks=(3,)), ask("sax", marks=(1, 2))
    paid = bills(NEW, [first, longer, other, unmarked, ask("sabcd", marks=(2,))])
    # A mark before 1024 tokens is none; what comes after the last mark is neither read nor written.
    assert paid == [Bill(0, 0, 3000), Bill(0, 3000, 1000), Bill(0, 2000, 1000), Bill(0, 4000, 0), Bill(2000, 3000, 0)]
    assert bills(NEW, [first, ask("saby", marks=(3,))])[1] == Bill(0, 0, 4000)
    assert NEW.cost(Bill(100, 1000, 200)) == 100 + 100 + 250


@pytest.mark.parametrize(("rule", "life"), [(NEW, 30 * MINUTE), (ANTHROPIC, 5 * MINUTE)])
def test_a_mark_lives_on_from_each_use(rule: Rule, life: int) -> None:
    again = [ask("sab", at=at, marks=(1, 2)) for at in (0, life, 2 * life, 3 * life + 1)]
    assert [bill.cached for bill in bills(rule, again)] == [0, 3000, 3000, 0]


def test_deepseek_finds_whole_requests_with_their_replies_and_from_the_third_on_what_two_shared() -> None:
    paid = bills(DEEPSEEK, [ask("sa", said="r"), ask("sarb", said="q"), ask("sx"), ask("sy"), ask("sz", at=7 * HOUR)])
    # The reply ends a unit: 3000 tokens are 46 steps of 64; "s" is a unit once the third request has parted there.
    assert paid == [Bill(2000, 0, 0), Bill(1056, 2944, 0), Bill(2000, 0, 0), Bill(1040, 960, 0), Bill(2000, 0, 0)]


def test_a_private_day_is_the_same_for_the_same_seed() -> None:
    day = dm_day(351, 1, MIDNIGHT)
    assert day == dm_day(351, 1, MIDNIGHT) != dm_day(351, 2, MIDNIGHT)
    assert len(day) == 351
    assert abs(sum(is_casual(step.incoming.text) for step in day) / 351 - CASUAL) < 0.05
    one = [step.at for step in day if step.incoming.place.external_id == f"dm:{PEOPLE[0].name}"]
    assert {later - before for before, later in pairwise(one)} == {TURN_MS, SESSION_MS}


async def test_a_short_day_keeps_every_prompt_whole_and_is_cheaper_than_a_window() -> None:
    options, sizes = Options(), Sizes()
    day = await lived(dm_day(12, 1, MIDNIGHT, PEOPLE[:1]), options.settings(("小暖",), NEW), options)
    assert len(day.turns) == 12
    assert day.trouble == ()
    kept, pairs = kept_whole(day)
    assert kept == pairs > 0
    for rule in RULES:
        found = rows(rule, day, sizes)
        assert found["nuan"].cost < found["(b) tail"].cost < found["(a) window"].cost
    assert any("12 turns" in line for line in table("short", {rule.name: day for rule in RULES}, sizes))
    calls = [call for call in day.calls if call.turn]
    for design in (sliding(day, sizes, False), tail(day, sizes)):
        assert {len([one for one in asks if one.cause != "digest"]) for asks in design} == {len(calls)}
    assert [one.at for one in ours(day, sizes)] == [call.at for call in day.calls]


def test_after_a_kill_a_request_must_come_again_or_go_on_or_begin_an_epoch_that_is_stored() -> None:
    def body(*texts: str) -> bytes:
        roles = ("system", *("user", "assistant") * len(texts))
        said = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
        return json.dumps({"messages": said}, separators=(",", ":")).encode()

    first, more = body("s", "a"), body("s", "a", "r", "b")
    assert judged([first, first, more], {first: {"r"}}, 1, 1, 0).whole == 2
    assert judged([first, more], {first: {"other"}}, 1, 1, 0).whole == 0
    fresh = judged([first, body("s", "x")], {}, 1, 1, 0)
    assert (fresh.whole, fresh.requests, fresh.begun) == (0, 1, 2)
    assert judged([first, body("s", "x")], {}, 1, 2, 0).requests == 0
