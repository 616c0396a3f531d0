"""The child of a kill: sets reminders, says what is due and ends some, and tells each once it is done.

`python -m tests.kill_reminders FOLDER SEED`.
"""

import asyncio
import random
import sys
from pathlib import Path

from bot.core.memories import NewReminder
from bot.store.reminders import ReminderAnswer
from bot.store.store import open_store
from tests.kill import tell
from tests.storing import NOW, say


async def work(folder: Path, seed: int) -> None:
    """Go on until it is killed."""
    chance = random.Random(seed)
    async with await open_store(folder, frozenset({"test:ann"})) as store:
        at = NOW + seed * 10_000_000
        while True:
            at += 1_000
            event = (await say(store, f"提醒我第{at}件事", at=at)).event
            assert event is not None
            assert event.person_id is not None
            rule = "* * * * *" if chance.random() < 0.2 else ""
            new = NewReminder(event.person_id, event.chat_id, f"第{at}件事", at + 500, rule, (event.id,))
            (number,) = await store.reminders.set(
                (new,), ReminderAnswer(event.chat_id, event.id, lambda each: f"好 #{each[0]}"), at
            )
            tell("set", number)
            if chance.random() < 0.3:
                await store.reminders.cancel((number,), at)
                tell("cancel", number)
            for said, _, spoken in await store.reminders.fire(
                lambda due: f"{due.reminder.id}@{due.reminder.due_at}",
                lambda due: due.reminder.due_at + 60_000,
                at + 600,
            ):
                assert spoken
                tell("fire", said)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), int(sys.argv[2])))
