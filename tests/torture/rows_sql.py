"""The row about statements: texts that would be SQL or operators of the full-text search, by every way in."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tests.torture.row import Found, Row, Size
from tests.torture.words import none

if TYPE_CHECKING:
    from tests.world import World


def schema(world: "World") -> list[tuple[object, ...]]:
    """How the database is built."""
    return world.rows("SELECT type, name, sql FROM sqlite_master ORDER BY name")


def statements() -> Iterator[str]:
    """Two hundred texts that would be statements of SQL or operators of the full-text search."""
    heads = ("'", '"', "`", "')", '";', "%'", "\\'", "1", "*", "a* OR")
    tails = (
        "; DROP TABLE memory; --",
        " OR 1=1 --",
        " UNION SELECT text FROM memory --",
        "; ATTACH 'x.db' AS x; --",
        " NEAR(a b)",
        " AND NOT b",
        "; PRAGMA writable_schema=1; --",
        "; UPDATE memory SET visibility='public'; --",
        " OR owner_id IS NOT NULL --",
        '^ {a}: -b + "',
        "' || (SELECT text FROM memory) || '",
        "; DELETE FROM event; --",
        "\x00; VACUUM; --",
        " MATCH 'a'",
        " LIKE '%",
        "); INSERT INTO account VALUES (1, 'x', 'y'); --",
        "'; SELECT load_extension('x'); --",
        " GLOB '*'",
        " ESCAPE '",
        "/**/OR/**/1",
    )
    yield from (f"{head}{tail}" for head in heads for tail in tails)


async def injections(folder: Path, size: Size) -> Found:
    """Each by every way in: text, name, title, words of commands, arguments of tools, files to import."""
    from bot.core.events import Attachment
    from tests.fakes.model import calls
    from tests.world import World

    texts = tuple(statements())
    world = await World(folder / "data").open()
    await world.say("记住我对花生过敏")
    await world.say("记住我有秘密", "阿明")
    built, theirs = schema(world), "SELECT text, visibility, disabled_at FROM memory WHERE text = '我有秘密'"
    before, effects, leaks = world.rows(theirs), 0, 0
    for number in range(size.units):
        text = texts[(number + (size.seed - 1) * size.units) % len(texts)]
        asked = json.dumps({"query": text}, ensure_ascii=False)
        world.model.script = lambda request, asked=asked: (  # type: ignore[misc]
            calls(("memory_recall", asked))
            if request.prompt.tools and request.prompt.messages[-1].role == "user"
            else "好的"
        )
        await world.say(
            f"小暖，{text}", "小王", text, attachments=(Attachment("file", text, text, text, 1),), external_id=text
        )
        for said in (f"记住{text}", f"忘记{text}", f"撤销 {text}", f".ai mem {text}", f".ai dialog {text}", text):
            await world.say(said)
        effects += schema(world) != built or world.rows(theirs) != before
        leaks += any("我有秘密" in one.text for one in world.talk.said if "阿明" not in one.external_chat_id)
    errors = [line for line in world.log.lines if line[0] == "error"]
    await world.close()
    return Found(
        {"payloads": size.units, "effects": effects, "leaks": leaks, "errors": len(errors)},
        notes=tuple(str(line)[:200] for line in errors[:3]),
    )


ROWS: tuple[Row, ...] = (
    Row(
        "X22",
        "Statements of SQL in texts",
        "200 payloads by every way in: 0 effect, 0 errors",
        "payloads",
        200,
        2,
        50,
        300.0,
        none("effects", "leaks", "errors"),
        injections,
    ),
)
