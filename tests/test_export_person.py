"""`.ai export me` and `nuan export`: one archive to read, with everything of one person and nothing of anybody else."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from bot.config.settings import LogFile
from bot.core.people import ErasedPerson
from bot.ops.logs import Logs
from tests.belonging import nuan, nuan_in_thread
from tests.conftest import NewWorld
from tests.erasing import CANARY, GROUP, NAME, change, lived_in
from tests.test_erase import tables
from tests.world import World

EXPORTED_TABLES = {
    "memories": "memory merged digest talker note",
    "promises": "commitment",
    "reminders": "reminder",
    "lines": "event",
    "files": "attachment",
    "feedback": "feedback",
    "settings": "person account member chat place",
    "usage": "call",
}
"""Which tables each file of the archive is made of."""

LEFT_OUT_TABLES = {
    "copies of what is taken along, by which it is found": "doc doc_text posting vector note_chunk note_line edge",
    "what the model saw and nuan said, which holds what others said": (
        "turn turn_event turn_memory told_item entry epoch session participant outbox sent section_round"
    ),
    "what is under way for minutes, or can be taken back for days": (
        "conversation_window lately question reminder_question code told link linked linking rewriting heartbeat joining rush effect trace outside_grant"
    ),
    "nobody's": "prefix counting recount meta spent outside_day outside_server process chat_lease lease",
    "what plugins keep of a chat": "plugin_value",
    "the house's or a chat's, set for everybody in it": "chat_context setting",
}
"""Tables that are not taken along, and why."""


def archives(world: World) -> list[Path]:
    return sorted((world.folder / "exports").glob("*.zip"))


def contents(path: Path) -> dict[str, str]:
    """The files of an archive."""
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as file:
        assert file.testzip() is None
        return {name: file.read(name).decode() for name in file.namelist()}


FILES_AND_FEEDBACK = (
    "INSERT INTO attachment SELECT max(id), 0, 'file', 'h', '{c}.txt', 'x', 3, 'done', '{c}在纸上' FROM event "
    "WHERE name = '{a}' AND text <> ''",
    "INSERT INTO feedback SELECT max(turn.id), person.id, '👍', 1 FROM turn, person WHERE person.name = '{a}'",
)


def test_of_every_table_it_is_said_whether_it_is_taken_along() -> None:
    named = [table for group in (*EXPORTED_TABLES.values(), *LEFT_OUT_TABLES.values()) for table in group.split()]
    assert sorted(named) == list(tables()), (
        "give a new table its place in these lists, and in bot/store/personal_data.py if it is a person's"
    )


async def test_the_archive_has_all_of_them_and_nothing_of_anybody_else(new_world: NewWorld) -> None:
    world = await lived_in(new_world)
    await world.say("记住我怕黑", NAME)
    await world.say(f"小暖，{NAME}说的荷花秘密是什么", "小王", GROUP)
    for sql in FILES_AND_FEEDBACK:
        assert await change(world, sql.format(c=CANARY, a=NAME)), sql
    await world.say(".ai export me", NAME)
    [path] = archives(world)
    assert path.stat().st_mode & 0o777 == 0o600
    found = contents(path)
    assert "荷花" not in "".join(found.values())
    assert "小王" not in "".join(found.values())
    for name, word in {
        "memories.md": "怕黑",
        "memories.jsonl": "怕黑",
        "promises.md": f"买{CANARY}",
        "promises.jsonl": f"买{CANARY}",
        "reminders.md": f"{CANARY}开会",
        "reminders.jsonl": f"{CANARY}开会",
        "lines.md": f"{CANARY}真好看",
        "lines.jsonl": f"你看{CANARY}",
        "settings.json": "Asia/Tokyo",
        "usage.jsonl": "prompt_tokens",
        "README.md": "promises.jsonl",
        "files.md": f"{CANARY}.txt: {CANARY}在纸上",
        "files.jsonl": f"{CANARY}.txt",
        "feedback.jsonl": "👍",
    }.items():
        assert word in found[name], name
    for name, text in found.items():
        if name.endswith(".jsonl"):
            assert [json.loads(line) for line in text.splitlines()], name
    assert {f"{name}.{end}" for name in EXPORTED_TABLES for end in ("jsonl", "json")} & set(found) == set(found) - {
        name for name in found if name.endswith(".md")
    }
    assert " 08:00: " in found["reminders.md"], "it moved with its person to Tokyo"
    assert "Asia/Tokyo" in found["README.md"]
    settings = json.loads(found["settings.json"])
    assert settings["person"]["accounts"] == [f"console:person:{NAME}"]
    assert {chat["title"] for chat in settings["chats"]} == {"", GROUP}


async def test_they_are_told_and_the_owner_is_asked_to_hand_it_over(new_world: NewWorld) -> None:
    world = await lived_in(new_world)
    before = len(world.talk.said)
    await world.say(".ai export me", NAME)
    told = {outgoing.external_chat_id: outgoing.text for outgoing in world.talk.said[before:]}
    [path] = archives(world)
    assert "请主人交给你" in told[f"dm:{NAME}"]
    assert path.name not in told[f"dm:{NAME}"]
    assert f"exports/{path.name}" in told["local"]
    await world.say(".ai export me")
    assert f"exports/{archives(world)[0].name}" in world.replies[-1]
    before = len(world.talk.said)
    await world.say(".ai export me", NAME)
    assert [outgoing.text for outgoing in world.talk.said[before:]] == ["不到一个小时前刚收好一份，过一会儿再来吧"]
    assert archives(world)[0] == path or archives(world)[1] == path, "the owner is asked once"
    await world.wait(3_600)
    await world.say(".ai export me", NAME)
    assert len(archives(world)) == 2, "a new one takes the place of the one before"
    await world.say(".ai export", NAME)
    assert world.replies[-1] == "说 .ai export me"
    await world.wait(9 * 86_400)
    assert archives(world) == []


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("我喜歡荷花", "關於你的一切在 nuan 資料夾的"),
        ("I like lotus", "Everything I keep of you is in"),
        ("我喜欢", "关于你的一切在"),
    ],
)
async def test_it_is_told_in_the_persons_script(world: World, before: str, told: str) -> None:
    await world.say(f"/remember {before}")
    await world.say(".ai export me")
    assert world.replies[-1].startswith(told)


async def test_in_a_group_only_who_asked_reads_the_answer(new_world: NewWorld) -> None:
    world = await lived_in(new_world)
    before = len(world.talk.said)
    await world.say(".ai export me", NAME, GROUP)
    await world.say(".ai forget me", NAME, GROUP)
    in_group = [each for each in world.talk.said[before:] if each.external_chat_id == f"group:{GROUP}"]
    assert [each.only_for for each in in_group] == [f"person:{NAME}"] * 2


async def test_the_command_line_writes_the_same_beside_a_running_nuan(new_world: NewWorld, tmp_path: Path) -> None:
    world = await lived_in(new_world)
    target = tmp_path / "own.zip"
    said = await nuan_in_thread(world, "export", f"console:person:{NAME}", str(target), "--json")
    assert (said.code, json.loads(said.out)["file"]) == (0, str(target))
    assert json.loads(said.out)["promises"] >= 1
    assert CANARY in contents(target)["lines.md"]
    assert target.stat().st_mode & 0o777 == 0o600
    again = await nuan_in_thread(world, "export", f"console:person:{NAME}", str(target))
    assert (again.code, "is there already" in again.err) == (1, True)
    assert (await nuan_in_thread(world, "export", f"console:person:{NAME}", str(target), "--force")).code == 0


def test_nobody_and_nowhere_are_one_clear_line(tmp_path: Path) -> None:
    for words in (("export", "nobody"), ("erase", "nobody"), ("erase", "nobody", "--yes"), ("export", "9")):
        said = nuan(tmp_path, *words)
        assert (said.code, said.err.count("\n"), "Traceback" in said.err) == (1, 1, False)


async def test_nothing_is_erased_unless_somebody_said_yes(new_world: NewWorld) -> None:
    world = await lived_in(new_world)
    await world.close()
    said = await nuan_in_thread(world, "erase", NAME, "--yes")
    assert (said.code, f"give one of console:person:{NAME}" in said.err) == (1, True)
    said = await nuan_in_thread(world, "erase", f"console:person:{NAME}")
    assert (said.code, "nobody is there to answer" in said.err) == (1, True)
    assert world.peek.accounts.count(name=NAME) == 1
    said = await nuan_in_thread(
        world, "erase", f"console:person:{NAME}", "--yes", "--json", NUAN_BOT__OWNERS=f'["console:person:{NAME}"]'
    )
    told = json.loads(said.out)
    assert told["still_in_configuration"] == ["bot.owners"]
    assert all(told[kind] for kind in ("memories", "promises", "reminders", "talks", "notes", "lines")), told
    assert world.peek.accounts.count(name=NAME) == 0
    assert (await nuan_in_thread(world, "erase", "2", "--yes")).code == 1
    await world.open()


def test_the_log_keeps_nothing_of_them_and_goes_on(tmp_path: Path) -> None:
    logs = Logs(tmp_path, LogFile(text=True, max_megabytes=0.0006), lambda: 0)
    for number in range(3):
        logs.log.info("turn", chat=1, person=7, text=f"{CANARY}{number}")
        logs.log.info("turn", chat=2, person=8, text=f"{CANARY} said too", turn=number)
        logs.log.info("turn", chat=3, person=8, text="other")
        logs.log.info("seen", chat=3, person=7)
        logs.log.info("seen", channel="t-12345")
        logs.log.info("seen", channel="t-123456")
    erased = ErasedPerson(7, frozenset({1}), frozenset({1, 2}), frozenset({"t-12345"}), frozenset({NAME}), {})
    (tmp_path / "nuan.jsonl.9.new").write_text(f"{CANARY} of a scrubbing that a crash cut off")
    assert logs.scrub(erased) > 0
    logs.log.info("after")
    logs.close()
    text = "".join(path.read_text() for path in tmp_path.iterdir())
    assert len(list(tmp_path.iterdir())) > 1, "rotated files, too"
    assert CANARY not in text
    assert '"t-12345"' not in text
    assert '"t-123456"' in text
    assert '"person":7' not in text
    assert '"turn":2' in text
    assert "other" in text
    assert '"event":"after"' in (tmp_path / "nuan.jsonl").read_text()
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


async def test_the_running_installation_scrubs_its_log_with_the_rest(new_world: NewWorld) -> None:
    world = await lived_in(new_world)
    seen: list[ErasedPerson] = []
    world.scrub = lambda erased: len(seen) if seen.append(erased) else 0  # type: ignore[func-returns-value]
    await world.restart()
    await world.say(".ai export me", NAME)
    assert archives(world) != []
    await world.say(".ai forget me", NAME)
    number = world.replies[-1].split()[-1]
    await world.say(f".ai forget me {number}", NAME)
    assert [(each.names, each.ids) for each in seen] == [(frozenset({NAME}), frozenset({f"person:{NAME}"}))]
    assert archives(world) == []
