"""What tests of notes share: writing a file as an editor does, and asking what an audience would find."""

from pathlib import Path

from bot.core.archive import citation
from bot.core.people import Audience
from bot.store.index import scopes_of
from tests.world import World


def group(world: World, title: str) -> Audience:
    """Everyone in that group."""
    ((chat,),) = world.peek.chats("id", title=title)
    people = world.peek.members("person_id", chat_id=chat)
    return Audience(int(str(chat)), "group", tuple(int(str(row[0])) for row in people))


def dm(world: World, who: str = "小王") -> Audience:
    """That person in their own DM."""
    ((chat, person),) = world.rows(
        "SELECT chat.id, person.id FROM member JOIN chat ON chat.id = chat_id JOIN person ON person.id = person_id "
        "WHERE chat.kind = 'dm' AND name = ?",
        who,
    )
    return Audience(int(str(chat)), "dm", (int(str(person)),))


def found(world: World, audience: Audience, word: str) -> list[str]:
    """The notes with that word that this audience would be told of, as they are cited."""
    marks = ",".join("?" * len(scopes_of(audience)))
    rows = world.rows(
        "SELECT path, first_line, last_line FROM doc JOIN note_chunk ON note_chunk.id = ref JOIN note ON "
        f"note.id = note_id WHERE doc.kind = 'note' AND scope IN ({marks}) AND replace(text, ?, '') <> text "
        "ORDER BY path, first_line",
        *scopes_of(audience),
        word,
    )
    return [citation(str(path), int(str(first)), int(str(last))) for path, first, last in rows]


def put(world: World, path: str, text: str | bytes) -> Path:
    """Save a file in the data folder."""
    file = world.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


async def look(world: World) -> None:
    """The installation looks at its notes, and once more when they have been left alone."""
    world.app.look_at_notes()
    await world.app.settled()
    await world.wait(2)


def notes(world: World) -> dict[str, str]:
    """The files that there are, with what they say."""
    return {path.name: path.read_text("utf-8") for path in sorted((world.folder / "notes").rglob("*.md"))}


def on_disk(world: World, text: str) -> list[str]:
    """The files that hold that text anywhere, in name or content."""
    files = [path for path in world.folder.rglob("*") if path.is_file()]
    return [path.name for path in files if text in path.name or text.encode() in path.read_bytes()]
