"""Of many messages that are answered at once: which are told whole, and who is to be addressed. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from bot.types.event import Event

MOST_LINES = 50
"""Messages that one turn answers whole, the newest of each person first; the others are cut, or folded and counted."""

MOST_TOKENS = 12_000
"""And no more than so many tokens of them: three messages that a platform made of one long text fit in."""

MOST_NAMES = 12
"""People who are named as waiting for an answer."""


def whole(answering: Sequence[Event], tokens: int, chars: int, cost: Callable[[str], int]) -> frozenset[int]:
    """The numbers of the messages, in order, that are told whole: the newest always, others while there is room.

    `tokens` is the room, beside MOST_TOKENS; of one message at most `chars` are told. Everybody's newest message comes
    before anybody's second, so that one person's flood crowds nobody out.
    """
    if not answering:
        return frozenset()
    turns: Counter[int | None] = Counter()
    ranked: list[tuple[int, int, Event]] = []
    for event in reversed(answering):
        ranked.append((turns[event.person_id], -event.id, event))
        turns[event.person_id] += 1
    left, kept = min(tokens, MOST_TOKENS), {answering[-1].id}
    left -= cost(answering[-1].text[:chars])
    for _, _, event in sorted(ranked, key=lambda each: each[:2])[1:MOST_LINES]:
        left -= cost(event.text[:chars])
        if left < 0:
            break
        kept.add(event.id)
    return frozenset(kept)


def waiting_names(answering: Sequence[Event], told: Iterable[Event]) -> tuple[str, ...]:
    """The names of all who wait for this answer, in the order in which they came; nobody where that is plain: only one
    person talks in what is `told`."""
    people = {event.person_id: event.name for event in answering if event.kind == "message"}
    talking = {event.person_id for event in told if event.kind == "message"}
    return tuple(people.values())[:MOST_NAMES] if people and len(talking | people.keys()) > 1 else ()


def following_names(answering: Sequence[Event]) -> tuple[str, ...]:
    """Those of them who did not call: they go on talking in their activation window."""
    people = {event.person_id: event.name for event in answering if event.why == "window"}
    called = {event.person_id for event in answering if event.why != "window"}
    return tuple(name for person, name in people.items() if person not in called)[:MOST_NAMES]
