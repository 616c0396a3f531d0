"""How Telegram reads formatting: HTML, MarkdownV2 and `entities`, with its error texts. It sends nothing.

The rules and wordings follow https://core.telegram.org/bots/api#formatting-options and the public error texts.
"""

import html
import re
from dataclasses import dataclass
from html.parser import HTMLParser

from tests.fakes.telegram_shapes import Json, Params, bad, number

MAX_UNITS = 4096
MAX_BYTES = 1 << 15
MAX_ENTITIES = 100
"""More are ignored by the server, without an error."""
TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "a": "text_link",
    "tg-emoji": "custom_emoji",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
    "span": "spoiler",
}
GIVEN_TYPES = {*TAGS.values(), "expandable_blockquote", "text_mention", "date_time"}
FOUND_TYPES = {"mention", "hashtag", "cashtag", "bot_command", "url", "email", "phone_number"}
MARKS = {"*": "bold", "_": "italic", "__": "underline", "~": "strikethrough", "||": "spoiler", "`": "code"}
RESERVED = "_*[]()~`>#+-=|{}.!"
FOUND = re.compile(
    r"(?P<url>https?://[^\s]+)|(?<![\w/])(?P<bot_command>/[A-Za-z0-9_]{1,64}(?:@\w{3,32})?)"
    r"|(?<!\w)(?P<mention>@[A-Za-z]\w{3,31})|(?<!\w)(?P<hashtag>#\w+)"
)


def units(text: str) -> int:
    """How long Telegram says that a text is: UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def found(text: str) -> list[Json]:
    """The commands, mentions, links and hashtags that Telegram marks by itself."""
    return [
        {"type": kind, "offset": units(text[: match.start()]), "length": units(match.group())}
        for match in FOUND.finditer(text)
        if (kind := match.lastgroup)
    ]


def read_text(params: Params) -> tuple[str, list[Json]]:
    """The text and entities that people will see; 400 for what the real server refuses."""
    raw = params.text("text")
    if not raw:
        raise bad("message text is empty")
    if len(raw.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise bad("text is too long")
    match params.text("parse_mode").lower():
        case "html":
            text, entities = from_html(raw)
        case "markdownv2":
            text, entities = from_markdown(raw)
        case "":
            text, entities = raw, checked(raw, params.objects("entities"))
        case _:
            raise bad("unsupported parse_mode")
    text, entities = trimmed(text, entities)
    if not text:
        raise bad("text must be non-empty")
    if units(text) > MAX_UNITS:
        raise bad("message is too long")
    return text, sorted(entities, key=lambda item: (number(item["offset"]), -number(item["length"])))[:MAX_ENTITIES]


def trimmed(text: str, entities: list[Json]) -> tuple[str, list[Json]]:
    """Without white space at the end, and at the beginning up to the first entity, as the server stores it."""
    first = min((number(item["offset"]) for item in entities), default=len(text))
    lead = min(len(text) - len(text.lstrip(" \n")), first)
    text = text[lead:].rstrip()
    end = units(text)
    kept = []
    for item in entities:
        offset = number(item["offset"]) - lead
        length = min(number(item["length"]), end - offset)
        if length > 0:
            kept.append({**item, "offset": offset, "length": length})
    return text, kept


def checked(text: str, entities: list[Json]) -> list[Json]:
    """The given entities, or a 400 for an unknown type, bounds outside the text, or an overlap that is no nesting."""
    coded = text.encode("utf-16-le", "surrogatepass")
    end = len(coded) // 2
    for item in entities:
        kind, start, length = item.get("type"), item.get("offset"), item.get("length")
        if kind not in GIVEN_TYPES | FOUND_TYPES:
            raise bad("can't parse MessageEntity: Unsupported type specified")
        if not isinstance(start, int) or not isinstance(length, int):
            raise bad('can\'t parse MessageEntity: Field "offset" must be of type Number')
        for name, needs in (("url", "text_link"), ("user", "text_mention"), ("custom_emoji_id", "custom_emoji")):
            if kind == needs and not item.get(name):
                raise bad(f"can't parse MessageEntity: Can't find field \"{name}\"")
        if start < 0 or length < 0 or start + length > end:
            raise bad(
                f"entity beginning at UTF-16 offset {start} ends after the end of the text at UTF-16 offset {end}"
            )
        for place, verb in ((start, "begins"), (start + length, "ends")):
            if place < end and 0xDC <= coded[place * 2 + 1] <= 0xDF:
                raise bad(f"entity {verb} in a middle of a UTF-16 symbol at byte offset {place}")
    return [item for item in entities if item.get("type") in GIVEN_TYPES and number(item["length"])]


def from_html(raw: str) -> tuple[str, list[Json]]:
    """Text and entities of `parse_mode` HTML."""
    reader = _Tags()
    place = 0
    while place < len(raw):
        at = len(raw[:place].encode())
        if raw[place] == "<":
            end = raw.find(">", place)
            if end < 0:
                raise cannot(f"Unclosed {'end' if raw[place : place + 2] == '</' else 'start'} tag at byte offset {at}")
            reader.tag(raw[place + 1 : end], at)
            place = end + 1
        else:
            end = min(spot for spot in (raw.find("<", place), len(raw)) if spot >= 0)
            reader.text += re.sub(r"&(?:lt|gt|amp|quot|#\d+|#x[\da-fA-F]+);", _decoded, raw[place:end])
            place = end
    if reader.open:
        raise cannot(f'Can\'t find end tag corresponding to start tag "{reader.open[-1].name}"')
    return reader.text, reader.entities


def _decoded(match: re.Match[str]) -> str:
    return html.unescape(match.group())


def cannot(why: str) -> Exception:
    """The 400 that every formatting error of a parse mode gets."""
    return bad(f"can't parse entities: {why}")


@dataclass(frozen=True, slots=True)
class _Open:
    name: str
    start: int
    entity: Json


class _Attributes(HTMLParser):
    """The attributes of one tag."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self.feed(f"<{tag}>")
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found = {name: value or "" for name, value in attrs}


class _Tags:
    """What has been read of an HTML text."""

    def __init__(self) -> None:
        self.text = ""
        self.entities: list[Json] = []
        self.open: list[_Open] = []

    def tag(self, inside: str, at: int) -> None:
        if not inside.startswith("/"):
            name = re.split(r"[\s]", inside, maxsplit=1)[0].lower()
            self.open.append(_Open(name, units(self.text), self._entity(name, _Attributes(inside).found, at)))
            return
        name = inside[1:].strip().lower()
        if not self.open:
            raise cannot(f"Unexpected end tag at byte offset {at}")
        last = self.open.pop()
        if name and name != last.name:
            raise cannot(f'Unmatched end tag at byte offset {at}, expected "</{last.name}>", found "</{name}>"')
        length = units(self.text) - last.start
        if length and last.entity:
            self.entities.append({**last.entity, "offset": last.start, "length": length})

    def _entity(self, name: str, given: dict[str, str], at: int) -> Json:
        if name not in TAGS:
            raise cannot(f'Unsupported start tag "{name}" at byte offset {at}')
        if name == "span" and given.get("class") != "tg-spoiler":
            raise cannot(f'Tag "span" must have class "tg-spoiler" at byte offset {at}')
        if name == "a":
            return {"type": "text_link", "url": given["href"]} if "://" in given.get("href", "") else {}
        if name == "tg-emoji":
            return {"type": "custom_emoji", "custom_emoji_id": given.get("emoji-id", "0")}
        if name == "blockquote" and "expandable" in given:
            return {"type": "expandable_blockquote"}
        if name == "code" and self.open and self.open[-1].name == "pre":
            if given.get("class", "").startswith("language-"):
                self.open[-1].entity["language"] = given["class"].removeprefix("language-")
            return {}
        return {"type": TAGS[name]}


def from_markdown(raw: str) -> tuple[str, list[Json]]:
    """Text and entities of `parse_mode` MarkdownV2, without block quotes and custom emoji."""
    text, place = "", 0
    entities: list[Json] = []
    stack: list[_Open] = []
    while place < len(raw):
        inside = stack[-1].name if stack else ""
        mark = _mark(raw, place, inside)
        at = len(raw[:place].encode())
        if raw[place] == "\\" and place + 1 < len(raw) and raw[place + 1].isascii():
            text, place = text + raw[place + 1], place + 2
        elif mark and mark == inside:
            last = stack.pop()
            place += len(mark)
            if mark == "]":
                link = re.compile(r"\(((?:\\.|[^)\\])*)\)").match(raw, place)
                if link is None:
                    raise cannot(f"Can't find end of Url at byte offset {at}")
                place = link.end()
                last.entity["url"] = re.sub(r"\\(.)", r"\1", link.group(1))
            length = units(text) - last.start
            if length:
                entities.append({**last.entity, "offset": last.start, "length": length})
        elif inside in ("`", "```"):
            text, place = text + raw[place], place + 1
        elif mark:
            place += len(mark)
            item: Json = {"type": "pre" if mark == "```" else MARKS.get(mark, "text_link")}
            language = re.compile(r"([^\s`]*)\n").match(raw, place) if mark == "```" else None
            if language is not None:
                place = language.end()
                item |= {"language": language.group(1)} if language.group(1) else {}
            stack.append(_Open("]" if mark == "[" else mark, units(text), item))
        elif raw[place] in RESERVED and not (raw[place] == ">" and (not place or raw[place - 1] == "\n")):
            raise cannot(f"Character '{raw[place]}' is reserved and must be escaped with the preceding '\\'")
        else:
            text, place = text + raw[place], place + 1
    if stack:
        kind = str(stack[-1].entity["type"]).title().replace("_", "")
        raise cannot(f"Can't find end of {kind} entity at byte offset {stack[-1].start}")
    return text, entities


def _mark(raw: str, place: int, inside: str) -> str:
    """The mark that begins or ends an entity here; in code only its own end counts."""
    if inside in ("`", "```"):
        return inside if raw.startswith(inside, place) else ""
    for mark in ("```", "__", "||", "*", "_", "~", "`", "["):
        if raw.startswith(mark, place):
            return mark
    return "]" if inside == "]" and raw[place] == "]" else ""
