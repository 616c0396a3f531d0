"""Messages in quick succession: a reply as several with pauses and typing time between them; of people's, how long to wait,
who is still typing, which are answered together."""

import hashlib
import re
import unicodedata
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from bot.core.events import Event, Place
from bot.core.speaking import STOP_REASONS, BusyPolicy, Decision, PacedDecision, PendingMessages, QueueMarks, Situation
from bot.language.small_talk import asks_something, is_casual
from bot.text.catalogue import read_table
from bot.text.fold import fold

STEPS = 24
"""Most steps of one reply, messages and pauses together; what is more is in the last message (SEED_SYSTEMS 1.2)."""

TOTAL_MS = 45_000
"""The longest that all waits of one reply take together; what is over it is shortened from the end (the same)."""

GAP_MS = 300
"""Between two messages where the model wrote no pause (the same)."""

PAUSE_MS = 800
"""A pause whose length the model left out."""

_WORD = r"(?:pause|wait|delay|sleep|typing|停顿|停頓|暂停|暫停|等待|停|等)"
_GAP = r"[ \t]{0,3}"
_LONG = rf"{_GAP}[:：=]?{_GAP}(\d{{1,6}}(?:\.\d{{1,3}})?){_GAP}(ms|毫秒|seconds?|sec|s|秒)?"
_CUT = re.compile(
    r"(?P<code>```.*?(?:```|\Z)|`[^`\n]+`)"
    r"|(?P<blank>\n[ \t]*(?:\n[ \t]*)+)"
    rf"|(?P<bare>(?:\[\[|［［|【【){_GAP}(?:{_WORD})?{_LONG}{_GAP}(?:\]\]?(?![\](])|］］?|】】?|\Z))"
    rf"|(?P<named>(?:\[\[?|［［?|【【?|<){_GAP}{_WORD}(?:{_LONG})?{_GAP}(?:/?>|\]\]?|］］?|】】?))",
    re.IGNORECASE | re.DOTALL,
)
"""Code, which stays whole; blank lines; and [[800]] as the model is told to write it, with what it makes of that:
[[1.5s]], [pause 800], 【【停 800】】, <pause>."""

_SECONDS = ("s", "sec", "second", "seconds", "秒")
_BARE_SECONDS = 60
"""A number without a unit below this means seconds; models forget that it is milliseconds."""

TYPING_MS = 10_000
"""How long a platform's word holds: Discord shows somebody as typing for this long, and says so anew every 8 s."""

REMEMBERED = 1_024
"""People who are remembered; the one heard of longest ago is forgotten first."""

WITHOUT_MODEL = ("command", "pair", "closed", "off")
"""What is done by itself, without a model."""

DEBOUNCE_MOST_MS = 3_000
"""The longest wait for what a person adds, from their first message on (issue: 3 s in all)."""

FOLLOW_MOST_MS = 60_000
"""A person who never pauses for a follow-up's silence is answered after this long all the same."""

RUSH_MS = 250
"""The third message for nuan in one chat within this time is a flood; as with copies, nobody types so fast."""

GATHER_MS, GATHER_MOST_MS = 2_000, 12_000
"""A flood is answered when it is over, 1 to 2 s after its last message, or 12 s after it began."""

QUEUE_MOST = 3
"""With `queue`: when more messages than this wait, they are answered together."""

TOGETHER_MS = 1_000
"""A line so soon after another of the same person belongs to it, though that one looked whole: nobody thinks of something new so fast."""

WHOLE_SIZE = 8
"""Characters of a script without spaces, or half as many words of another, that make a sentence without any mark."""

END_CHARS = 80
"""How much of the end of a message tells whether it is whole."""

_WORDS = {name: "|".join(texts) for name, texts in read_table("bot.speaking", "unfinished").items()}
_OPEN = re.compile(r"(?:[,，、;；:：(（\[「『《“&+/-]|…|\.\.)\Z")
_JOINS = re.compile(rf"(?:{_WORDS['joins_zh']}|\b(?:{_WORDS['joins_en']}))\Z")
_ENDS = re.compile(rf"(?:[。.!！?？~～]|{_WORDS['ends_zh']})\Z")
_FACE = re.compile(r"(?:[:;=xX][-o']?[()DPp/\\|3]|[(（][^()（）]*[)）]|\^[_.]?\^|[TQ]_?[TQ]|orz)\Z")
"""A face made of signs; in brackets it may also be a remark, which ends a line as well."""

_CLOSING = "\"'”’」』》】)）] \t\n"
_LATIN_WORD = re.compile(r"[a-z0-9']+")


@dataclass(frozen=True, slots=True)
class PacedMessage:
    """One message: it goes `wait_ms` after the one before it, the last `typed_ms` of which it is being typed."""

    text: str
    wait_ms: int = 0
    typed_ms: int = 0


def paced_messages(reply: str, seed: int) -> tuple[PacedMessage, ...]:
    """The messages that a reply consists of: blank lines and pauses divide it, but never code; () when nothing is left.

    The first one goes at once, unless the reply begins with a pause: whoever waits for it has waited for the model.
    `seed` decides the typing time's chance part, so that the same turn is said the same way.
    """
    found: list[tuple[int, str]] = []
    pause = 0
    for count, step in enumerate(_steps(reply), 1):
        match step:
            case int():
                pause += step if count < STEPS else 0
            case str() if count > STEPS and found:
                found[-1] = (found[-1][0], f"{found[-1][1]}\n\n{step}")
            case str():
                found.append((pause, step))
                pause = 0
    left, parts = TOTAL_MS, []
    for number, (pause, text) in enumerate(found):
        typed = typing_ms(text, seed, number) if number else 0
        wait = min(left, (pause or (GAP_MS if number else 0)) + typed)
        left -= wait
        parts.append(PacedMessage(text, wait, min(typed, wait)))
    return tuple(parts)


def typing_ms(text: str, seed: int, number: int) -> int:
    """How long a message takes to type: 220 ms and a second for 12 characters, ± 120 ms, 120 to 1,500 (the same)."""
    chance = int.from_bytes(hashlib.sha256(f"{seed}:{number}".encode()).digest()[:4], "big") % 241 - 120
    return max(120, min(1_500, 220 + len(text) * 1_000 // 12 + chance))


def _steps(reply: str) -> Iterator[str | int]:
    """Messages and pauses (ms) in order."""
    text, start = reply.replace("\r\n", "\n"), 0
    for cut in _CUT.finditer(text):
        if cut["code"]:
            continue
        if said := text[start : cut.start()].strip():
            yield said
        if not cut["blank"]:
            yield _pause(*(cut.group(4, 5) if cut["bare"] else cut.group(7, 8)))
        start = cut.end()
    if said := text[start:].strip():
        yield said


def _pause(long: str | None, unit: str | None) -> int:
    """The length of a pause, ms."""
    if not long:
        return PAUSE_MS
    in_seconds = unit.lower() in _SECONDS if unit else float(long) < _BARE_SECONDS
    return min(round(float(long) * (1_000 if in_seconds else 1)), TOTAL_MS)


class Typists:
    """The people who began to write and have not sent anything yet."""

    def __init__(self) -> None:
        self._since: OrderedDict[tuple[str, str, str], int] = OrderedDict()

    def typing(self, place: Place, account: str, at: int) -> None:
        """The account of that platform was seen typing there, at that time, ms."""
        key = (place.platform, place.external_id, account)
        self._since[key] = at
        self._since.move_to_end(key)
        if len(self._since) > REMEMBERED:
            self._since.popitem(last=False)

    def wrote(self, place: Place, account: str) -> None:
        """What they were typing is sent."""
        self._since.pop((place.platform, place.external_id, account), None)

    def still(self, platform: str, external_id: str, now: int) -> frozenset[str]:
        """The accounts that are typing in that place now."""
        return frozenset(
            account
            for (on, where, account), at in self._since.items()
            if on == platform and where == external_id and now - at < TYPING_MS
        )


def looks_whole(text: str, names: tuple[str, ...]) -> bool:
    """Whether a message looks like all that its writer has to say just now; whatever is not sure looks unfinished.

    Whole is what ends like a sentence, asks something, is small talk alone, or is as long as a sentence. `names` are
    the bot's own: a name alone calls, and what for stands in the next line.
    """
    said = text.rstrip()
    if not said:
        return False
    bare = said.rstrip(_CLOSING)
    if _FACE.search(said) or unicodedata.category(bare[-1:] or "a") in ("So", "Sk", "Mn", "Cf"):
        return True
    end = fold(bare[-END_CHARS:])
    if _OPEN.search(end) or _JOINS.search(end):
        return False
    if _ENDS.search(end) or asks_something(said) or is_casual(said, names):
        return True
    words: list[str] = _LATIN_WORD.findall(end)
    others = sum(char.isalpha() for char in end) - sum(char.isalpha() for word in words for char in word)
    return others + 2 * len(words) >= WHOLE_SIZE


@dataclass(frozen=True, slots=True)
class BurstRules:
    """What the operator decides about bursts; `debounce_ms` is the wait of the message's platform, 0 for none.

    `gathers`: messages may come before the last is answered, so that many of them are a flood.
    """

    busy: BusyPolicy = "collect"
    debounce_ms: int = 0
    followup_ms: int = 5_000
    gathers: bool = True

    @property
    def interrupts_ms(self) -> int | None:
        """How old a turn may be at most that a message cuts short which it answers the writer of, ms; None: any age."""
        if self.busy == "interrupt":
            return None
        return TOGETHER_MS if self.debounce_ms and self.busy == "collect" else 0


def with_deadline(decision: Decision, seen: Situation, waiting: PendingMessages, rules: BurstRules) -> PacedDecision:
    """The decision with the deadline that it has among the chat's other messages.

    What needs no model (commands, memory commands, stop words) never waits, nor does what looks whole and follows
    nothing; what comes late has its own wait.
    """
    rush = PacedDecision(decision, waiting.rush_since, waiting.rush_until)
    apart = decision.action == "listen" or decision.why in (*WITHOUT_MODEL, *STOP_REASONS) or seen.is_memory_command
    if apart or seen.age_ms > rules.followup_ms:
        return rush
    due, since = decision.due_at, waiting.since or seen.at
    pauses = rules.debounce_ms and rules.busy != "queue"
    if decision.action == "follow" and not (pauses and waiting.calls):
        due = max(seen.at, min(due, since + FOLLOW_MOST_MS))
    elif pauses and (not seen.whole or waiting.since or seen.at - min(waiting.last, waiting.seen) < TOGETHER_MS):
        # Also what follows a call that still waits: 小暖 and, in a line of its own, what it is called for.
        due = max(seen.at, min(seen.at + rules.debounce_ms, since + DEBOUNCE_MOST_MS))
        rush = replace(rush, joins=True)
    rush = _rush(rush, seen.at, waiting) if rules.gathers else PacedDecision(rush.decision, joins=rush.joins)
    if rush.rush_until > seen.at:
        due = rush.rush_until if decision.action == "follow" else max(due, rush.rush_until)
    action = "follow" if due > seen.at else decision.action
    return replace(rush, decision=replace(decision, action=action, due_at=due))


def _rush(found: PacedDecision, at: int, waiting: PendingMessages) -> PacedDecision:
    """The time in which a flood is gathered, if there is one after this message."""
    # Only what came before this very instant: a clock that stands still or was set back counts no rate.
    fast = at - RUSH_MS < waiting.before <= waiting.last < at
    if not at < found.rush_until <= at + GATHER_MOST_MS:
        return replace(found, rush_since=at, rush_until=at + GATHER_MS) if fast else replace(found, rush_until=0)
    if not fast or found.rush_until >= at + GATHER_MS // 2:
        return found
    return replace(found, rush_until=min(at + GATHER_MS, found.rush_since + GATHER_MOST_MS))


def due_batch(due: Sequence[Event], standing: QueueMarks, busy: BusyPolicy) -> tuple[Event, ...]:
    """What a chat's queue does next, of what is due in order; not empty.

    What failed before is handled by itself, so that only it fails. What is parked goes with what is answered after it
    and never alone: it would fail, be parked and be due again, for as long as a call waits.
    """
    found = _next([event for event in due if event.id not in standing.parked], standing.later, busy)
    if found[0].why in WITHOUT_MODEL or found[0].id in standing.tried:
        return found[:1]
    found = tuple(takewhile(lambda event: event.id not in standing.tried, found))
    numbers = {event.id for event in found}
    return tuple(
        event for event in due if event.id in numbers or (event.id in standing.parked and event.id < found[-1].id)
    )


def _next(due: Sequence[Event], later: Collection[int], busy: BusyPolicy) -> tuple[Event, ...]:
    """The first command that is due, or the messages before it.

    A command does not wait for the wait of what was said before it. With `queue` each message is one batch, unless more
    than QUEUE_MOST wait. Commands that came between the lines of a flood do not divide it.
    """
    lines = tuple(takewhile(lambda event: event.why not in WITHOUT_MODEL, due))
    divided = sum(one.why not in WITHOUT_MODEL and other.why in WITHOUT_MODEL for one, other in pairwise(due))
    if divided > QUEUE_MOST:
        lines = tuple(event for event in due if event.why not in WITHOUT_MODEL)
    ready = tuple(event for event in lines if event.id not in later)
    if not ready:
        alone = next((event for event in due if event.why in WITHOUT_MODEL and event.id not in later), None)
        return (alone,) if alone is not None else lines or tuple(due[:1])
    if busy == "queue" and len(ready) <= QUEUE_MOST:
        return ready[:1]
    return lines
