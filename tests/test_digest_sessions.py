"""The rule on labelled sessions of our own in three scripts: what it keeps is right, and never the bot's."""

import sys
from dataclasses import replace

from bot.memory.digest import rule_digest
from bot.text.fold import fold
from tests.labelled import Score, score, sessions

PRECISION, RECALL = 0.9, 0.85
"""What is asked for at least."""


def test_what_the_rule_keeps_is_right() -> None:
    statements, tasks = Score(), Score()
    every = list(sessions())
    for session in every:
        score(session, rule_digest(tuple(session.lines), session.scope), statements, tasks)
    for name, tally in (("statements", statements), ("tasks", tasks)):
        sys.stdout.write(
            f"{name} of {len(every)} sessions: {tally.right} of {tally.kept} right ({tally.precision:.3f}), "
            f"{tally.found} of {tally.wanted} found ({tally.recall:.3f}); wrong: {tally.wrong}; "
            f"missed: {tally.missed}\n"
        )
    assert len(every) >= 60
    assert len({fold(session.name.split("-")[0]) for session in every}) >= 3
    for tally in (statements, tasks):
        assert tally.precision >= PRECISION
        assert tally.recall >= RECALL


def test_nothing_is_made_of_the_bots_words_or_forwarded_ones() -> None:
    for session in sessions():
        digest = rule_digest(tuple(session.lines), session.scope)
        people = {line.event_id: line for line in session.lines if not line.is_bot and not line.forwarded}
        for text, owner, events in (
            *((memory.text, memory.owner_id, memory.event_ids) for memory in digest.memories),
            *((task.text, task.owner_id, task.event_ids) for task in digest.commitments),
        ):
            assert [people[event].person_id for event in events] == [owner]
            assert fold(text.rstrip("…")) in fold(people[events[0]].text)


def test_a_bots_session_leaves_nothing() -> None:
    """Every line of every session as if the bot had said it."""
    for session in sessions():
        lines = tuple(replace(line, is_bot=True, person_id=None) for line in session.lines)
        digest = rule_digest(lines, session.scope)
        assert (digest.memories, digest.commitments, digest.summary) == ((), (), "")
