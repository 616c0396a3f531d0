"""When files are looked at, who shares a reload, and a hundred of them while messages flow."""

import asyncio
import gc
import threading
from pathlib import Path

from tests.fakes.clock import let_others_run
from tests.peek import Other
from tests.reloading import SERVER, Filed
from tests.sizes import sized
from tests.world import open_files


async def test_a_changed_file_is_taken_when_it_is_quiet_and_a_bad_one_is_told_once(filed: Filed) -> None:
    look = filed.reloader.look
    await look()
    (filed.home / "nuan.toml").write_text("[speak]\nwindow_sec")
    await look()
    (filed.home / "nuan.toml").write_text("[speak]\nwindow_seconds")
    await look()
    assert filed.log.named("reload_refused") == [], "it is still being written"
    for _ in range(5):
        await look()
    assert len(filed.log.named("reload_refused")) == 1
    filed.write("[speak]\nwindow_seconds = 5\n")
    (filed.persona / "SOUL.md~").write_text("of an editor")
    await look()
    await look()
    await look()
    assert [line["changed"] for line in filed.log.named("reloaded")] == [["speak.window_seconds"]]
    (filed.persona / "skills" / "唱歌.md").write_text("唱歌的时候\n唱")
    await look()
    await look()
    assert filed.log.named("reloaded")[-1]["changed"] == ["persona/skills/唱歌.md"]


async def test_whoever_asks_during_a_reload_shares_the_next(filed: Filed) -> None:
    filed.write("[input]\nmax_chars = 10\n")
    first = asyncio.create_task(filed.reload())
    await let_others_run()
    filed.write("[input]\nmax_chars = 11\n")
    done = await asyncio.gather(first, *(filed.reload() for _ in range(20)))
    assert len(filed.log.named("reloaded")) == 2
    assert len(set(done[1:])) == 1
    assert filed.app.parts.current.settings.input.max_chars == 11


async def test_many_reloads_while_messages_flow_lose_and_leave_nothing(tmp_path: Path) -> None:
    filed, half = await Filed(tmp_path, SERVER.replace("{name}", "0")).open(), sized(50)

    async def one(number: int) -> None:
        who = f"人{number % 4}"
        await filed.app.ingest.accept(filed.message(f"第{number}句", who, external_id=str(number)))

    async def storm(first: int) -> None:
        for number in range(first, first + half):
            filed.write(SERVER.replace("{name}", str(number)))
            await asyncio.gather(one(2 * number), filed.reload(), one(2 * number + 1))
        await filed.app.settled()

    await storm(1)
    gc.collect()  # what other tests left is gone from now on
    before = (open_files(), len(asyncio.all_tasks()), threads())
    await storm(1 + half)
    assert (open_files(), len(asyncio.all_tasks()), threads()) == before
    assert filed.peek.events.count(kind="message", state=Other("done")) == 0
    answered = filed.rows("SELECT text, count(*) FROM turn_event JOIN event ON event.id = event_id GROUP BY event_id")
    assert sorted(answered) == sorted((f"第{number}句", 1) for number in range(2, 2 + 4 * half))
    assert filed.peek.turns.count(state=Other("said")) == 0
    said = filed.peek.turns.count()
    assert len(filed.replies) == said
    assert len(filed.models) == 1 + 2 * half
    assert [model.closed for model in filed.models] == [1] * 2 * half + [0]
    await filed.close()


def threads() -> int:
    """Threads of ours: asyncio keeps a few of its own for waiting."""
    return len([thread for thread in threading.enumerate() if not thread.name.startswith("asyncio")])
