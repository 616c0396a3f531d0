"""Whether nuan enters a talk of a group by herself: manners first, then a score. Pure.

Numbers are configuration, [speak.join]; the pauses of 15 to 300 s are those of the issue.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import tzinfo
from itertools import pairwise, takewhile

from bot.config.joining import JoinRules
from bot.session.heartbeat import is_quiet
from bot.session.trigger import called_by_name
from bot.text.dates import local_hour, next_local_time
from bot.types.duration import HOUR_MS, MINUTE_MS
from bot.types.joining import Entry, Look, Talk, TalkLine, Verdict

MOST_DOUBLINGS = 20
"""Keeps the figure small; the longest pause is reached long before."""


def held(talk: Talk, rules: JoinRules, window_ms: int, tz: tzinfo, now: int) -> Verdict | None:
    """What manners say, without regard to what is talked about; None when nuan may enter.

    Never before a lull, at night, over the cap, while somebody waits for her or wanted silence, between two people
    who reply to each other, on what is forwarded, a bot's or for somebody else, or twice on the same lines.
    """
    newest = talk.lines[-1] if talk.lines else None
    if newest is None:
        return Verdict("silent", "nothing")
    if now < (quiet := newest.at + rules.lull_seconds * 1000):
        return Verdict("wait", "lull", quiet)
    if (why := _about(newest, talk)) is not None:
        return Verdict("silent", why)
    last = newest.at + rules.stale_seconds * 1000
    if now > last:
        return Verdict("silent", "stale")
    for why, until in _until(talk, rules, window_ms, tz, now):
        if until > now:
            # What holds longer than the talk is worth is not waited for.
            return Verdict("wait" if until <= last else "silent", why, until)
    return None


def weigh(talk: Talk, relevance: float, rules: JoinRules, now: int) -> Verdict:
    """Whether what is talked about is worth entering; `relevance` is 0 to 1. The talk passed `held`.

    A question that would be worth it once it has waited long enough is looked at again.
    """
    asked = open_question(talk.lines)
    score = score_of(talk, relevance, rules, now)
    if score >= rules.threshold:
        return Verdict("enter", "enter", score=score)
    if asked is not None:
        until = asked.at + rules.question_seconds * 1000
        if until > now and score_of(talk, relevance, rules, until) >= rules.threshold:
            return Verdict("wait", "question", until, score)
    return Verdict("silent", "score", score=score)


def score_of(talk: Talk, relevance: float, rules: JoinRules, now: int) -> float:
    """The weighed sum, not below 0: it grows with relevance, the wait of a question and rest, and falls with pace."""
    asked = open_question(talk.lines)
    waited = _part(now - asked.at, rules.question_seconds * 1000) if asked is not None else 0.0
    rest = _part(now - talk.spoke_at, rules.rest_seconds * 1000)
    pace = _part(sum(now - line.at < MINUTE_MS for line in talk.lines), rules.fast_per_minute)
    score = (
        rules.weight_relevance * min(max(relevance, 0.0), 1.0)
        + rules.weight_question * waited
        + rules.weight_rest * rest
        - rules.weight_pace * pace
    )
    return round(max(score, 0.0), 6)


def open_question(lines: Sequence[TalkLine]) -> TalkLine | None:
    """The newest question for everybody that nobody answered.

    An answer is any later line of somebody else, unless it is plainly for a third person.
    """
    asked = next((line for line in reversed(lines) if _asks_all(line)), None)
    if asked is None:
        return None
    later = (line for line in lines if line.id > asked.id and line.person_id != asked.person_id)
    return None if any(not line.to_other or line.to in (None, asked.person_id) for line in later) else asked


def in_dialogue(lines: Iterable[TalkLine]) -> bool:
    """Whether two people reply to each other in these lines: by name or reply, or in turns at their end.

    In turns is two people alone with three lines or more, each at least once between the other's.
    """
    said = [line for line in lines if not line.from_bot]
    aimed = [line for line in said if line.to_other]
    if any(_mutual(one, other) for index, one in enumerate(aimed) for other in aimed[index + 1 :]):
        return True
    ending: list[TalkLine] = []
    for line in reversed(said):
        if len({line.person_id, *(one.person_id for one in ending)}) > 2:
            break
        ending.append(line)
    turns = sum(one.person_id != other.person_id for one, other in pairwise(ending))
    return len(ending) >= 3 and turns >= 2


def backoff_ms(entries: Sequence[Entry], rules: JoinRules) -> int:
    """The pause after the newest entry: doubled for each in a row that nobody answered, 0 after one that was."""
    counted = [entry for entry in reversed(entries) if entry.counts]
    ignored = sum(1 for _ in takewhile(lambda entry: not entry.answered, counted))
    if not ignored:
        return 0
    doubled = rules.backoff_seconds << min(ignored - 1, MOST_DOUBLINGS)
    return min(doubled, rules.backoff_most_seconds) * 1000


def addressee(text: str, people: Mapping[int, str]) -> int | None:
    """Whom of these people a line calls by name, as it would call nuan."""
    return next((number for number, name in people.items() if len(name) > 1 and called_by_name(text, (name,))), None)


def _about(newest: TalkLine, talk: Talk) -> Look | None:
    """Why the newest line is nothing to enter on."""
    if newest.id <= talk.seen:
        return "same"
    if newest.id <= talk.spoke_id:
        return "spoke"
    if talk.hushed:
        return "hushed"
    if talk.waiting:
        return "waiting"
    if newest.from_bot:
        return "bot"
    if newest.forwarded:
        return "forwarded"
    return "other" if newest.to_other else None


def _until(talk: Talk, rules: JoinRules, window_ms: int, tz: tzinfo, now: int) -> Iterable[tuple[Look, int]]:
    """The reasons to wait, each with the moment, ms, at which it is over."""
    if is_quiet(local_hour(now, tz), rules):
        yield "hours", next_local_time(now, rules.quiet_until, tz)
    hour = [entry.at for entry in talk.entries if entry.at > now - HOUR_MS]
    if len(hour) >= rules.per_hour:
        yield "cap", sorted(hour)[-rules.per_hour] + HOUR_MS
    counted = [entry for entry in talk.entries if entry.counts]
    if counted and not counted[-1].answered:
        ended = counted[-1].at + (window_ms if counted[-1].said else 0)
        yield "entered", ended
        yield "ignored", ended + backoff_ms(talk.entries, rules)
    dialogue = rules.dialogue_seconds * 1000
    if in_dialogue(line for line in talk.lines if now - line.at < dialogue):
        yield "pair", talk.lines[-1].at + dialogue


def _asks_all(line: TalkLine) -> bool:
    return line.asks and not (line.to_other or line.forwarded or line.from_bot)


def _mutual(one: TalkLine, other: TalkLine) -> bool:
    """Whether two lines are for each other's people; where it is not known for whom, they may be."""
    if one.person_id == other.person_id:
        return False
    return one.to in (None, other.person_id) and other.to in (None, one.person_id)


def _part(some: float, whole: float) -> float:
    return min(max(some / whole, 0.0), 1.0)
