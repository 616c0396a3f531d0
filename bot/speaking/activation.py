"""Whether a message is answered now, after silence or not, and the reason as a catalogue key; whether it calls the bot."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace

from bot.config.settings import Settings
from bot.core.speaking import (
    STOP_REASONS,
    Decision,
    LastDecisions,
    LastEntry,
    LastLine,
    LastLook,
    Situation,
    SpeakingReason,
    Why,
)
from bot.text.catalogue import read_table
from bot.text.fold import fold

OUTCOME_KEYS: Mapping[str, str] = {
    "skipped": "skipped",
    "skip": "skipped",
    "limited": "limited",
    "refused": "budget",
    "silent": "budget",
    "failed": "failed",
    "stopped": "stopped",
    "off": "off",
    "uncalled": "uncalled",
    "overtaken": "overtaken",
    "crash": "crash",
    "void": "overtaken",
    "background": "background",
}
"""What became of a message or an entry that nothing was said to: `why_end_…` of the catalogue says each in words."""

_ANY = {name: "|".join(texts) for name, texts in read_table("bot.speaking", "triggers").items()}
_GREETINGS = re.compile(rf"(?:{_ANY['greetings_zh']}|(?:{_ANY['greetings_en']})(?![a-z0-9]))")
"""Words that may stand before a name that calls, folded."""

_ENDINGS = re.compile(r"(?:[呀啊呢哦喔哈嘛啦哟唷诶欸噢酱]|(?<![a-z0-9])(?:please|pls|plz|thanks|thx))$")
"""What may follow a name at the end, folded. 吗 and 吧 are missing: 你认识小暖吗 is talk about nuan."""

_DESCRIBES = ("的", "地")
"""A name before these describes something: 暖暖的被子."""

_QUOTES = frozenset("\"'`“”‘’「」『』《》")
"""A name in quotes is mentioned, not called."""

_JOINERS = frozenset(".-'’/@#\\")
"""Between letters these make one word of a Latin name and its neighbour: nuan.toml, you@nuan, nuan's."""

_SENTENCE_END = re.compile(r"(?:[!?。]|\.{2,}|\.(?=\s))+\s*")
_SPOKEN_TO = re.compile(rf"\s*(?:[,:~!]|[你您帮记提能请别给叫把](?!们))|\s+(?:{_ANY['spoken_to_en']})\b")
"""What stands behind a name inside a message that speaks to it: do NOT. Nuan, call me Kev; else it is told of."""

_GOES_ON = re.compile(rf"(?:(?:{_ANY['goes_on_en']})(?![a-z0-9])|{_ANY['goes_on_zh']})[\s,，]*", re.IGNORECASE)
"""What may stand before a name that a message speaks to: and Nuan, remind us."""

_PREFIX = 3
"""Letters of a Latin name that are enough with `prefix_trigger` (SEED_SYSTEMS 1.2)."""


def decide(situation: Situation, settings: Settings) -> Decision:
    """The decision for one message. `due_at` of an answer is ms, 0 when nuan only listens.

    What nuan answers renews the person's window; a dot-command and what it only hears leave it as it was. What is
    addressed to someone else is never taken for a follow-up or a memory command, forwarded text never for a command.
    A stranger gets a pairing code in a DM and nothing in a group, but for what everyone is answered. Of what comes late
    the young part is answered in one turn, after a moment in which the rest arrives; what needs no model is answered
    at any age. A command to stop counts where any other word would call, or be a follow-up; it renews no window.
    Another bot is answered where it mentions nuan in a group, in time, and not for ever. In the mode called nothing is
    a follow-up; in the mode join a pause after what nobody is called by may be entered. Where nuan is switched off who
    tells it to keep or forget something learns that.
    """
    speak, age, decision = settings.speak, situation.age_ms, _in_time(situation, settings)
    at_any_age = situation.greets or decision.why in ("pair", "closed", "off")
    if decision.action == "listen" or age <= speak.followup_seconds * 1000 or at_any_age:
        return decision
    if decision.why == "bot" or (age > speak.backlog_seconds * 1000 and not situation.is_memory_command):
        return _listen(situation, "old")
    if decision.why in STOP_REASONS:
        return decision
    return replace(decision, action="follow", due_at=situation.at + speak.followup_seconds * 1000)


def _in_time(seen: Situation, settings: Settings) -> Decision:
    """The decision for a message that comes as it is written."""
    if not seen.is_message or seen.from_bot:
        return _bot(seen, settings) if seen.allowed and not seen.refused else _listen(seen, "stranger")
    if seen.refused:
        return _closed(seen, "stranger")
    if seen.is_command and not seen.forwarded and (seen.allowed or seen.from_owner or seen.greets):
        return Decision("now", "command", seen.at, seen.window_until)
    if not seen.allowed:
        in_dm = seen.chat_kind == "dm"
        return Decision("now", "pair", seen.at, seen.window_until) if in_dm else _closed(seen, "stranger")
    if not seen.enabled:
        return _off(seen, settings)
    if seen.muted:
        return _listen(seen, "muted")
    if (call := _call(seen, settings)) is not None:
        return _halt(seen) or _now(seen, call, settings)
    if seen.forwarded:
        return _listen(seen, "forwarded")
    if seen.addresses_other:
        return _listen(seen, "other")
    speak, followup_ms = settings.speak, settings.speak.followup_seconds * 1000
    mode = seen.mode or speak.mode
    if mode == "called":
        return _listen(seen, "uncalled")
    if seen.window_until <= seen.at:
        lull_at = seen.at + speak.join.lull_seconds * 1000 if mode == "join" and seen.age_ms <= followup_ms else 0
        return replace(_listen(seen, "silent"), silence_at=lull_at)
    if (halt := _halt(seen)) is not None:
        return halt
    if seen.is_memory_command:
        return _now(seen, "window", settings)
    until = extended(seen.window_until, seen.at, settings)
    return Decision("follow", "window", seen.at + followup_ms, until)


def _call(seen: Situation, settings: Settings) -> Why | None:
    """How a message calls nuan, without regard to windows; in a DM every one does."""
    if seen.chat_kind == "dm":
        return "dm"
    if seen.forwarded:
        return None
    if seen.mentions_bot:
        return "mention"
    if seen.replies_to_bot:
        return "reply"
    return "name" if called_by_name(seen.text, settings.bot.names, settings.bot.prefix_trigger) else None


def _halt(seen: Situation) -> Decision | None:
    """The decision about a command to stop that is addressed to nuan."""
    if not seen.stop or seen.forwarded or seen.is_memory_command:
        return None
    return Decision("now", seen.stop, seen.at, seen.window_until)


def _bot(seen: Situation, settings: Settings) -> Decision:
    """The decision for what no human wrote."""
    calls = seen.is_message and seen.chat_kind == "group" and seen.mentions_bot
    if (
        not calls
        or settings.speak.bots == "never"
        or seen.is_command
        or seen.forwarded
        or not seen.enabled
        or seen.muted
    ):
        return _listen(seen, "listen")
    return _listen(seen, "bots") if seen.bots_quiet else Decision("now", "bot", seen.at, seen.window_until)


def extended(window_until: int, at: int, settings: Settings) -> int:
    """The end of a person's window after something at `at` that keeps it open: a call, a follow-up or a reply."""
    return max(window_until, at + settings.speak.window_seconds * 1000)


def _now(seen: Situation, why: Why, settings: Settings) -> Decision:
    return Decision("now", why, seen.at, extended(seen.window_until, seen.at, settings))


def _closed(seen: Situation, why: Why) -> Decision:
    """Where nuan does not talk only what is awaited is answered: that it does not."""
    return Decision("now", "closed", seen.at, seen.window_until) if seen.awaited else _listen(seen, why)


def _off(seen: Situation, settings: Settings) -> Decision:
    """Where nuan is switched off a wish to its memory is not passed over: it says that none is carried out."""
    wish = seen.is_memory_command and not seen.forwarded and not seen.muted and _call(seen, settings) is not None
    return Decision("now", "off", seen.at, seen.window_until) if wish else _closed(seen, "off")


def _listen(seen: Situation, why: Why) -> Decision:
    return Decision("listen", why, 0, seen.window_until)


def explain_decision(known: LastDecisions, now: int) -> SpeakingReason:
    """The last decision of a chat: about an entry that is newer than any line, else about the newest line."""
    line, entry = known.line, known.entry
    if entry is not None and (line is None or entry.id > line.id):
        return _entry(entry)
    if line is None:
        return SpeakingReason("still", "why_nothing")
    if line.state == "queued":
        return _waiting(line, now)
    if line.outcome in OUTCOME_KEYS:
        return SpeakingReason("still", f"why_end_{OUTCOME_KEYS[line.outcome]}", line.name)
    if line.state == "done":
        return SpeakingReason("spoke", f"why_{line.why}", line.name)
    if line.why == "silent" and known.look is not None:
        return _look(line, known.look, now)
    return SpeakingReason("still", f"why_{line.why}", line.name)


def _entry(entry: LastEntry) -> SpeakingReason:
    if not entry.outcome:
        return SpeakingReason("waits", "why_wait_model")
    if entry.outcome in OUTCOME_KEYS:
        return SpeakingReason("still", f"why_end_{OUTCOME_KEYS[entry.outcome]}")
    return SpeakingReason("spoke", f"why_{entry.why}")


def _waiting(line: LastLine, now: int) -> SpeakingReason:
    """A line that is to be answered: after silence, now, or with the next call."""
    if line.due_at is None:
        return SpeakingReason("waits", "why_wait_call", line.name)
    if line.due_at > now:
        return SpeakingReason("waits", "why_wait_silence", line.name, line.due_at)
    return SpeakingReason("waits", "why_wait_turn", line.name)


def _look(line: LastLine, look: LastLook, now: int) -> SpeakingReason:
    """A line that nobody was called by, where nuan may enter the talk."""
    if look.event_id >= line.id and look.why != "lull":
        waits = look.due_at is not None and look.due_at > now
        return SpeakingReason("waits" if waits else "still", f"why_look_{look.why}", line.name, look.until)
    if look.due_at is not None and look.due_at > now:
        return SpeakingReason("waits", "why_look_lull", line.name, look.due_at)
    return SpeakingReason("still", "why_silent", line.name)


def called_by_name(text: str, names: tuple[str, ...], prefix_trigger: bool = False) -> bool:
    """Whether `text` calls one of `names` at its start, its end or the start of a sentence that speaks to it; elsewhere
    a name is talk about the bot.

    Script, case and width do not matter. Greetings may stand before the name, particles after it; a Latin name ends
    at a word boundary. Lines quoted with > call nobody. With `prefix_trigger` the first three letters of a Latin name
    call at the very start, without a boundary.
    """
    said = fold("\n".join(line for line in text.splitlines() if not line.lstrip().startswith((">", "＞"))))
    said = " ".join(said.split())
    folded = tuple(name for name in (" ".join(fold(name).split()) for name in names) if name)
    starts = _starts(said)
    if any(_begins(start, name) for start in starts for name in folded):
        return True
    if prefix_trigger and any(starts[1].startswith(prefix) for prefix in _prefixes(folded)):
        return True
    if any(_ends(end, name) for end in _ends_of(said) for name in folded):
        return True
    begun = [*_SENTENCE_END.split(said)[1:], *([said[goes_on.end() :]] if (goes_on := _GOES_ON.match(said)) else [])]
    return any(_begins(one, name) and _SPOKEN_TO.match(one, len(name)) for one in begun for name in folded)


def _starts(said: str) -> tuple[str, ...]:
    """The text, the text after its leading signs, and again after each greeting (at most four: 喂喂喂喂小暖)."""
    found = [said, _skip_signs(said)]
    for _ in range(4):
        greeting = _GREETINGS.match(found[-1])
        if greeting is None:
            break
        found.append(_skip_signs(found[-1][greeting.end() :]))
    return tuple(found)


def _ends_of(said: str) -> tuple[str, ...]:
    """The text, the text without its closing signs, and again without each closing particle (at most four)."""
    found = [said, _drop_signs(said)]
    for _ in range(4):
        ending = _ENDINGS.search(found[-1])
        if ending is None:
            break
        found.append(_drop_signs(found[-1][: ending.start()]))
    return tuple(found)


def _begins(start: str, name: str) -> bool:
    if not start.startswith(name):
        return False
    after = start[len(name) :]
    if not _latin(name):
        return not after.startswith(_DESCRIBES)
    return not (_latin(after[:1]) or (after[:1] in _JOINERS and _latin(after[1:2])))


def _ends(end: str, name: str) -> bool:
    if not end.endswith(name):
        return False
    before = end[: len(end) - len(name)]
    if not _latin(name):
        return True
    last, second = before[-1:], before[-2:-1]
    if last in {"/", "\\", "#"}:
        return False
    return not (_latin(last) or (last in _JOINERS and _latin(second)))


def _prefixes(names: tuple[str, ...]) -> tuple[str, ...]:
    letters = ("".join(char for char in name if char.isascii() and char.isalnum()) for name in names)
    return tuple(word[:_PREFIX] for word in letters if len(word) >= _PREFIX)


def _skip_signs(text: str) -> str:
    for index, char in enumerate(text):
        if not _sign(char):
            return text[index:]
    return ""


def _drop_signs(text: str) -> str:
    end = len(text)
    while end and _sign(text[end - 1]):
        end -= 1
    return text[:end]


def _sign(char: str) -> bool:
    """Punctuation, symbols, spaces and emoji, but no quotes."""
    return char not in _QUOTES and unicodedata.category(char)[0] not in "LN"


def _latin(text: str) -> bool:
    """Whether it has a letter or digit of a script that writes words apart (or _, which joins them)."""
    return any(unicodedata.category(char) in {"Ll", "Lu", "Lt", "Nd", "Pc"} for char in text)
