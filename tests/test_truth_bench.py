"""The bench of talks with checkpoints plays them as they are, scores them as their README says, and changes nothing."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.bench import byhand, transcripts, truth
from tests.bench.byhand import Answer
from tests.fakes.openai_server import FakeOpenAI

HEAD: dict[str, object] = {
    "talk": "伞",
    "zone": "Asia/Shanghai",
    "bot": ["小暖"],
    "language": "zh-Hans",
    "about": "…",
}
DM = {"chat": "dm:阿明", "who": "阿明"}
GROUP = {"chat": "group:伞友", "who": "阿明"}


def line(number: int, at: str, text: str, **more: object) -> dict[str, object]:
    return {"n": number, "at": f"2026-03-{at}", **DM, "text": text, **more}


def look(kind: str, at: str, must: list[str], never: list[str], **more: object) -> dict[str, object]:
    where = {} if kind == "receipt" else {"chat": DM["chat"]} if kind == "said" else DM
    return {"check": kind, "at": f"2026-03-{at}", **where, **more, "must": must, "never": never, "why": "…"}


ROWS = (
    line(1, "02T10:00:00", "记住我的傘是紅色的"),
    look("receipt", "02T10:00:00", ["记住", "绿色"], ["蓝色"], n=1),
    line(2, "02T10:01:00", "今天下午四点提醒我收伞"),
    look("opening", "02T12:00:00", ["红色"], ["先听我讲完"]),
    look("recall", "02T12:00:00", ["红色"], ["什么颜色"], query="我的伞是什么颜色", top=3),
    look("light", "02T12:00:00", ["早"], [], text="早"),
    look("said", "02T16:00:00", ["收伞"], ["红色"], within_s=60),
    line(3, "02T18:00:00", "我的帽子是黃色的"),
    line(4, "02T18:00:30", "我的帽子是黑色的", edit=3),
    line(5, "02T18:01:00", "", delete=4),
    line(6, "02T18:02:00", "小暖，在嗎", **GROUP),
    line(7, "02T18:02:02", "小暖，你好呀", **GROUP),
    look("said", "02T18:03:00", [], ["."], within_s=90),
)


def laid(folder: Path, rows: tuple[dict[str, object], ...] = ROWS) -> Path:
    """A folder with this one talk."""
    folder.mkdir()
    lines = [json.dumps(row, ensure_ascii=False) for row in (HEAD, *rows)]
    (folder / "umbrella.jsonl").write_text("\n".join(lines), "utf-8")
    return folder


def played(tmp_path: Path, *words: str, name: str = "out", code: int = 0) -> dict[str, object]:
    """What the bench writes of the talk."""
    file = tmp_path / f"{name}.json"
    assert truth.main([str(tmp_path / "talks"), *words, "--json", str(file)]) == code
    return json.loads(file.read_text("utf-8"))["talks"][0]  # type: ignore[no-any-return]


@contextmanager
def player(folder: Path, answers: Callable[[dict[str, object]], str]) -> Iterator[list[str]]:
    """Somebody who answers the requests of that folder by text; yields what kinds they were of."""
    kinds, over = list[str](), threading.Event()

    def work() -> None:
        while not over.wait(0.02):
            for path in sorted(folder.glob("*.request.json")):
                answer = folder / path.name.replace(".request.", ".answer.")
                if not answer.exists():
                    request = json.loads(path.read_text("utf-8"))
                    kinds.append(request["kind"])
                    byhand.put(answer, answers(request))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield kinds
    finally:
        over.set()
        thread.join()


def test_a_talk_is_played_and_every_kind_of_checkpoint_is_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    laid(tmp_path / "talks")
    talk = played(tmp_path, "--offline", "--verbose")
    checks = {(one["kind"], one["at"]): one for one in talk["checks"]}  # type: ignore[attr-defined]
    receipt = checks["receipt", "2026-03-02T10:00:00"]
    assert (receipt["missing"], receipt["seen"], receipt["clean"]) == (["绿色"], [], False)
    others = [one for kind, one in checks.items() if kind[0] != "receipt"]
    assert [one["kind"] for one in others if not one["clean"]] == []
    assert talk["scores"]["all"]["found"] == talk["scores"]["all"]["asked"] - 1 == 5  # type: ignore[index]
    shown = capsys.readouterr().out
    assert "missing 绿色" in shown
    assert "5/6" in shown
    assert "umbrella: over" in shown


def test_a_line_that_comes_seconds_later_meets_a_bot_that_is_still_answering(tmp_path: Path) -> None:
    laid(tmp_path / "talks")
    sent = played(tmp_path, "--offline")["sent"]
    group = [one for one in sent if one["place"] == "g-伞友"]  # type: ignore[attr-defined]
    assert [one["after"] for one in group] == [7] * len(group)
    assert group


def test_looking_changes_nothing_of_what_comes_after(tmp_path: Path) -> None:
    laid(tmp_path / "talks")
    watched = played(tmp_path, "--offline", name="watched")
    (tmp_path / "talks" / "umbrella.jsonl").unlink()
    (tmp_path / "talks").rmdir()
    unwatched = tuple(row for row in ROWS if row.get("check") not in ("opening", "light", "recall"))
    laid(tmp_path / "talks", unwatched)
    alone = played(tmp_path, "--offline", name="alone")
    assert (alone["sent"], alone["tokens"]) == (watched["sent"], watched["tokens"])


def test_a_player_answers_by_files_and_the_same_requests_are_replayed_without(tmp_path: Path) -> None:
    laid(tmp_path / "talks")
    hands = tmp_path / "hands"

    def answer(request: dict[str, object]) -> str:
        if request["kind"] != "turn":
            return "{}" if request["number"] == 1 else '{"text": "{}"}'
        return '{"text": "好，红伞。", "tool_calls": []}'

    with player(hands / "umbrella", answer) as kinds:
        talk = played(tmp_path, "--by-hand", str(hands))
    assert "turn" in kinds
    assert any(one["text"] == "好，红伞。" for one in talk["sent"])  # type: ignore[attr-defined]
    assert (hands / "umbrella" / "DONE").exists()
    again = played(tmp_path, "--replay", str(hands), name="again")
    assert again == talk
    (hands / "umbrella" / "recorded.jsonl").write_text("", "utf-8")
    played(tmp_path, "--replay", str(hands), name="unknown", code=1)


async def test_a_server_answers_and_what_it_counts_is_told_by_cause(tmp_path: Path) -> None:
    laid(tmp_path / "talks", ROWS[7:8])
    async with FakeOpenAI() as server:
        words = ("--model", server.base_url, "--name", "fake")
        talk = await asyncio.to_thread(played, tmp_path, *words)
    assert server.violations == []
    spent = talk["tokens"][0]  # type: ignore[index]
    assert (spent["cause"], spent["calls"]) == ("reply", 1)
    assert spent["prompt"] > 0


def test_an_answer_that_is_none_is_refused_and_waited_for_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    laid(tmp_path / "talks", ROWS[7:8])
    hands = tmp_path / "hands"
    given = iter(("no JSON", '{"words": "嗯"}', '{"text": "嗯，黄帽子"}'))
    with player(hands / "umbrella", lambda _: next(given, '{"text": "{}"}')):
        talk = played(tmp_path, "--by-hand", str(hands))
    assert [one["text"] for one in talk["sent"]] == ["嗯，黄帽子"]  # type: ignore[attr-defined]
    assert capsys.readouterr().err.count("is waited for anew") == 2


def test_the_same_answer_to_the_same_request_names_its_calls_alike() -> None:
    answer = Answer.model_validate({"tool_calls": [{"name": "memory_recall", "arguments": {"query": "伞"}}]})
    (call,) = answer.completion("ab" * 32).tool_calls
    assert (call.id, call.arguments) == ("call_ababababab_0", '{"query":"伞"}')


def test_a_talk_becomes_a_page_by_days_with_what_the_morning_opens_with(tmp_path: Path) -> None:
    assert transcripts.main([str(tmp_path), "--offline", "--talk", "evening"]) == 0
    page = (tmp_path / "evening.md").read_text("utf-8")
    evening, morning = page.index("## Thursday, 11 June"), page.index("## Friday, 12 June")
    assert evening < page.index("`22:10` 小宁: 记住我对芒果过敏") < page.index("`22:10` **小暖**: 记住啦 #1") < morning
    assert morning < page.index("```\n【此处】") < page.index("#1 小宁：我对芒果过敏") < page.index("`08:20` 小宁: 早")
    assert page.count("\n") <= 200


async def test_a_talk_can_be_told_with_the_persona_and_rules_of_another_time(tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "persona").mkdir(parents=True)
    (other / "prompts").mkdir()
    (other / "persona" / "IDENTITY.md").write_text("小暖，一只猫。", "utf-8")
    (other / "persona" / "SOUL.md").write_text("爱说喵。", "utf-8")
    (other / "prompts" / "full.txt").write_text("- 每句都说喵。", "utf-8")
    async with FakeOpenAI() as server:
        words = [str(tmp_path), "--talk", "evening", "--model", server.base_url, "--name", "cat", "--as", str(other)]
        assert await asyncio.to_thread(transcripts.main, words) == 0
    asked = b"".join(server.bodies).decode()
    assert "爱说喵" in asked
    assert "每句都说喵" in asked
    assert "**小暖**: " in (tmp_path / "evening.md").read_text("utf-8")
