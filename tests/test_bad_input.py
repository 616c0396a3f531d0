"""Bad configuration, bad servers, bad files and bad input, with the real program: clear words, nothing lost."""

import asyncio
import json
import re
import signal
from dataclasses import replace
from pathlib import Path

from tests.e2e import KEY, Home, Ran, run, running, with_server
from tests.fakes.openai_script import Asked, Fault, Reply
from tests.fakes.openai_server import FakeOpenAI
from tests.sizes import PATIENCE_S

FAULTS: tuple[Fault, ...] = (
    "html200",
    "choices_null",
    "no_finish",
    "bad_tool_args",
    "truncated_tool_args",
    "http",
    "reset",
    "error_stream",
    "drip",
)


def moody(asked: Asked) -> Reply:
    """Fails as the newest line asks, else answers."""
    line = (re.findall(r"<p\b[^>]*>(.*?)</p>", asked.last_user, re.DOTALL) or [""])[-1]  # a digest's request has none
    fault = next((fault for fault in FAULTS if line.endswith(fault) and asked.last_role == "user"), None)
    status = 500 if "500" in line else 429
    return Reply("好的，我在听" if fault is None else "半句话还没", fault=fault, status=status)


class Slow:
    """Talks without end the first time, then answers."""

    def __init__(self) -> None:
        self.talking = asyncio.Event()

    def __call__(self, asked: Asked) -> Reply:
        """The next reply."""
        if self.talking.is_set():
            return Reply("好的，我在听")
        self.talking.set()
        return Reply("从前", fault="drip")


def check_refused(ran: Ran, code: int, *told: str) -> None:
    """An error for people: on standard error only, each problem on its line, no traceback."""
    assert (ran.code, ran.out) == (code, b"")
    assert [part for part in told if part not in ran.err] == []
    assert all(line.startswith("nuan: ") for line in ran.err.splitlines())
    assert "Traceback" not in ran.err


async def test_all_problems_of_the_configuration_are_told_at_once(tmp_path: Path) -> None:
    home = Home(tmp_path, {"SPEAK__WINDOW_SECONDS": "soon", "MODLE__NAME": "x"})
    text = f'typo = 1\n[model]\nbase_url = "https://api.example.com/v1"\nname = "m"\nslots = "{KEY}"\n[spaek]\nx = 1\n'
    (tmp_path / "nuan.toml").write_text(text, "utf-8")
    ran = await run(home, "chat", stdin="你好\n".encode())
    told = ("typo: ", "spaek: ", "model.slots: ", "speak.window_seconds: ", "NUAN_MODLE__NAME: ", "model.api_key: ")
    check_refused(ran, 2, *told)
    assert len(ran.err.splitlines()) == len(told)
    assert KEY not in ran.err
    assert not home.data_folder.exists()


async def test_problems_of_named_files_are_told_with_all_others(tmp_path: Path) -> None:
    own = tmp_path / "own"
    for name, content in (
        ("messages/en.toml", b"x = 3"),
        ("digest/en.txt", b"\xff"),
        ("tools/remember.json", b"["),
    ):
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_bytes(content)
    (tmp_path / "nuan.toml").write_text(f'typo = 1\npersona = "nobody"\nprompts_dir = "{own}"\n', "utf-8")
    ran = await run(Home(tmp_path), "boot")
    check_refused(ran, 2, "typo: ", "persona: ", "messages/en.toml", "digest/en.txt", "tools/remember.json")
    assert len(ran.err.splitlines()) == 5


async def test_a_configuration_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (tmp_path / "bytes.toml").write_bytes(b"a = '\xff'\n")
    (tmp_path / "broken.toml").write_text("[model\n", "utf-8")
    (tmp_path / "folder.toml").mkdir()
    names = ("bytes.toml", "broken.toml", "folder.toml", "absent.toml")
    for name, ran in zip(names, await asyncio.gather(*(run(home, "ctx", "--config", n) for n in names)), strict=True):
        check_refused(ran, 2, name)
    assert not home.data_folder.exists()


async def test_a_failing_server_costs_one_clear_line_and_the_talk_goes_on(tmp_path: Path) -> None:
    async with FakeOpenAI(moody, key=KEY) as server:
        home = Home(tmp_path, with_server(server, MODEL__DEADLINE_SECONDS="1"))
        async with running(home) as nuan:
            for fault in (*FAULTS, "500 http"):
                answer = await nuan.ask(f"给我来一个 {fault}")
                assert ("好的" in answer) == (fault == "bad_tool_args"), "a tool's error is the tool's answer"
                assert "半句话" not in answer
                assert await nuan.ask("还好吗") == "好的，我在听"
            await nuan.end_input()
            assert (await nuan.ended(), nuan.errors) == (0, "")
            lines = nuan.output.splitlines()
        assert len(lines) == 2 * (len(FAULTS) + 1), "one line for each message"
        assert server.violations == []
    failed = home.log("model_failed")
    assert len(failed) == len(FAULTS), "all but the tool's error"
    assert all(isinstance(line["detail"], str) and line["detail"] for line in failed)
    assert "给我来" not in (home.data_folder / "logs" / "nuan.jsonl").read_text("utf-8")


async def test_a_server_that_is_away_or_refuses_the_key_is_told_in_one_line(tmp_path: Path) -> None:
    async with FakeOpenAI(moody, key="another") as server:
        home, port = Home(tmp_path, with_server(server)), server.port
        async with running(home) as nuan:
            assert "密钥" in await nuan.ask("你好")
            await server.__aexit__(None, None, None)
            assert "连不上" in await nuan.ask("你好吗")
            assert len(home.log("model_failed")) == 2
            async with FakeOpenAI(moody, key=KEY, port=port) as back:
                assert await nuan.ask("还在吗") == "好的，我在听"
                for line in ("你好", "你好吗", "还在吗"):
                    assert f">{line}</p>" in back.bodies[0].decode(), "nothing that was said is lost"
            await nuan.end_input()
            assert await nuan.ended() == 0
            assert KEY not in nuan.output
    assert KEY.encode() not in home.written()


async def test_a_database_that_cannot_be_used_is_left_as_it_is(tmp_path: Path) -> None:
    home = Home(tmp_path)
    database = home.data_folder / "nuan.db"
    home.data_folder.mkdir()
    for damaged in (b"this is no database, but somebody's notes" * 100, b"SQLite format 3\x00" + b"\xff" * 8176):
        database.write_bytes(damaged)
        check_refused(await run(home, "chat", stdin="你好\n".encode()), 1, "nuan.db", "nothing was changed", "backup")
        assert database.read_bytes() == damaged
        assert home.files() == ["data/nuan.db", "data/nuan.lock"]


async def test_a_database_with_a_damaged_page_is_left_as_it_is(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert (await run(home, "chat", stdin="记住我喜欢猫\n".encode())).code == 0
    database = home.data_folder / "nuan.db"
    whole = database.read_bytes()
    damaged = whole[:4096] + b"\xa5" * 4096 + whole[8192:]
    database.write_bytes(damaged)
    check_refused(await run(home, "chat", stdin="你好\n".encode()), 1, "nuan.db is damaged", "nothing was changed")
    assert database.read_bytes() == damaged


async def test_a_data_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine", "utf-8")
    for folder in ("notes", "notes/data", "/proc/nuan"):
        check_refused(await run(Home(tmp_path, data=folder), "chat", stdin=b"hi\n"), 1, "--data")
    assert Home(tmp_path).files() == ["notes"]


async def test_beside_a_running_nuan_one_may_look_but_not_answer(tmp_path: Path) -> None:
    home = Home(tmp_path)
    check_refused(await run(home, "boot"), 1, "talk to nuan once")
    assert not home.data_folder.exists()
    async with running(home) as nuan:
        assert await nuan.ask("记住我住在里斯本") == "记住啦 #1：我住在里斯本"
        second, ctx, boot = await asyncio.gather(
            run(home, "chat", stdin="你好\n".encode()), run(home, "ctx", "--raw", "--query", "你好"), run(home, "boot")
        )
        check_refused(second, 1, "another nuan", "--data")
        body = json.loads(ctx.out)
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
        assert "你好" in body["messages"][1]["content"]
        for looked in (ctx, boot):
            assert (looked.code, looked.err) == (0, "")
            assert "我住在里斯本" in looked.text
        assert await nuan.ask("记住我有一只猫") == "记住啦 #2：我有一只猫"


async def test_garbage_and_very_long_lines_are_only_words(tmp_path: Path) -> None:
    garbage = bytes(number for number in range(256) if number not in b"\n\r") * 20
    async with FakeOpenAI(moody, key=KEY) as server:
        home = Home(tmp_path, with_server(server))
        stdin = b"\n".join((garbage, b"\x00\x1b[2J", "长".encode() * 350_000, b"\xed\xa0\x80", "最后一句".encode()))
        ran = await run(home, "chat", stdin=stdin)
        assert (ran.code, ran.err) == (0, "")
        assert len(ran.text.splitlines()) == 5
        assert ran.text.splitlines()[-1] == "小暖 › 好的，我在听", "a last line without an end is answered, too"
        assert server.violations == []
        assert max(map(len, server.bodies)) < 200_000
    assert {line["event"] for line in home.log() if line["level"] != "info"} == {"digest_broken"}, "it says no JSON"


async def test_a_polite_stop_loses_nothing(tmp_path: Path) -> None:
    homes = [(Home(tmp_path, data=name), name == "terminal") for name in ("terminal", "pipe")]
    await asyncio.gather(*(stop_and_start(home, tty) for home, tty in homes))


async def stop_and_start(home: Home, tty: bool) -> None:
    """SIGTERM in the middle of a reply; the next start tells it."""
    slow = Slow()
    async with FakeOpenAI(slow, key=KEY) as server:
        home = replace(home, settings=with_server(server))
        async with running(home, tty=tty) as nuan:
            await nuan.say("给我讲个故事")
            async with asyncio.timeout(PATIENCE_S):
                await slow.talking.wait()
            nuan.send(signal.SIGTERM)
            assert await nuan.ended() == 0
            assert nuan.errors == ""
        ran = await run(home, "chat")
        assert (ran.code, ran.text, ran.err) == (0, "小暖 › 好的，我在听\n", "")
        assert server.bodies[0] == server.bodies[1]


async def test_what_was_said_before_the_input_ended_is_answered(tmp_path: Path) -> None:
    async with FakeOpenAI(moody, key=KEY) as server:
        ran = await run(Home(tmp_path, with_server(server)), "chat", stdin="你好\n再见".encode())
    assert (ran.code, ran.text, ran.err) == (0, "小暖 › 好的，我在听\n" * 2, "")


async def test_without_any_set_up_the_offline_model_answers_a_pipe(tmp_path: Path) -> None:
    ran = await run(Home(tmp_path), "chat", stdin="你好\n".encode())
    assert (ran.code, ran.err) == (0, "")
    assert ran.text.startswith("小暖 › ")
    assert "离线" in ran.text
