"""The benchmarks run and count the same twice; how fast anything is, no test says."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest

from bot.config.speaking import JoinRules
from bot.core.speaking import GroupMode
from bot.store.store import DATABASE
from bot.text.terms import STOP_WORDS, search_terms, weighted_query_terms
from tests.bench.counts import percentile
from tests.bench.largedb import Size, make
from tests.bench.logs import Log, log_of, people_of, read_rows
from tests.bench.recall import main as measure_recall
from tests.bench.replay import replay, show
from tests.bench.script import play, read_script, tokens
from tests.bench.script import show as show_script
from tests.bench.serialised import weighed
from tests.bench.shape import importers, source_files
from tests.bench.shape import show as show_shape
from tests.bench.speaking import count, observe, wrong
from tests.bench.speaking import show as show_behaviour
from tests.bench.unasked import main as measure_unasked
from tests.indexed import wrong_index
from tests.source import ROOT
from tests.tables import all_cases
from tests.world import World

ROWS = (
    (0, "join", "mira", ""),
    (10, "message", "mira", "kest: does the blue lamp need a fuse?"),
    (12, "message", "kest", "it does"),
    (14, "message", "mira", "and where do I find one"),
    (30, "message", "olo", "mira: try the drawer"),
    (40, "nick", "kest", "kest_away"),
    (45, "message", "olo", "kest_away, is the drawer locked?"),
    (50, "nick", "mira", "mira2"),
    (55, "message", "mira2", "kest: thanks"),
    (90, "leave", "olo", ""),
    (7200, "message", "mira2", "kest, one more thing about the lamp"),
)
"""Seconds after the start, kind, name, text: kest is addressed most and becomes the bot."""

SCRIPT = """
{"phase":"run","n":1,"kind":"greeting","text":"你好"}
{"phase":"run","n":2,"kind":"fact","text":"记住我的伞是红色的"}
{"phase":"restart"}
{"phase":"after","n":3,"kind":"memory","text":"我的伞是什么颜色？","expect":"红色"}
{"phase":"newchat"}
{"phase":"new","n":4,"kind":"memory","text":"你记得我的伞吗？","expect":"红色"}
"""


def lines(year: int) -> Iterator[str]:
    for seconds, kind, name, text in ROWS:
        at = f"{year}-05-04T{9 + seconds // 3600:02d}:{seconds % 3600 // 60:02d}:{seconds % 60:02d}.000+00:00"
        yield json.dumps({"at": at, "kind": kind, "name": name, "text": text})


def made_up(title: str = "lamp", year: int = 2020) -> Log:
    return log_of(title, tuple(read_rows(lines(year))))


def test_the_most_addressed_person_becomes_the_bot_with_all_nicks_and_says_nothing() -> None:
    log = made_up()
    assert log.names == ("kest", "kest_away")
    assert [step.incoming.text for step in log.steps if step.incoming.kind == "message"][1] == "and where do I find one"
    assert len(log.steps) == len(ROWS) - 2


def test_a_nick_change_keeps_the_person_and_changes_the_name() -> None:
    mira = [step.incoming.sender for step in made_up().steps if step.incoming.sender is not None]
    ids = {sender.name: sender.external_id for sender in mira}
    assert ids["mira"] == ids["mira2"] != ids["olo"]
    renames = [step.incoming for step in made_up().steps if step.incoming.label == "rename"]
    assert [rename.text for rename in renames] == ["mira → mira2"]


def test_nicks_that_meet_through_several_changes_are_one_person() -> None:
    change = '{{"at":"2020-05-04T09:00:00.000+00:00","kind":"nick","name":"{}","text":"{}"}}'
    people = people_of(tuple(read_rows(change.format(*pair) for pair in (("a", "b"), ("c", "d"), ("b", "c")))))
    assert len(set(people.values())) == 1


def test_percentiles_are_values_that_were_measured() -> None:
    assert [percentile([3, 1, 2, 4], share) for share in (0.5, 0.75, 0.99)] == [2, 3, 4]
    assert percentile([], 0.5) == 0


async def test_a_replay_of_logs_that_are_years_apart_counts_all_of_both_and_the_same_twice(tmp_path: Path) -> None:
    first, second = [await replay((made_up(), made_up("lamp2", 2026)), tmp_path / name) for name in ("a", "b")]
    assert (first.counts["turns"], first.counts["digests"], first.prefix_pairs) == (10, 4, 10)
    assert first.counts == second.counts
    assert first.checksum == second.checksum
    assert first.errors == ()
    assert first.checksum in show(first)


async def test_a_replay_answers_calls_and_follow_ups_and_digests_every_session(tmp_path: Path) -> None:
    report = await replay((made_up(),), tmp_path)
    counts = report.counts
    assert (counts["turns"], counts["follow-ups"]) == (5, 1)
    assert (counts["sessions"], counts["digests"]) == (2, 2)
    assert counts["persons"] == 2
    assert report.prefix_kept == report.prefix_pairs == 5


@pytest.mark.parametrize(("mode", "follow_ups"), [("window", 1), ("called", 0), ("join", 1)])
async def test_behaviour_is_counted_from_rows_and_replies(tmp_path: Path, mode: GroupMode, follow_ups: int) -> None:
    seen = await observe((made_up(),), tmp_path, mode)
    assert (seen.calls, seen.answered, seen.follow_ups) == (4, 4, follow_ups)
    assert (seen.uncalled, seen.double, seen.in_quiet_hours) == (0, 0, 0)
    assert not wrong(seen)
    assert "4 of 4" in show_behaviour(seen)


def test_behaviour_that_must_not_be_is_seen() -> None:
    log, rules = made_up(), JoinRules()
    times = [step.at for step in log.steps if step.incoming.kind == "message"]
    assert wrong(count(log, times[1:1], "window", rules)), "nobody was answered"
    assert count(log, [times[0], times[0]], "window", rules).double == 1
    assert count(log, [times[0] + 1], "called", rules).uncalled == 1
    into = count(log, [times[3] + 1_000], "join", rules)
    assert (into.entries, into.entered["within 10 s of a line"]) == (1, 1)
    assert count(log, [times[0] + number for number in range(1, 7)], "join", rules).most_in_an_hour == 6


async def test_the_script_restarts_the_program_and_finds_the_fact_in_every_request(tmp_path: Path) -> None:
    report = await play(read_script(SCRIPT.splitlines()), tmp_path)
    assert [(turn.number, turn.calls, turn.found) for turn in report.turns] == [
        (1, 1, None),
        (2, 0, None),
        (3, 1, True),
        (4, 1, True),
    ]
    assert report.violations == ()
    assert len(report.first_answer_ms) == 2
    assert "MISSING" not in show_script(report)


def test_tokens_of_the_script_follow_one_rule_for_all_programs() -> None:
    assert tokens("好" * 100 + "a" * 100) == 94


def test_the_shape_of_code_counts_code_and_who_imports_a_file(tmp_path: Path) -> None:
    (tmp_path / "bot/text").mkdir(parents=True)
    (tmp_path / "bot/text/a.py").write_text('"""What\nit is."""\n\n# why\nX = (  # one\n    "two",\n)\n')
    (tmp_path / "bot/text/b.py").write_text("from bot.text.a import X\n\nprint(X)  # fmt: skip\n")
    files = source_files(tmp_path)
    assert [(file.name, file.lines, file.code) for file in files] == [("bot.text.a", 7, 3), ("bot.text.b", 3, 2)]
    assert importers(files) == {"bot.text.a": 1}
    told = show_shape(files).splitlines()
    assert [line.split()[-1] for line in told[:9]] == ["2", "10", "5", "400.0", "3", "7", "1", "1", "1"]
    assert told[-1].split() == ["bot/text", "2", "files", "10", "lines"]


async def test_a_filled_installation_is_as_large_as_was_asked_and_talks_on(tmp_path: Path) -> None:
    await make(tmp_path, Size(lines=120, memories=30, chats=6, own_lines=40, own_memories=5))
    world = await World(tmp_path).open()
    assert [world.rows(f"SELECT count(*) FROM {table}") for table in ("event", "memory")] == [[(120,)], [(30,)]]
    assert world.rows("SELECT count(*) FROM event WHERE chat_id = 1") == [(40,)]
    await world.say("你好")
    await world.say("小暖，在吗", "人5", "群5")
    assert world.replies == ["好的", "好的"]
    assert len(world.rows("SELECT 1 FROM chat")) == 6
    await world.close()
    with closing(sqlite3.connect(tmp_path / DATABASE)) as db:
        assert wrong_index(db) == []


def test_a_request_weighs_what_its_parts_do_and_only_what_is_new_lies_outside() -> None:
    tools = [{"type": "function"}]
    opened = {"role": "user", "content": 'known\n\n<ctx now="09:00">\n<p n="mira">hi</p>\n</ctx>'}
    bodies = [
        json.dumps({"messages": [{"role": "system", "content": "be kind"}, *said], "tools": tools}).encode()
        for said in ([opened], [opened, {"role": "assistant", "content": "hello"}])
    ]
    first, items = weighed(1, bodies[0], [], len)
    assert (first.parts["system"], first.parts["opening"], first.parts["said"]) == (7, 7, 2)
    assert first.whole == sum(first.parts.values()) == len(bodies[0])
    later, items = weighed(2, bodies[1], items, len)
    assert (later.parts["replies"], later.outside) == (5, len(items[-1]))


IMPLICIT = ROOT / "tests" / "bench" / "implicit"
"""Messages of three scripts, each with the line that should come to mind, and some that nothing goes with."""


def test_no_implicit_reminder_shares_a_word_with_what_it_should_bring_to_mind() -> None:
    rows = [json.loads(line) for line in (IMPLICIT / "queries.jsonl").read_text("utf-8").splitlines()]
    corpus = [json.loads(line) for line in (IMPLICIT / "corpus.jsonl").read_text("utf-8").splitlines()]
    texts = {row["turn"]: row["text"] for row in corpus}
    reminders = [(row["question"], texts[turn]) for row in rows for turn in row["gold_turns"]]
    assert len(reminders) >= 60
    assert len({row["conv"] for row in rows}) == 3
    for message, text in reminders:
        assert weighted_query_terms(message).keys() & set(search_terms(text)) <= STOP_WORDS, (message, text)


def session(*turns: str, answers: int = -1) -> list[dict[str, object]]:
    """User and assistant by turns; the turn that holds the answer is marked."""
    return [
        {
            "role": ("user", "assistant")[place % 2],
            "content": text,
            **({"has_answer": True} if place == answers else {}),
        }
        for place, text in enumerate(turns)
    ]


def longmemeval(kind: str, number: str, question: str, answers: list[str]) -> dict[str, object]:
    """One question as LongMemEval writes it, about the same three talks."""
    return {
        "question_id": number,
        "question_type": kind,
        "question": question,
        "answer": "",
        "question_date": "2023/06/01 (Thu) 09:00",
        "haystack_dates": ["2023/05/22 (Mon) 18:30", "2023/05/20 (Sat) 02:21", "2023/05/25 (Thu) 12:05"],
        "haystack_session_ids": ["s_lamp", "s_tea", "s_boat"],
        "haystack_sessions": [
            session("I repaired the green lamp in the attic", "Well done!", answers=0),
            session("Which tea goes with ginger biscuits?", "Try a smoky lapsang.", "I bought some lapsang", answers=2),
            session("My boat is called Petrel", "A fine name for a boat.", answers=0),
        ],
        "answer_session_ids": answers,
    }


def test_longmemevals_file_is_measured_by_question_type_beside_bm25(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        longmemeval("single-session-user", "q1", "What did I repair in the attic?", ["s_lamp"]),
        longmemeval("single-session-user", "q2", "What is my boat called?", ["s_boat"]),
        longmemeval("multi-session", "q3", "Where is the lamp, and which lapsang tea did I buy?", ["s_lamp", "s_tea"]),
        longmemeval("multi-session", "q4_abs", "What is my horse called?", []),
    ]
    file = tmp_path / "longmemeval.json"
    file.write_text(json.dumps(rows), "utf-8")
    assert measure_recall([str(file), "--format", "longmemeval", "--mode", "v2"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["questions"] == 3
    whole = {"R@1": 100.0, "R@5": 100.0, "recall_all@5": 100.0}
    for figures in (told["by_type"], told["bm25"]):
        assert figures["single-session-user"] == whole | {"n": 2}
        assert figures["multi-session"] == whole | {"n": 1}
        assert figures["all"] == whole | {"n": 3}
    assert told["turn"]["recall@5"] == 100.0
    assert measure_recall([str(file), "--format", "longmemeval", "--part", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["questions"] == 1


def test_sessions_that_follow_each_other_closely_are_each_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = longmemeval("single-session-user", "q1", "What is my boat called?", ["s_boat"])
    row["haystack_dates"] = ["2023/05/20 (Sat) 02:40", "2023/05/20 (Sat) 02:21", "2023/05/20 (Sat) 02:40"]
    file = tmp_path / "longmemeval.json"
    file.write_text(json.dumps([row]), "utf-8")
    assert measure_recall([str(file), "--format", "longmemeval"]) == 0
    assert json.loads(capsys.readouterr().out)["by_type"]["all"]["R@1"] == 100.0
    corpus = [
        {"conv": "a", "session": name, "turn": name, "time": at, "speaker": "Mira", "text": text}
        for name, at, text in (
            ("tea", "2026-01-01 09:00", "Which tea goes with ginger biscuits?"),
            ("boat", "2026-01-01 09:20", "My boat is called Petrel"),
        )
    ]
    asked = {"conv": "a", "question": "What is my boat called?", "category": "boats", "gold_turns": ["boat"]}
    for name, rows in (("corpus", corpus), ("queries", [asked | {"gold_sessions": ["boat"]}])):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert measure_recall([str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["session"]["recall@5"] == 100.0


TOLD = {"conv": "a", "session": "s", "turn": "t", "time": "2026-01-01", "speaker": "Mira", "text": "tea"}
ASKED = {"conv": "a", "question": "tea?", "category": "tea", "gold_turns": ["t"]}


@all_cases(
    ("corpus", "queries", "message"),
    [
        (None, ASKED, "corpus.jsonl: No such file"),
        (TOLD, None, "queries.jsonl: No such file"),
        ('{"conv": "a", ', ASKED, "corpus.jsonl, line 1: Expecting property name"),
        (TOLD | {"time": "yesterday"}, ASKED, "no day is told by the time 'yesterday'"),
        (TOLD, '["a"]', "queries.jsonl, line 1: no table with conv, question, category, gold_turns"),
        (TOLD, {"conv": "a", "question": "tea?", "category": "tea"}, "queries.jsonl, line 1: lacks gold_turns"),
        (TOLD, ASKED | {"conv": "b"}, "no question about a conversation that is there"),
        (TOLD, ASKED | {"gold_turns": ["u"]}, "no line 'u' to answer 'tea?'"),
    ],
)
def test_a_folder_that_cannot_be_measured_says_why(corpus: object, queries: object, message: str) -> None:
    with TemporaryDirectory() as folder:
        for name, row in (("corpus", corpus), ("queries", queries)):
            if row is not None:
                Path(folder, f"{name}.jsonl").write_text(row if isinstance(row, str) else json.dumps(row), "utf-8")
        for bench in (measure_recall, measure_unasked):
            with pytest.raises(SystemExit, match=re.escape(message)):
                bench([folder])


@all_cases(
    ("text", "message"),
    [
        ('[{"question_id": "q1", "question', "Unterminated string"),
        ('{"question_id": "q1"}', "no list of questions"),
        ('[{"question_id": "q1"}]', "question 1: lacks question_type, question, question_date"),
        ("[]", "no question about a conversation"),
        (
            json.dumps([longmemeval("t", "q1", "?", []) | {"haystack_sessions": [[], [{"role": "user"}], []]}]),
            "q1, s_tea: lacks content",
        ),
    ],
)
def test_a_file_that_is_not_longmemevals_says_why(text: str, message: str) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder, "longmemeval.json")
        file.write_text(text, "utf-8")
        with pytest.raises(SystemExit, match=re.escape(message)):
            measure_recall([str(file), "--format", "longmemeval"])


def recorded(tmp_path: Path, question: str, meanings: dict[str, list[float]]) -> list[str]:
    """The arguments that ask it about the three talks, with vectors from a file: those given, else unlike the lamp's."""
    row = longmemeval("single-session-user", "q1", question, ["s_lamp"])
    file, vectors = tmp_path / "longmemeval.json", tmp_path / "bge-m3.jsonl"
    file.write_text(json.dumps([row]), "utf-8")
    told = [turn["content"] for turns in cast("list[list[dict[str, str]]]", row["haystack_sessions"]) for turn in turns]
    meanings = {text: [0.0, 0.1, 1.0] for text in (*told, question)} | meanings
    lines = (json.dumps({"text": text, "vector": vector}) for text, vector in meanings.items())
    vectors.write_text("\n".join(lines), "utf-8")
    return [str(file), "--format", "longmemeval", "--vectors", str(vectors)]


LIKE_THE_LAMP = [1.0, 0.1, 0.0]
LAMP = {"I repaired the green lamp in the attic": LIKE_THE_LAMP}


def test_recorded_vectors_of_any_model_are_measured_by_the_way_of_a_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = "Whatever got mended upstairs?"
    given = recorded(tmp_path, asked, {**LAMP, asked: LIKE_THE_LAMP})
    assert measure_recall(given) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["mode"], told["by_type"]["all"]["R@1"]) == ("hybrid", 100.0)
    assert measure_recall([*given[:3], "--mode", "v2"]) == 0
    assert json.loads(capsys.readouterr().out)["by_type"]["all"]["R@1"] == 0.0


def test_a_long_question_is_measured_by_the_recorded_vectors_of_its_parts_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = " Whatever got mended upstairs?"
    asked = f"It rains. It pours. Nobody left.{part}"
    given = recorded(tmp_path, asked, {**LAMP, asked: [0.0, 1.0, 0.0], part: LIKE_THE_LAMP})
    assert measure_recall(given) == 0
    told = json.loads(capsys.readouterr().out)
    assert [figures["R@1"] for figures in (told["by_type"]["all"], told["bm25"]["all"])] == [100.0, 0.0]
    assert told["vectors_alone"]["turn"]["recall@5"] == told["vectors_alone"]["session"]["recall@1"] == 100.0
    assert measure_recall([*given, "--texts"]) == 0
    needed = {json.loads(line)["text"] for line in capsys.readouterr().out.splitlines()}
    assert {*LAMP, asked, part.strip()} <= needed
    with pytest.raises(SystemExit, match="no vector of 1 texts, one of them 'Whatever"):
        measure_recall(recorded(tmp_path, asked, LAMP))


def test_a_question_that_words_alone_answered_is_no_figure_of_hybrid(tmp_path: Path) -> None:
    asked = "Whatever got mended upstairs?"
    with pytest.raises(SystemExit, match="words alone answered 'Whatever"):
        measure_recall(recorded(tmp_path, asked, {**LAMP, asked: [1.0, 0.1]}))


def test_what_is_brought_unasked_is_counted_by_words_and_by_meaning_within_a_turns_room(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ("我对花生过敏", "我的猫叫年糕", "我在杭州工作", "周末常去游泳")
    places = ("杭州的学校门口", "外婆家的厨房里", "去年的同学会上", "火车的餐车上", "公司楼下的小店")
    long = [f"在{at}吃了花生，嘴唇发麻，后来在医院里坐了整整一个下午才好，{at}我是再也不去了" for at in places]
    corpus = [
        {"conv": conv, "session": "s", "turn": f"{conv}{n}", "time": "2026-01-01", "speaker": "user", "text": text}
        for conv, texts in (("a", lines), ("b", long))
        for n, text in enumerate(texts)
    ]
    questions = [
        {"conv": "a", "question": "花生酱好吃吗", "category": "zh", "gold_turns": ["a0"]},
        {"conv": "a", "question": "哈哈哈", "category": "none", "gold_turns": []},
        {
            "conv": "b",
            "question": "花生酱好吃吗，我吃花生嘴唇会发麻",
            "category": "zh",
            "gold_turns": [f"b{n}" for n in range(5)],
        },
    ]
    for name, rows in (("corpus", corpus), ("queries", questions)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert measure_unasked([str(tmp_path)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [told["words"][each] for each in ("wanted", "found", "for_no_reason")] == [2, 2, 0]
    assert 1 + 1 < told["words"]["brought"] < 1 + len(long), "of the long ones a turn has room for some"
    assert told["words"]["tokens"] < 200 + 40
    both = told["words and meaning"]
    assert (both["wanted"], both["found"]) == (2, 2)
    assert both["brought"] <= told["words"]["brought"]
