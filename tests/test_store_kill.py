"""kill -9 at any moment: what was acknowledged is there, and nothing is half there."""

import random
from pathlib import Path

from bot.store.store import open_store
from tests.kill import Line, kill
from tests.sizes import sized
from tests.storing import look, sound

KILLS = sized(20)

HALF_DONE = {
    "a command was confirmed without its line or its line without the command": """SELECT key FROM effect
        WHERE key LIKE 'event:%' AND NOT EXISTS (SELECT 1 FROM event WHERE text = result AND label = 'memory')""",
    "a line that asked to keep something has no receipt but a memory": """SELECT derived_id FROM edge
        JOIN event ON event.id = event_id JOIN memory ON memory.id = derived_id WHERE edge.kind = 'memory'
        AND memory.source = 'command' AND NOT EXISTS (SELECT 1 FROM effect WHERE key = 'event:' || event_id)""",
    "a turn was asked without its entry or its call": """SELECT id FROM turn WHERE state = 'asked' AND
        (NOT EXISTS (SELECT 1 FROM entry WHERE turn_id = turn.id) OR
        NOT EXISTS (SELECT 1 FROM call WHERE turn_id = turn.id))""",
    "a tool's effect is there without its line in the log": """SELECT key FROM effect JOIN turn
        ON key = 'turn:' || turn.id || ':1:call' WHERE turn.state IN ('answered', 'said') AND epoch_id IN
        (SELECT id FROM epoch WHERE stale = '') AND
        (SELECT count(*) FROM entry WHERE turn_id = turn.id AND message LIKE '{"role":"tool"%') <> 1""",
    "a turn was said without a line, a row to send, or with its messages still waiting": """SELECT id FROM turn
        WHERE state = 'said' AND ((SELECT count(*) FROM outbox WHERE turn_id = turn.id) <> 1 OR
        (SELECT count(*) FROM event WHERE turn_id = turn.id AND kind = 'bot') <> 1 OR
        EXISTS (SELECT 1 FROM event WHERE turn_id = turn.id AND state = 'queued'))""",
    "a void turn left something in the log": """SELECT turn.id FROM turn JOIN entry ON turn_id = turn.id
        WHERE state = 'failed'""",
    "two sessions of a chat are open": """SELECT chat_id FROM session WHERE state = 'open' GROUP BY 1
        HAVING count(*) > 1""",
    "a session was closed without a digest being due": """SELECT id FROM session WHERE state = 'closing'
        AND digest_due_at IS NULL""",
}


async def test_after_many_kills_every_acknowledged_verb_is_there_and_none_is_half_there(tmp_path: Path) -> None:
    chance = random.Random(20)
    lines: list[Line] = []
    for seed in range(KILLS):
        lines += kill(tmp_path, seed, after=chance.randrange(40))
        async with await open_store(tmp_path) as store:
            await store.turns.running()
        assert sound(tmp_path) == []
        assert {what: rows for what, sql in HALF_DONE.items() if (rows := look(tmp_path, sql))} == {}
        check(tmp_path, lines)
    assert {line.verb for line in lines if line.done} >= {"remember", "forget", "accept", "ask", "say", "close"}


def check(folder: Path, lines: list[Line]) -> None:
    """Compare what the children said with what is stored."""
    begun = {line.number for line in lines if line.verb == "forget"}
    done = {line.number for line in lines if line.verb == "forget" and line.done}
    rows = look(folder, "SELECT id, text FROM memory WHERE disabled_at IS NULL")
    active = {row[0]: row[1] for row in rows}
    for line in lines:
        match line.verb:
            case "remember" if line.number not in begun:
                assert active.get(line.number) == line.text
            case "remember" if line.number in done:
                assert line.number not in active
            case "accept" | "ask" | "say" | "close":
                table = {"accept": "event", "close": "session"}.get(line.verb, "turn")
                assert look(folder, f"SELECT 1 FROM {table} WHERE id = ?", line.number), line
    said = {line.number for line in lines if line.verb == "say"}
    assert said <= {row[0] for row in look(folder, "SELECT id FROM turn WHERE state = 'said'")}
