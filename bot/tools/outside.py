"""What outside servers offer, cleaned, compared and found by words; their results as data; what an owner is shown. Pure."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.core.tools import Offer, OfferKind, ServerReview, ToolRefused
from bot.language.statements import is_injection
from bot.text.clean import as_data, clean, escaped, shown
from bot.text.fold import fold
from bot.text.length import clip, estimate_tokens

RESULT_TOKENS = 300
"""Most of a result that enters the log at once (ARCHITECTURE §5)."""

FOUND_TOKENS = 600
"""Most that one search tells: schemas are long."""

ABOUT_CHARS, FIELD_CHARS = 200, 80
"""Of what a server says of a tool, and of one of its arguments. A model reads no more than an owner is shown."""

SCHEMA_CHARS = 2_400
"""Of a schema with what it says of its fields; one that is longer is told without that."""

MOST_FIELDS, MOST_CHOICES, MOST_DEPTH = 40, 20, 4
"""Of a schema: fields of one object, values of one list, and how deep it is told."""

NAME_CHARS = 64
QUERY_CHARS, ARGUMENT_CHARS = 200, 8_000

SHOWN_LINES = 20
"""Of what an owner is shown of a server at once."""

NAMED = 60
"""Names that a search that found nothing tells."""

CODE_CHARS = 8
"""Of what an owner says to approve a server: hexadecimal figures of a hash of all that it offers."""

NAME_WEIGHT, SERVER_WEIGHT, ABOUT_WEIGHT = 3, 2, 1

_ODD = re.compile(r"[^A-Za-z0-9_.-]+")
_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)
"""Orders to a terminal."""

_WORD = re.compile(r"[a-z]+|[0-9]+|[㐀-鿿]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BLANK_LINES = re.compile(r"\n\s*\n\s*")

Schema = Mapping[str, Any]
Say = Callable[..., str]
"""A sentence by its key and values."""


class FindArguments(BaseModel):
    """What tool_find takes."""

    model_config = ConfigDict(extra="forbid")
    tool: ClassVar[str] = "tool_find"
    words: str = Field(default="", max_length=QUERY_CHARS)


@dataclass(frozen=True, slots=True)
class WantedCall:
    """What the model wants to be called, with which arguments."""

    name: str
    arguments: dict[str, Any]

    @property
    def canonical(self) -> str:
        """The arguments, alike for equal ones."""
        return json.dumps(self.arguments, ensure_ascii=False, sort_keys=True)


def read_words(arguments: str) -> str:
    """The words of a search; ToolRefused for anything else."""
    try:
        return FindArguments.model_validate_json(arguments).words
    except ValidationError as error:
        raise ToolRefused("tool_bad_arguments", "words") from error


def read_call(arguments: str) -> WantedCall:
    """The call of a model's arguments, which may be an object or JSON text; ToolRefused when it is none."""
    try:
        given = json.loads(arguments)
        inner = given.get("arguments") or {}
        inner = json.loads(inner) if isinstance(inner, str) else inner
        name = given["name"]
    except (ValueError, KeyError, AttributeError, RecursionError) as error:
        raise ToolRefused("tool_bad_arguments", "name, arguments") from error
    if not isinstance(name, str) or not isinstance(inner, dict) or len(arguments) > ARGUMENT_CHARS:
        raise ToolRefused("tool_bad_arguments", "name, arguments")
    return WantedCall(name.strip(), inner)


def make_offer(
    server: str, kind: OfferKind, address: str, about: str, schema: object, *, reads: bool, said: object
) -> Offer | None:
    """What a server offers, cleaned; None for what has no name that a model could write.

    `said` is all that the server says of it: its hash tells a change, wherever that is.
    """
    name = _ODD.sub("_", clean(address)).strip("_.-")[-NAME_CHARS:] if kind == "resource" else address
    if not name or len(name) > NAME_CHARS or _ODD.search(name):
        return None
    whole = json.dumps(said, ensure_ascii=False, sort_keys=True, default=str).encode("utf-8", "replace")
    return Offer(
        server,
        name if kind == "tool" else f"{kind}.{name}",
        kind,
        address,
        told_about(about),
        told_schema(schema),
        reads,
        hashlib.sha256(whole).hexdigest()[:16],
    )


def told_about(text: str, most: int = ABOUT_CHARS) -> str:
    """What a server says of something, on one line, with nothing hidden, as data."""
    return clip(as_data(shown(clean(_ESCAPES.sub("", text[: 20 * most])))), most)


def told_schema(schema: object) -> str:
    """A schema as short as a model needs it, as JSON; its sentences are cut and cleaned, or left out when it is long."""
    whole = schema if isinstance(schema, dict) else {}
    definitions = {
        f"#/{place}/{name}": body for place in ("$defs", "definitions") for name, body in _table(whole, place)
    }
    for sentences in (True, False):
        told = _short(whole, definitions, MOST_DEPTH, sentences=sentences)
        text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
        if len(text) <= SCHEMA_CHARS:
            return text
    names: dict[str, object] = {told_about(name, NAME_CHARS): {} for name, _ in _table(whole, "properties")}
    return clip(json.dumps({"properties": names}, ensure_ascii=False, separators=(",", ":")), SCHEMA_CHARS)


def _table(schema: Schema, key: str) -> list[tuple[str, Any]]:
    found = schema.get(key)
    return list(found.items())[:MOST_FIELDS] if isinstance(found, dict) else []


def _short(schema: object, definitions: Schema, depth: int, *, sentences: bool) -> dict[str, object]:
    """The kinds, choices and fields of a schema; what it refers to stands in its place."""
    if not isinstance(schema, dict) or depth < 0:
        return {}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _short(definitions.get(reference), definitions, depth - 1, sentences=sentences)

    def inner(value: object) -> dict[str, object]:
        return _short(value, definitions, depth - 1, sentences=sentences)

    told: dict[str, object] = {}
    kind = schema.get("type")
    if isinstance(kind, str | list):
        told["type"] = json.loads(as_data(json.dumps(kind)))
    for key in ("enum", "required"):
        if isinstance(schema.get(key), list) and schema[key]:
            told[key] = [_value(each) for each in schema[key][:MOST_CHOICES]]
    if "const" in schema:
        told["const"] = _value(schema["const"])
    if fields := _table(schema, "properties"):
        told["properties"] = {told_about(name, NAME_CHARS): inner(value) for name, value in fields}
    if isinstance(schema.get("items"), dict):
        told["items"] = inner(schema["items"])
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            told[key] = [inner(each) for each in schema[key][:MOST_CHOICES]]
    about = schema.get("description")
    if sentences and isinstance(about, str) and about.strip():
        told["description"] = told_about(about, FIELD_CHARS)
    return told


def _value(value: object) -> object:
    return value if isinstance(value, int | float | bool | None) else told_about(str(value), FIELD_CHARS)


def fingerprint(offers: Iterable[Offer]) -> str:
    """What names all that is offered, whatever its order."""
    lines = sorted(f"{offer.full_name} {offer.digest}" for offer in offers)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def offers_json(offers: Iterable[Offer]) -> str:
    """The offers as they are stored."""
    return json.dumps([asdict(offer) for offer in offers], ensure_ascii=False)


def offers_from(text: str) -> tuple[Offer, ...]:
    """The offers that were stored so; none of ""."""
    return tuple(Offer(**each) for each in json.loads(text or "[]"))


def found_offers(words: str, offers: Sequence[Offer]) -> list[Offer]:
    """Those that the words are about, the best first; one whose name the words are comes alone."""
    if named := [offer for offer in offers if offer.full_name == words.strip()]:
        return named
    wanted = _terms(words)
    weighed = [(_weight(wanted, offer), place, offer) for place, offer in enumerate(offers)]
    return [offer for weight, _, offer in sorted(weighed, key=lambda each: (-each[0], each[1])) if weight > 0]


def _terms(text: str) -> set[str]:
    return set(_WORD.findall(fold(_HUMP.sub(" ", text))))


def _weight(wanted: set[str], offer: Offer) -> int:
    places = ((offer.name, NAME_WEIGHT), (offer.server, SERVER_WEIGHT), (offer.about, ABOUT_WEIGHT))
    return sum(weight * _alike(wanted, _terms(text)) for text, weight in places)


def _alike(wanted: set[str], there: set[str]) -> int:
    """How many of the words are there, also as the beginning of one: file finds files."""
    return sum(any(word == other or (len(word) > 2 and other.startswith(word)) for other in there) for word in wanted)


def found_text(found: Sequence[Offer], every: Sequence[Offer], say: Say) -> str:
    """What a search tells: each whole, with its schema, while there is room; then names alone."""
    lines: list[str] = []
    for offer in found:
        mark = "" if offer.reads else say("outside_changes")
        line = f"- {offer.full_name}{mark}: {offer.about}\n  {offer.parameters}"
        if lines and estimate_tokens("\n".join((*lines, line))) > FOUND_TOKENS:
            break
        lines.append(line)
    rest = [offer.full_name for offer in (found[len(lines) :] if found else every)][:NAMED]
    told = [say("outside_found", list="\n".join(lines))] if lines else []
    if rest:
        told.append(say("outside_more" if lines else "outside_names", names=", ".join(rest)))
    return "\n".join(told)


def told_result(text: str) -> str:
    """A result without orders to a terminal and hidden signs, in which nothing opens a tag."""
    return _BLANK_LINES.sub("\n", escaped(shown(clean(_ESCAPES.sub("", text))))).strip()


def review_text(review: ServerReview, say: Say, page: int = 1) -> str:
    """What an owner reads of a server before they approve it: what is new, gone or other, as the model would read it."""
    if review.problem:
        return say("outside_unreachable", name=review.name, problem=review.problem)
    before = {offer.name: offer for offer in review.before}
    after = {offer.name: offer for offer in review.after}
    if fingerprint(review.before) == fingerprint(review.after):
        lines = [_offer_line("", offer, say) for offer in review.after]
        return _page(say("outside_same", name=review.name, n=len(after)), lines, review.name, page, say)
    head = say("outside_changed" if before else "outside_new", name=review.name, n=len(after))
    told = _page(head, list(_differences(before, after, say)), review.name, page, say)
    return f"{told}\n{say('outside_how', name=review.name, code=review.code)}"


def _page(head: str, lines: Sequence[str], name: str, page: int, say: Say) -> str:
    first = (page - 1) * SHOWN_LINES
    rest = len(lines) - first - SHOWN_LINES
    more = (say("outside_rest", n=rest, name=name, page=page + 1),) if rest > 0 else ()
    return "\n".join((head, *lines[first : first + SHOWN_LINES], *more))


def _differences(before: Mapping[str, Offer], after: Mapping[str, Offer], say: Say) -> Iterator[str]:
    for name, offer in after.items():
        old = before.get(name)
        if old is None:
            yield _offer_line("+ ", offer, say)
        elif old.digest != offer.digest:
            yield _offer_line("~ ", offer, say)
            if (told := _offer_line("", old, say)) != _offer_line("", offer, say):
                yield say("outside_was", old=told)
    for name, offer in before.items():
        if name not in after:
            yield _offer_line("− ", offer, say)


def _offer_line(sign: str, offer: Offer, say: Say) -> str:
    """One offer with its arguments; one that speaks to the model instead of telling something is marked."""
    schema = json.loads(offer.parameters) if offer.parameters.endswith("}") else {}
    wanted = schema.get("required", [])
    fields = ", ".join(
        f"{name}{'' if name in wanted else '?'}: {field.get('type', '…')}"
        for name, field in _table(schema, "properties")
    )
    said = "; ".join((offer.about, *_sentences(schema)))
    kind = say("outside_reads" if offer.reads else "outside_changes")
    warning = say("outside_speaks") if is_injection(f"{offer.name} {said}") else ""
    return f"{sign}{offer.name}({fields}){kind} {warning}{said}".rstrip(" ;")


def _sentences(schema: object) -> Iterator[str]:
    """What a schema says in words, however deep."""
    if not isinstance(schema, dict):
        return
    for key in ("description", "const"):
        if isinstance(schema.get(key), str):
            yield schema[key]
    yield from (each for each in schema.get("enum", ()) if isinstance(each, str))
    for key in ("properties", "items", "anyOf", "oneOf"):
        inner = schema.get(key, ())
        for each in (
            inner.values() if key == "properties" and isinstance(inner, dict) else (inner,) if key == "items" else inner
        ):
            yield from _sentences(each)
