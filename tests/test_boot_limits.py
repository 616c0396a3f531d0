"""Whatever is remembered, and whatever the limit: the block keeps to it, in whole lines and in order."""

from hypothesis import given
from hypothesis import strategies as st

from bot.core.memories import Memory
from bot.core.people import MemoryKind
from bot.prompt.opening_facts import OpeningFacts
from bot.text.clean import as_data
from bot.text.length import estimate_tokens
from tests.waking import DAY, NOW, facts, memory, opened, promise, talk

KINDS: tuple[MemoryKind, ...] = ("identity", "emotion", "event", "knowledge", "experience")
TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60)
LONG = st.text("我不吃花生，但是可以。a b", min_size=100, max_size=400)


@st.composite
def told(draw: st.DrawFn) -> OpeningFacts:
    """Any facts."""
    count = draw(st.integers(0, 25))
    days = st.integers(-9, 400)
    memories: list[Memory] = [
        memory(
            number,
            draw(TEXT | LONG),
            draw(st.sampled_from(KINDS)),
            NOW - draw(days) * DAY,
            asked=draw(st.booleans()),
            emotion=draw(st.sampled_from(("", "开心", "<b>"))),
        )
        for number in range(1, count + 1)
    ]
    talks = tuple(talk(n, draw(TEXT), NOW - (n + 5) * DAY) for n in range(draw(st.integers(0, 4))))
    due = st.none() | days.map(lambda day: NOW - day * DAY)
    promises = tuple(promise(n, draw(TEXT), NOW - draw(days) * DAY, draw(due)) for n in range(draw(st.integers(0, 4))))
    last = draw(st.none() | st.integers(0, 4_000).map(lambda days: NOW - days * DAY))
    return facts(*memories, talks=talks, promises=promises, last=last)


@given(told(), st.integers(1, 900))
def test_the_limit_holds_and_lines_are_whole_and_in_order(known: OpeningFacts, limit: int) -> None:
    for script in ("zh-Hans", "en"):
        found = opened(known, script, limit)
        head = [row for row in found.text.splitlines() if row[:1] in "【["]
        boot = found.text.splitlines()[len(head) :]
        assert estimate_tokens(found.text) <= max(limit, estimate_tokens("\n".join(head)))
        rows = "\n".join(boot)
        listed = [each for each in found.sections if each.name != "who"]  # for templates of one's own
        for section in listed:
            assert section.lines
            assert all(as_data(line.text) in rows for line in section.lines), "no line is cut"
            if section.name in ("moods", "events", "talks"):
                lines = [line.at for line in section.lines if line.at]
                assert lines == sorted(lines, reverse=True)
        assert len([row for row in boot if row.startswith("- ")]) == sum(len(each.lines) for each in listed)
        assert len([row for row in boot if row.startswith("## ")]) == len(listed), "no heading without lines"


@given(st.integers(60, 900))
def test_what_was_told_to_be_kept_comes_before_what_only_lives(limit: int) -> None:
    known = facts(
        *(memory(n, f"第{n}件要记住的事情", when=NOW - (300 + n) * DAY, asked=True) for n in range(1, 20)),
        *(memory(100 + n, f"第{n}件还新鲜的事情", when=NOW - n * DAY) for n in range(1, 10)),
    )
    told = opened(known, limit=limit).told("memory")
    assert len([n for n in told if n < 100]) == 19 or not [n for n in told if n >= 100]


def test_layers_shrink_fairly() -> None:
    """Forty long moods and events do not crowd out a single thing that is still to be done."""
    known = facts(
        *(
            memory(n, f"第{n}天在公司楼下的咖啡馆遇见了很多年没有见面的老同学", "event", NOW - n * DAY)
            for n in range(1, 8)
        ),
        *(
            memory(50 + n, f"第{n}件事让人心里又高兴又难过说也说不清楚", "emotion", NOW - n * DAY, emotion="复杂")
            for n in range(1, 6)
        ),
        *(memory(100 + n, f"第{n}个人住在很远很远的城市里面", "identity", NOW - n * DAY) for n in range(1, 40)),
        memory(200, "对花生过敏", asked=True),
        talks=(talk(1, "聊了旅行", NOW - DAY),),
        promises=(promise(1, "还书", NOW - DAY, NOW + DAY),),
    )
    found = opened(known, limit=260)
    assert {section.name for section in found.sections} == {"who", "about", "ahead", "moods", "events", "talks"}
    assert estimate_tokens(found.text) > 200, "what is left is used"
