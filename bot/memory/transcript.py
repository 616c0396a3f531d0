"""The lines of a talk as digests and notes read them, whose words they are, and the newest by their numbers. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo

from bot.core.events import ChatKind
from bot.core.memories import NudgeRules
from bot.language.pasted import own_part
from bot.language.statements import is_injection
from bot.language.wishes.patterns import speaks
from bot.language.wishes.reader import understand
from bot.text.catalogue import LazyPattern
from bot.text.clean import clean, clean_name, escaped, one_row
from bot.text.fold import fold
from bot.text.length import clip
from bot.text.similarity import echoes

MESSAGE_CHARS = 4_000
"""How much of one message is read."""

PLAY_LINES = 12
"""So many lines a play goes on when nobody says that it ends."""

_PLAY = LazyPattern(
    r"(?:你|我|来|一起|请)[^,。]{0,6}扮演|角色扮演|(?:^|[,。!?~ ]|我们|咱们?|来|你)假装(?:你|我|自己|咱)|(?:我们|咱们?|一起)来?演|来演"
    r"|(?:来|一起|我们|咱们?|陪我|[跟和]我)(?![^,。]*(?:昨|每|常|了|过))[^,。]{0,3}(?:玩|演)[^,。]{0,6}(?:游戏|戏|剧本)|语c"
    r"|\b(?:role-?play\w*|act out|in character|once upon a time)\b|(?:^|let['’]?s|please|can you|you|[,.!]"
    r"|now) ?pretend\b"
    r"|\b(?:i['’]?ll|i will|let me|i want to|i['’]?m going to) (?:tell|write) (?:you )?an? (?:\w+ )?story\b"
    r"|\blet['’]?s play\b"
    r"|(?<![给跟为对帮替陪])我(?:们|来|想|要|先|再|给(?:你|大家)|[跟和]你|也|会|一起|,)*[编讲说写]一?[个段篇][^,。]{0,6}故事"
    r"|(?:一起|咱们?|(?<!你)来|轮流)[编讲写说玩][^,。]{0,6}故事|故事接龙|故事[^。]{0,12}我(?:是|当|演|扮)"
)
"""A play, or a story of somebody's own; who asks for a story tells none."""
_PLAY_OVER = LazyPattern(
    r"演完|不演了|不玩了|玩够|说正经|说真的|认真的?说|言归正传|出戏|(?:结束|停止)(?:表演|扮演|游戏|故事)"
    r"|\b(?:stop (?:playing|pretending|it)|out of character|ooc|seriously|end of (?:the )?(?:scene|story|play))\b"
)
_HANDED = LazyPattern(
    r".*(?:翻译|润色|改写|造句|怎么[说讲]|歌词|台词|请假条|文案|朋友圈|简历|邮件|translate|rephrase|proofread|rewrite|lyrics|caption).*:\W*$"
    r"|.*(?:翻译|润色|改写|修改|改)[^,。]{0,4}(?:这[句段个条篇]|下面|以下|如下).*|.*(?:这[句段条]话?|下面|以下)[^,。]{0,8}(?:翻译|润色|改写|改).*"
    r"|.*\b(?:translate|rephrase|proofread|rewrite|fix) (?:this|the following|my (?:text|draft|caption|bio)).*"
)
"""Somebody asks for work on a text that the next line of theirs brings."""
_TAKEN_BACK = LazyPattern(
    r"(?:[\W_]|哈|嘿|啊|呃|哎呀?|不是|其实|好啦|刚才|我)*+(?:开个?玩笑(?!了)|骗[你到]|逗你|假的|(?:说|打|发|写)错|不是真的|[瞎乱]说的|编的|发错)"
    r"|\W*(?:(?:ha)+|lol|ok|no|sorry|oops|nah|i['’]?m|just|i was|but)*(?:\W|\b(?:i['’]?m|just|i was"
    r"|only)\b)*\b(?:kidding|joking|jk|wrong (?:chat|person|window|group)|scratch that"
    r"|i made that up|that was a joke|not really|typo)\b"
)
"""Somebody takes back what they said last."""
_UNMEANT_CHARS = 120
"""A line that hands over or takes back is short."""
_NAME_REACH = 48
"""Characters within which a name and its colon stand."""
COMMAND = re.compile(r"\s*[./!\\。][^\s./!。]")
"""How a command begins."""


@dataclass(frozen=True, slots=True)
class DigestLine:
    """One line of a session's talk; `number` counts from 1, `at` is ms since 1970 UTC.

    `marks` tells what is known of pictures, voice and files sent along: what was spoken is only there. What is
    `forwarded` is somebody else's.
    """

    number: int
    event_id: int
    person_id: int | None
    name: str
    text: str
    at: int
    is_bot: bool
    marks: str = ""
    forwarded: bool = False


@dataclass(frozen=True, slots=True)
class TalkScope:
    """Whose session it was; `owner_id` is the person of a DM, `tz` the zone in which the days they name are meant.

    In promises days are meant in the `zones` of their persons, where these set one; `nudging` is how they are reminded.
    `names` are those of the chat. Not `screened`, nothing is left out for sounding like an order to a program: who said
    it decides alone.
    """

    chat_id: int
    kind: ChatKind
    bot_name: str
    owner_id: int | None
    tz: tzinfo = UTC
    zones: Mapping[int, tzinfo] = field(default_factory=dict)
    nudging: NudgeRules | None = None
    screened: bool = True
    names: Mapping[int, str] = field(default_factory=dict)


LineWords = tuple[tuple[DigestLine, str], ...]
"""Lines, each with some of its words."""


def numbered_lines(lines: tuple[DigestLine, ...], rows: int, chars: int, most: int) -> str:
    """The newest lines as `1. name: text`, so many rows of so many characters each, and `most` in all; no text can close
    or forge a tag.

    The bot's own lines are there for context, marked `name (bot)`.
    """
    shown: list[str] = []
    left = most
    for line in reversed(lines[-rows:]):
        name = clean_name(line.name) + (" (bot)" if line.is_bot else "")
        said = clip(one_row(f"{line.text} {line.marks}".strip()), chars)
        row = f"{line.number}. {escaped(name)}: {escaped(said)}"
        left -= len(row) + 1
        if left < 0:
            break
        shown.append(row)
    return "\n".join(reversed(shown))


def words_of(lines: tuple[DigestLine, ...], bot_name: str, screened: bool = True) -> LineWords:
    """Every line of a person with their own words; none where they only play."""
    play = played(lines) | _unmeant(lines)
    people = (line for line in lines if not line.is_bot)
    return tuple(
        (
            line,
            ""
            if line.number in play
            else own_words(line.text, (bot_name,), forwarded=line.forwarded, screened=screened),
        )
        for line in people
    )


def own_words(text: str, names: tuple[str, ...], *, forwarded: bool = False, screened: bool = True) -> str:
    """What a line says in its writer's own words, beside commands and the name it calls, which is one of `names`.

    "" for a command, for what is forwarded, and, `screened`, for a message that is made to work on a program; what
    looks pasted, and rows that somebody else said (阿明：…), are left out.
    """
    text = clean(text[:MESSAGE_CHARS])
    if forwarded or COMMAND.match(text) or (screened and is_injection(text)):
        return ""
    rest = understand(own_part(text, names), names).rest
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True) if name)
    called = re.match(rf"\s*@?(?:{known})[\s,，:：!！。~～]*", rest, re.IGNORECASE) if known else None
    rest = rest[called.end() :] if called else rest
    return "\n".join(row for row in rest.split("\n") if not _pasted(row))


def _pasted(row: str) -> bool:
    """Whether a row begins with somebody's name and a colon."""
    folded = fold(row[:_NAME_REACH])
    return speaks(folded, len(folded))


def played(lines: tuple[DigestLine, ...]) -> frozenset[int]:
    """The numbers of lines that belong to a play or a story: there nobody speaks of themselves."""
    found: set[int] = set()
    left = 0
    for line in lines:
        folded = fold(line.text[:MESSAGE_CHARS])
        if left and _PLAY_OVER.search(folded):
            left = 0
        elif not line.is_bot and _PLAY.search(folded):
            left = PLAY_LINES
        if left:
            found.add(line.number)
            left -= 1
    return frozenset(found)


def _unmeant(lines: tuple[DigestLine, ...]) -> frozenset[int]:
    """The numbers of lines that bring a text to work on, or that their speaker takes back in their next one."""
    found: set[int] = set()
    last: dict[int | None, tuple[int, str]] = {}
    for line in lines:
        if line.is_bot:
            continue
        folded = fold(line.text[:_UNMEANT_CHARS]).strip()
        number, before = last.get(line.person_id, (0, ""))
        if before and _HANDED.fullmatch(before):
            found.add(line.number)
        if number and _TAKEN_BACK.match(folded):
            found.add(number)
        last[line.person_id] = (line.number, folded)
    return frozenset(found)


def forgets(lines: tuple[DigestLine, ...]) -> LineWords:
    """The lines that ask to forget something, with what."""
    people = (line for line in lines if not line.is_bot)
    return tuple(
        (line, command.content)
        for line in people
        for command in understand(clean(line.text[:MESSAGE_CHARS])).commands
        if command.verb == "forget" and command.content
    )


def was_forgotten(text: str, line: DigestLine, wanted: LineWords) -> bool:
    """Whether the speaker of `line` asked later in the talk to forget what `text` says."""
    return any(
        asked.number > line.number and asked.person_id == line.person_id and (echoes(what, text) or echoes(text, what))
        for asked, what in wanted
    )
