"""What a model reads of a chat: one <ctx>, parsed back by an XML parser."""

import re
from xml.etree.ElementTree import fromstring

from hypothesis import given
from hypothesis import strategies as st

from bot.context import (
    ContextLine,
    CtxDelta,
    CtxFrame,
    CtxLimits,
    element,
    explained,
    render,
    render_delta,
    scene_text,
)
from bot.core.events import Event, EventKind
from bot.text.clean import clean, clean_name

NOW = 1_795_000_000_000
FRAME = CtxFrame("2026-11-21 09:05", "星期六", cut_note="…（后面还有 {n} 字没有收下）")
ANYTHING = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)
KINDS: tuple[EventKind, ...] = ("message", "server", "bot", "tool", "event")


def event(
    number: int, text: str, kind: EventKind = "message", name: str = "alice", label: str = "", ago: int = 0
) -> Event:
    return Event(number, 1, NOW - ago * 1000, kind, 1, name, text, label)


DELTA = CtxLimits(tokens=1_200)
OPENING = CtxLimits(tokens=1_500, message=120)


def turn(*events: Event, answering: tuple[int, ...] = (), limits: CtxLimits = DELTA, earlier: int = 0) -> CtxDelta:
    return render_delta(events, frozenset(answering), FRAME, limits, len, earlier)


def body(made: CtxDelta) -> list[str]:
    return made.text.split("\n")[1:-1]


def test_a_chinese_group_reads_as_it_was() -> None:
    frame = CtxFrame("2026-11-21 09:05", "星期六", "感恩节", "p=人 b=你 g=间隔")
    events = (
        event(1, "暖暖咖啡馆；在场：小明、阿花", "event", "", "scene", 900),
        event(2, "早", name="小明", ago=840),
        event(3, "小明", "event", "", "join", 480),
        event(4, "连接已加密", "server", "", ago=479),
        event(5, '你昨天说的 <那本书> & "那首歌"？', name="阿花", ago=5),
        event(6, "小暖，你觉得呢", name="小明"),
    )
    made = render_delta(events, frozenset({6}), frame, DELTA, len)
    assert made.text == (
        '<ctx now="2026-11-21 09:05 星期六" holiday="感恩节">\n'
        "<!-- p=人 g=间隔 -->\n"
        '<e t="scene" d="暖暖咖啡馆；在场：小明、阿花"/>\n'
        '<p n="小明">早</p>\n'
        '<g d="6m"/>\n'
        '<e t="join" d="小明"/>\n'
        "<s>连接已加密</s>\n"
        '<g d="7m"/>\n'
        '<p n="阿花">你昨天说的 &lt;那本书&gt; &amp; "那首歌"？</p>\n'
        '<p n="小明">小暖，你觉得呢</p>\n'
        "</ctx>"
    )
    assert made.tokens == len(made.text)


def test_an_english_group_reads_as_it_was() -> None:
    events = (
        event(1, "nuan: hi"),
        event(2, "Hello there!", "bot", "nuan"),
        event(3, "Reminder set", "bot", "nuan", "command"),
        event(4, "I was going to s", "bot", "nuan", "cut"),
        event(5, "2 memories found", "tool", "nuan"),
        event(6, "👍", "event", "bob", "reaction"),
        event(7, "", "event", "carol", "leave"),
        event(8, 'a "b"\nc', "event", "", 'no\n"te"'),
        Event(9, 1, NOW, "message", 1, "bob", "from my sister", forwarded=True),
    )
    assert body(turn(*events, answering=(1,))) == [
        '<p n="alice">nuan: hi</p>',
        "<b>Hello there!</b>",
        '<b f="command">Reminder set</b>',
        '<b cut="1">I was going to s</b>',
        "<t>2 memories found</t>",
        '<e t="reaction" n="bob" d="👍"/>',
        '<e t="leave" n="carol"/>',
        '<e t="no &quot;te&quot;" d="a &quot;b&quot;&#10;c"/>',
        '<p n="bob" forwarded="1">from my sister</p>',
    ]


def test_a_message_being_answered_is_whole_and_other_lines_are_cut() -> None:
    long = "很" * 3_000
    made = turn(event(1, long), event(2, long), event(3, long, "event", "", "note"), answering=(2,))
    assert body(made) == [
        f'<p n="alice">{"很" * 199}…</p>',
        f'<p n="alice">{long}</p>',
        f'<e t="note" d="{"很" * 99}…"/>',
    ]


def test_a_message_longer_than_allowed_says_what_was_left_out() -> None:
    (line,) = body(turn(event(1, "字" * 8_123), answering=(1,)))
    assert line == f'<p n="alice">{"字" * 8_000}…（后面还有 123 字没有收下）</p>'


def test_what_does_not_fit_is_one_mark_at_the_start() -> None:
    events = [event(number, "x" * 100, ago=6_000 - number * 60) for number in range(1, 101)]
    made = turn(*events, answering=(100,), earlier=7)
    assert body(made)[0] == f'<g n="{made.folded}" d="1h28m"/>'
    assert made.folded == 7 + 100 - len(made.lines)
    assert made.text.count("<g ") == 1
    assert [line.event_ids for line in made.lines] == [(number,) for number in range(90, 101)]


def test_an_old_message_being_answered_stays_before_what_was_folded_after_it() -> None:
    events = (
        event(1, "q", ago=7_200),
        *(event(number, "x" * 150, ago=3_600) for number in range(2, 30)),
        event(30, "z"),
    )
    lines = body(turn(*events, answering=(1, 30), limits=CtxLimits(tokens=200)))
    assert lines[0] == '<p n="alice">q</p>'
    assert lines[1] == '<g n="27" d="0m"/>'
    assert lines[-1] == '<p n="alice">z</p>'


def test_nothing_to_say_is_an_empty_text_and_unloaded_events_are_still_counted() -> None:
    assert turn() == CtxDelta((), "", 0, 0)
    assert body(turn(earlier=12)) == ['<g n="12"/>']


def test_the_newest_scene_is_always_there_and_older_ones_are_not() -> None:
    scenes = (event(1, "old", "event", "", "scene"), event(2, "new\nplace", "event", "", "scene"))
    made = turn(*scenes, *(event(number, "y" * 150) for number in range(3, 20)))
    assert made.text.count("scene") == 1
    assert '<e t="scene" d="new place"/>' in body(made)


def test_an_opening_keeps_three_bot_and_three_tool_lines_short() -> None:
    events = [event(n, "b" * 300, "bot") for n in range(1, 6)] + [event(n, "t" * 300, "tool") for n in range(6, 11)]
    made = turn(*events, event(11, "p" * 300), limits=OPENING)
    shown = [len(re.sub(r"<[^>]+>", "", line)) for line in body(made)]
    assert shown == [0, 80, 80, 80, 120, 120, 120, 120]
    assert made.folded == 4


def test_what_people_saw_of_a_cancelled_turn_is_no_echo() -> None:
    made = turn(event(1, "c" * 150, "bot", label="cut"), *(event(n, "b", "bot") for n in range(2, 5)))
    assert body(made)[0] == f'<b cut="1">{"c" * 150}</b>'


def test_a_silence_is_measured_between_the_lines_that_are_shown() -> None:
    bots = [event(n, "b", "bot", ago=900 - n) for n in range(3, 8)]
    made = turn(event(1, "b", "bot", ago=2_000), event(2, "hi", ago=1_900), *bots, event(9, "back", ago=100))
    assert body(made)[:4] == ['<g n="3" d="18m"/>', '<p n="alice">hi</p>', '<g d="16m"/>', "<b>b</b>"]


def test_an_element_is_explained_where_a_log_shows_it_first_and_an_opening_explains_none() -> None:
    opening = '# What nuan remembers\n<people>\n<p n="ann">tall</p>\n</people>\n'
    legend = "p=people b=what you sent"
    first = render(["<b>hi</b>"], CtxFrame("2026-11-21 09:05", "Saturday", legend=legend))
    assert "b=what you sent" in first
    assert "p=people" not in first
    then = render(['<p n="ann">yo</p>'], CtxFrame("09:06", "", legend=legend, explained=explained([opening + first])))
    assert "p=people" in then
    assert "b=what" not in then


@given(st.lists(st.tuples(st.sampled_from(KINDS), ANYTHING, ANYTHING, ANYTHING), max_size=8))
def test_whatever_people_write_stays_text(steps: list[tuple[EventKind, str, str, str]]) -> None:
    lines = [ContextLine((n,), NOW, NOW, kind, name, text, label) for n, (kind, name, text, label) in enumerate(steps)]
    frame = CtxFrame("2026-11-21 09:05", "Saturday", "x", "legend --> <p>")
    text = render([element(line, CtxLimits(tokens=0)) for line in lines], frame)
    text.encode()
    if not lines:
        assert text == ""
        return
    found = list(fromstring(text))
    assert len(found) == len(lines)
    for line, xml in zip(lines, found, strict=True):
        if line.kind != "event":
            assert (xml.text or "") == clean(line.text)
            assert line.kind != "message" or len(xml.get("n", "")) <= 32
        elif line.label != "scene" and line.text:
            assert xml.get("d") == clean(line.text)
            assert clean_name(line.label).startswith(xml.get("t", "").removesuffix("…"))


@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(("", "scene", "cut", "pickup")), ANYTHING), max_size=30),
    st.sets(st.integers(0, 29)),
    st.integers(0, 400),
    st.integers(0, 3),
)
def test_every_event_is_shown_or_counted_and_every_answered_one_is_whole(
    steps: list[tuple[EventKind, str, str]], wanted: set[int], tokens: int, earlier: int
) -> None:
    events = [event(n, text, kind, label=label, ago=900 - 30 * n) for n, (kind, label, text) in enumerate(steps)]
    answering = tuple(n for n, (kind, _, _) in enumerate(steps) if kind == "message" and n in wanted)
    made = turn(*events, answering=answering, limits=CtxLimits(tokens=tokens), earlier=earlier)
    assert made.folded + sum(len(line.event_ids) for line in made.lines) == len(events) + earlier
    assert set(answering) <= {number for line in made.lines for number in line.event_ids}
    if not made.text:
        return
    found = list(fromstring(made.text))
    marks = [xml.get("n") for xml in found if xml.tag == "g" and xml.get("n")]
    assert marks == ([str(made.folded)] if made.folded else [])
    assert len([xml for xml in found if xml.tag != "g"]) == len(made.lines)
    said = [xml.text or "" for xml in found if xml.tag == "p"]
    assert all(clean(steps[n][2]) in said for n in answering)


@given(ANYTHING, st.integers(0, 40))
def test_a_scene_is_one_line_within_its_cap(text: str, cap: int) -> None:
    scene = scene_text(text, cap)
    assert len(scene) <= cap
    assert len(scene.splitlines()) <= 1
    assert scene == clean(scene)


def test_six_minutes_of_silence_are_exactly_one_gap() -> None:
    made = turn(event(1, "a", ago=720), event(2, "b", ago=360), event(3, "c", ago=61))
    assert made.text.count("<g") == 1
    assert '<g d="6m"/>' in made.text
    assert "<g" not in turn(event(1, "a", ago=300), event(2, "b", ago=1)).text


def test_a_cut_leaves_how_often_and_how_much() -> None:
    events = [event(n, "很" * 150, "event", "", "note") for n in (1, 2, 3)]
    hurts = [event(n, "远" * 150 + ":-1.5", "event", "", "hurt.fall") for n in (4, 5)]
    lines = [event(n, "服" * 250, "server", "") for n in (6, 7)]
    assert body(turn(*events, *hurts, *lines)) == [
        f'<e t="note" d="{"很" * 96}… x3"/>',
        f'<e t="hurt.fall" d="{"远" * 94}…:-3.0"/>',
        f"<s>{'服' * 196}… x2</s>",
    ]
