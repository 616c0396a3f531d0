"""What a model is shown when it makes a digest: today, who speaks, what is known, and the lines. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo

from bot.core.clock import DAY_MS
from bot.core.memories import Commitment, Memory, Reminder
from bot.language.assertions import VOCABULARY, folded_plain
from bot.language.sections import is_guarded
from bot.language.statements import is_injection
from bot.language.wishes.reader import understand
from bot.memory.transcript import COMMAND, MESSAGE_CHARS, DigestLine, TalkScope
from bot.text.clean import clean, clean_name, escaped, named_once, one_row
from bot.text.dates import local
from bot.text.fold import fold
from bot.text.length import ELLIPSIS, clip, estimate_tokens
from bot.text.split import longest_prefix
from bot.text.terms import STOP_WORDS, index_terms

LINE_TOKENS, TALK_TOKENS, KNOWN_TOKENS = 400, 6_000, 300
"""Most of one line, of all lines (the newest first), and of what is known."""
KNOWN_CHARS = 200
"""Most of one known statement."""
SAME_SLOT, SHARED, PLAN, RECENT = 3.0, 1.0, 1.0, 0.5
"""What it counts that a talk speaks of a slot, shares a term, that a statement is to happen yet, and that it is the
newest of all."""

_Known = Memory | Commitment | Reminder

_SLOTS: dict[str, frozenset[str]] = {slot: frozenset(words) for slot, words in VOCABULARY.slots.items()}
_CHANGES = tuple(VOCABULARY.patterns[name] for name in ("moved", "changed", "ended", "recovered", "nowadays"))


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """Present facts, open tasks and open reminders of the people who speak, which a talk may touch."""

    memories: tuple[Memory, ...] = ()
    commitments: tuple[Commitment, ...] = ()
    reminders: tuple[Reminder, ...] = ()
    called: tuple[Memory, ...] = ()
    """How the speakers asked to be called, and how not: known, and not to be changed."""


NOTHING = KnownFacts()
"""Of whom nothing is known."""


def needs_model(lines: tuple[DigestLine, ...], casual: Callable[[str], bool]) -> bool:
    """Whether somebody said more than small talk, however short; commands and what is made to work on a program count
    for nothing."""
    return any(
        not line.is_bot
        and not COMMAND.match(line.text)
        and not is_injection(line.text[:MESSAGE_CHARS])
        and (bool(line.marks) or not casual(line.text))
        for line in lines
    )


def slots_told(folded: str) -> frozenset[str]:
    """The slots that a folded text speaks of."""
    return frozenset(slot for slot, words in _SLOTS.items() if any(word in folded for word in words))


def is_plan(memory: Memory, at: int) -> bool:
    """Whether it is to happen after that moment, ms; on a day without a time till its end."""
    end = memory.observed_at + (0 if memory.dated == "time" else DAY_MS // 2)
    return bool(memory.dated) and memory.kind == "event" and end > at


def may_change_known(known: KnownFacts, lines: tuple[DigestLine, ...]) -> bool:
    """Whether people name something of an open task or reminder, or of a plan that lies ahead; or tell that something
    changed that is known of one who speaks."""
    ended = max((line.at for line in lines), default=0)
    open_: list[_Known] = [*known.commitments, *known.reminders]
    open_ += [one for one in known.memories if is_plan(one, ended)]
    if not _terms(*(one.text for one in open_)).isdisjoint(_terms(_said(lines))):
        return True
    told = [line for line in lines if not line.is_bot and _tells_a_change(line.text[:MESSAGE_CHARS])]
    facts = touchable(KnownFacts(known.memories), tuple(told)).memories if told else ()
    said = _said(tuple(told))
    return any(one.slot in slots_told(said) or not _terms(one.text).isdisjoint(_terms(said)) for one in facts)


def _tells_a_change(text: str) -> bool:
    folded = folded_plain(text)
    return any(cue.search(folded) for cue in _CHANGES)


def _said(lines: tuple[DigestLine, ...]) -> str:
    return fold("\n".join(line.text[:MESSAGE_CHARS] for line in lines if not line.is_bot))


def _terms(*texts: str) -> frozenset[str]:
    """The terms of texts that say what they are of."""
    return frozenset(term for text in texts for term in index_terms(text) if len(term) > 1) - STOP_WORDS


def touchable(known: KnownFacts, lines: tuple[DigestLine, ...], limit: int = KNOWN_TOKENS) -> KnownFacts:
    """What a talk may change, the likeliest first, as much of it as fits into `limit` tokens.

    Before all, in at most half of them, comes what is lasting of their health: what is missed of it may do harm. Likely is what shares terms with what people say, or is of a slot that they speak of; then what is newest. A name
    that somebody asked to be called by, or how somebody felt, is not the digest's to change.
    """
    said = _said(lines)
    terms = _terms(said)
    speakers, ended = {line.person_id for line in lines if not line.is_bot}, max((line.at for line in lines), default=0)
    slots = slots_told(said)
    facts = [
        one
        for one in known.memories
        if (one.owner_id in speakers or is_plan(one, ended))
        and not one.is_name
        and one.former_at is None
        and one.kind != "emotion"
    ]
    tasks: list[Commitment | Reminder] = [*known.commitments, *known.reminders]
    newest = max((*(one.created_at for one in facts), *(one.made_at for one in tasks)), default=0)

    def shares(text: str) -> float:
        return SHARED * len(_terms(text) & terms)

    def of_slot(one: Memory) -> bool:
        return not slots.isdisjoint((one.slot,) if one.slot else slots_told(fold(one.text)))

    scored: list[tuple[float, int, _Known]] = [
        (
            shares(f"{one.text} {one.subject}")
            + SAME_SLOT * of_slot(one)
            + RECENT * (one.created_at == newest)
            + PLAN * is_plan(one, ended),
            one.created_at,
            one,
        )
        for one in facts
    ]
    scored += [(shares(one.text) + RECENT * (one.made_at == newest), one.made_at, one) for one in tasks]
    scored.sort(key=lambda entry: (-entry[0], -entry[1]))
    likely = [one for _, _, one in scored]
    vital = _fitting([one for one in likely if isinstance(one, Memory) and _is_vital(one)], limit // 2)
    kept = _fitting([*vital, *(one for one in likely if one not in vital)], limit)
    return KnownFacts(
        tuple(one for one in kept if isinstance(one, Memory)),
        tuple(one for one in kept if isinstance(one, Commitment)),
        tuple(one for one in kept if isinstance(one, Reminder)),
        known.called,
    )


def _is_vital(memory: Memory) -> bool:
    slots = (memory.slot,) if memory.slot else slots_told(fold(memory.text))
    return memory.kind != "event" and any(map(is_guarded, slots))


def _fitting(found: Sequence[_Known], limit: int) -> list[_Known]:
    """The first of them that fit into so many tokens."""
    kept: list[_Known] = []
    for one in found:
        limit -= estimate_tokens(_known_row(one, ""))
        if limit < 0:
            break
        kept.append(one)
    return kept


def request_text(lines: tuple[DigestLine, ...], scope: TalkScope, known: KnownFacts, now: int) -> str:
    """The user message of a request for a digest; no text in it can close or forge a tag.

    What is made to work on a program is left out. Lines keep their numbers.
    """
    shown = tuple(line for line in lines if line.is_bot or not is_injection(line.text[:MESSAGE_CHARS]))
    names = {line.person_id: clean_name(line.name) for line in lines if line.person_id is not None and not line.is_bot}
    today = local(now, scope.tz)
    rows = [
        f"today: {today:%Y-%m-%d %a}",
        f"people: {escaped(', '.join(dict.fromkeys(names.values())))}; bot: {escaped(clean_name(scope.bot_name))}",
    ]
    facts: list[_Known] = [*known.memories, *known.commitments, *known.reminders]
    several = scope.kind == "group"
    called = [
        (f"{scope.names.get(one.owner_id or 0, '')}: " if several else "")
        + ("called " if one.slot == "address" else "not called ")
        + one_row(one.text)
        for one in known.called
    ]
    if facts or called:
        owners = [scope.names.get(_owner(one), names.get(_owner(one), "")) if several else "" for one in facts]
        rows += [
            "known:",
            *(_known_row(one, who, scope.tz, now) for one, who in zip(facts, owners, strict=True)),
            *map(escaped, called),
        ]
    return "\n".join([*rows, "talk:", *_talk(shown, scope)])


def _owner(one: _Known) -> int:
    return one.person_id if isinstance(one, Reminder) else one.owner_id or 0


def _known_row(one: _Known, owner: str, tz: tzinfo = UTC, now: int = 0) -> str:
    """What is known as the model reads it; a plan, a task and a reminder with their days."""
    owner, text = named_once(owner, clip(one_row(one.text), KNOWN_CHARS))
    who = f"{owner}: " if owner else ""
    if isinstance(one, Commitment):
        due = f" (due {local(one.due_at, tz):%Y-%m-%d})" if one.due_at is not None else ""
        return escaped(f"T{one.id} {who}{text}{due}")
    if isinstance(one, Reminder):
        return escaped(f"R{one.id} {who}{text or 'reminder'} ({local(one.due_at, tz):%Y-%m-%d %H:%M})")
    day = f"{local(one.observed_at, tz):%Y-%m-%d}" if one.dated in ("day", "time") and is_plan(one, now) else ""
    facets = ", ".join(filter(None, (one.slot, one.subject, day)))
    return escaped(f"#{one.id} {who}{text}" + (f" ({facets})" if facets else ""))


def _talk(lines: tuple[DigestLine, ...], scope: TalkScope) -> list[str]:
    rows: list[str] = []
    left = TALK_TOKENS
    for line in reversed(lines):
        at = local(line.at, scope.tz)
        name = clean_name(line.name) + (" (bot)" if line.is_bot else "")
        text = clip_tokens(one_row(f"{line.text[:MESSAGE_CHARS]} {line.marks}".strip()), LINE_TOKENS)
        done = (
            not (line.is_bot or line.forwarded)
            and understand(clean(line.text[:MESSAGE_CHARS]), (scope.bot_name,)).commands
        )
        passed = "(forwarded) " if line.forwarded else "(done) " if done else ""
        when = f"{at:%a %m-%d %H:%M}"
        row = f"{line.number}. [{when}] {escaped(name)}: {passed}{escaped(text)}"
        left -= estimate_tokens(row)
        if left < 0:
            break
        rows.append(row)
    return rows[::-1]


def clip_tokens(text: str, tokens: int) -> str:
    """The text, or as much of its beginning as has so many tokens."""
    if estimate_tokens(text) <= tokens:
        return text
    room = longest_prefix(text, len(text), lambda part: estimate_tokens(part) < tokens)
    return clip(text, room) if room > 1 else ELLIPSIS
