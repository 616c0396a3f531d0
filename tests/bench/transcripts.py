"""`python -m tests.bench.transcripts OUT --offline | --model URL --name NAME | --by-hand DIR | --replay DIR`.

Plays the talks of `talks/` as tests.bench.truth does and writes each as a page to read: what people and nuan said, by
day. With `--as DIR` nuan has the persona of DIR/persona and the prompt files of DIR/prompts.
"""

import asyncio
import html
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from tests.bench import truth
from tests.bench.played import Played, Talk, place_id, play, read_talk

TALKS = Path(__file__).parent / "talks"
OTHER_PERSONA = "other"


async def live(talk: Talk, data: Path, players: truth.Players, other: Path | None) -> Played:
    """The talk from its first line to its last, with an empty data folder of its own."""
    sections = dict(players.sections)
    if other is not None:
        shutil.copytree(other / "persona", data / "persona" / OTHER_PERSONA)
        sections |= {"persona": OTHER_PERSONA, "prompts_dir": str(other / "prompts")}
    try:
        return await play(talk, data, players.of(talk), sections)
    finally:
        for hand in players.hands:
            hand.finish()


def page(talk: Talk, title: str, played: Played, by: str) -> str:
    """The talk as Markdown, with a heading for each day, and for each chat where there are several."""
    zone, several = ZoneInfo(talk.zone), len({row.chat for row in talk.rows}) > 1
    blocks = [f"# {title}", f"{by}, on a simulated clock. Nothing was edited."]
    heading = ""
    for at, chat, who, text in sorted(said(talk, played), key=lambda one: one[0]):
        when = datetime.fromtimestamp(at / 1000, zone)
        kind, _, name = chat.partition(":")
        where = "" if not several else f" · in private with {name}" if kind == "dm" else f" · the group {name}"
        if heading != (heading := f"## {when:%A}, {when.day} {when:%B}{where}"):
            blocks.append(heading)
        shown = "<br>\n".join(html.escape(text, quote=False).splitlines())
        blocks.append(f"`{when:%H:%M}` {who}: {shown}" if who else f"```\n{text}\n```")
    return "\n\n".join(blocks) + "\n"


def said(talk: Talk, played: Played) -> Iterator[tuple[int, str, str, str]]:
    """When, in which chat, who, what; a line before its answers. An opening that is looked at is said by nobody."""
    for row in talk.rows:
        if not row.check:
            yield row.at, row.chat, row.who, row.text
    for look in played.looks:
        yield look.row.at, look.row.chat, "", look.text.partition("<ctx")[0].strip()
    chats = {place_id(row.chat): row.chat for row in talk.rows}
    for sent in played.sent:
        yield sent.at, chats[sent.place], f"**{talk.bot[0]}**", sent.text


def title_of(path: Path) -> str:
    """How the file calls its talk."""
    return str(json.loads(path.read_text("utf-8").partition("\n")[0])["talk"])


def main(words: Sequence[str] | None = None) -> int:
    """Write the pages into OUT; 1 when a call was answered by nobody."""
    parser = truth.arguments("python -m tests.bench.transcripts")
    parser.add_argument("--as", dest="other", type=Path, metavar="DIR", help="with DIR/persona and DIR/prompts")
    parser.add_argument("--by", default="", help="how the pages call who answered")
    given = parser.parse_args(words)
    players = truth.Players(given)
    given.folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(TALKS.glob("*.jsonl")):
        if given.talk and path.stem not in given.talk:
            continue
        talk = read_talk(path)
        with tempfile.TemporaryDirectory(prefix="nuan-talk-") as folder:
            played = asyncio.run(live(talk, Path(folder), players, given.other))
        text = page(talk, title_of(path), played, given.by or f"Answered by {players.name}")
        (given.folder / f"{path.stem}.md").write_text(text, "utf-8")
    return 1 if players.failures else 0


if __name__ == "__main__":
    sys.exit(main())
