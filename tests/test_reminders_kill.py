"""kill -9 at any moment: what was set is kept, what was said is said once, what ended stays ended."""

import random
from pathlib import Path

from tests.kill import Line, kill
from tests.storing import look, sound

KILLS = 2


def test_after_kills_every_reminder_was_said_once_or_still_waits(tmp_path: Path) -> None:
    chance, lines = random.Random(7), list[Line]()
    for seed in range(KILLS):
        lines += kill(tmp_path, seed, chance.randrange(4, 30), "tests.kill_reminders")
        assert sound(tmp_path) == []
    rows = look(tmp_path, "SELECT id, rule, outcome, ended_at IS NULL FROM reminder")
    by_number = {row[0]: row for row in rows}
    told = [str(row[0]) for row in look(tmp_path, "SELECT text FROM outbox WHERE kind = 'notice'")]
    assert len(told) == len(set(told)), "each time of each reminder is said once"
    once = [text.split("@")[0] for text in told if not by_number[int(text.split("@")[0])][1]]
    assert len(once) == len(set(once))
    assert {int(number) for number in once} == {row[0] for row in rows if row[2] == "said"}
    for line in lines:
        assert line.number in by_number, line
        if line.verb == "cancel":
            assert by_number[line.number][2] in ("cancelled", "said"), line
        if line.verb == "fire":
            assert any(text.startswith(f"{line.number}@") for text in told), line
    assert {line.verb for line in lines} == {"set", "cancel", "fire"}
