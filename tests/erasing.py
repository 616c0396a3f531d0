"""Installations with a person to erase or export, and what is left of them afterwards. It checks nothing."""

import re
from pathlib import Path

from bot.core.archive import FrontMatter
from bot.store.files import content_of
from bot.text.files import write_front
from tests.conftest import NewWorld
from tests.noting import look
from tests.world import World

CANARY = "海棠"
NAME = "阿棠"
GROUP = "闲聊"


def files_with(folder: Path, word: str) -> list[str]:
    """Every file below a folder whose name or bytes hold the word."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and (word.encode() in path.read_bytes() or word in path.name)
    )


TALK = (
    "记住我喜欢{word}",
    "我明天给你买{word}",
    ".ai remind 明天早上8点 {word}开会",
    "你看{word}",
    "{word}真好看啊",
    ".ai tz Tokyo",
    "叫我{word}妹",
    "你看{word}开了",
    "提醒我{word}",
)
FEW = 6


async def lived_in(new_world: NewWorld, *, all_of_it: bool = False) -> World:
    """An installation in which 阿棠 left traces, `all_of_it`: in as many tables as talk fills, and 小王 the same with
    荷花.
    """
    world = await new_world(notes={"on_new": True})
    for who in ("小王", NAME):
        word = CANARY if who == NAME else "荷花"
        talk = [text.format(word=word) for text in (TALK if all_of_it else TALK[:FEW])]
        for text in talk:
            await world.say(text, who)
        await world.say(f"记住{word}在后院", who, GROUP)
        await world.say(f"小暖你看{word}", who, GROUP)
        await world.say("/new", who)
        await look(world)
    return world


PLANTED = (
    "INSERT INTO doc (kind, ref, scope, chat_id, person_id, at, length) VALUES ('line', 99999, 'all', 1, {n}, 1, 1)",
    "INSERT INTO doc_text (doc_id, scope, terms) SELECT id, 'all', '{c}' FROM doc WHERE ref = 99999",
    "INSERT INTO memory (owner_id, chat_id, visibility, kind, text, folded, source, stability_days, accessed_at, "
    "observed_at, created_at, updated_at) SELECT {n}, chat_id, 'public', 'event', '{c}', '{c}', 'import', 1, 1, 1, 1, "
    "1 FROM member WHERE person_id = {n}",
    "INSERT INTO attachment SELECT id, 7, 'file', 'h', '{c}', 'x', 3, 'new', '{c}' FROM event WHERE person_id = {n}",
    "INSERT INTO merged (memory_id, at, how, before, before_observed_at, said, kind, source, observed_at) "
    "SELECT id, 1, 'same', '{c}', 1, '{c}', 'event', 'digest', 1 FROM memory WHERE owner_id = {n}",
    "INSERT OR REPLACE INTO question SELECT chat_id, {n}, 'forget', '[]', 0, 9e15 FROM member WHERE person_id = {n}",
    "INSERT OR REPLACE INTO reminder_question SELECT chat_id, {n}, '{c}', '[\"{c}\"]', 0, 0, 1, 1, 9e15, 0, "
    "'[]' FROM member WHERE person_id = {n}",
    "INSERT OR REPLACE INTO rewriting (memory_id, due_at) SELECT id, 9e15 FROM memory WHERE owner_id = {n}",
    "INSERT OR REPLACE INTO told VALUES ({n}, 'day', 1)",
    "INSERT OR REPLACE INTO conversation_window SELECT chat_id, {n}, 9e15 FROM member WHERE person_id = {n}",
    "INSERT OR REPLACE INTO code VALUES ('told {n}', 'told', {n}, NULL, 1, 9e15)",
    "INSERT OR REPLACE INTO feedback SELECT id, {n}, '{c}', 1 FROM turn",
    "INSERT OR REPLACE INTO section_round SELECT id, chat_id, {n}, 1, '[\"{c}\"]', '[]', 0 FROM turn "
    "WHERE person_id = {n}",
    "INSERT INTO told_item (turn_id, way, ref, tokens, why) SELECT id, 'x', '{c}', 1, '{c}' FROM turn "
    "WHERE person_id = {n}",
    "UPDATE turn SET receipts = '[\"{c}\"]', error = '{c}' WHERE person_id = {n}",
    "INSERT INTO outbox (chat_id, kind, text, state, due_at, only_for, buttons) SELECT chat_id, 'notice', '{c}', "
    "'pending', 9e15, 'person:{a}', '[[\"x\", \"y\", \"person:{a}\"]]' FROM member WHERE person_id = {n}",
    "UPDATE event SET quote = '{c}' WHERE person_id = {n}",
    'INSERT INTO link (person_id, at, accounts, was, had, upto) VALUES ({n}, 9e15, \'[["x", "person:{a}"]]\', '
    "'[\"{a}\"]', '[\"{a}\"]', '{{}}')",
    'UPDATE digest SET names = \'["{a}", "小王"]\' WHERE chat_id IN (SELECT chat_id FROM member WHERE person_id = {n})',
    "UPDATE chat SET title = '{a}', scene = '{c}' WHERE id IN (SELECT chat_id FROM member WHERE person_id = {n}) "
    "AND kind = 'dm'",
    "INSERT INTO vector SELECT id, 'm', 1, x'00', CAST('{c}' AS BLOB) FROM doc WHERE person_id = {n}",
    "INSERT INTO event (chat_id, at, kind, person_id, state, external_id, text) SELECT chat_id, 1, 'message', {n}, "
    "'done', 'x1', '{c}' FROM member WHERE person_id = {n}",
    "INSERT INTO event (chat_id, at, kind, state, target, quote) SELECT chat_id, 1, 'message', 'done', 'x1', '{c}' "
    "FROM member WHERE person_id = {n}",
)
"""Rows of the kinds that this talk does not fill."""


async def change(world: World, sql: str) -> int:
    """Change rows; how many."""
    return await world.store._database.write(lambda db: db.execute(sql).rowcount)


async def plant(world: World, number: int) -> None:
    """Their word in every column that could hold it, and in notes that nobody knows the lines of any more."""
    ((chat,),) = world.rows(
        "SELECT chat.id FROM member JOIN chat ON chat.id = chat_id WHERE kind = 'dm' AND person_id = ?", number
    )
    front = write_front(FrontMatter(int(str(chat)), "private"))
    for name in ("2026-05-01", "2026-05-02"):
        world.store.files.notes.create(f"notes/{name}.md", content_of([*front, "", f"- {CANARY}"]))
        if name.endswith("01"):
            await look(world)
    for sql in PLANTED:
        assert await change(world, sql.format(n=number, c=CANARY, a=NAME)), sql


async def forget(world: World, who: str = NAME, group: str = "") -> None:
    """They say it twice."""
    await world.say(".ai forget me", who, group)
    number = re.findall(r"\.ai forget me (\d+)", world.replies[-1])[0]
    await world.say(f".ai forget me {number}", who, group)
