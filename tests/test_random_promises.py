"""Whatever people do to their messages, in any order: an open promise stands in a visible one, and only once."""

import asyncio
import tempfile
from itertools import combinations
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.events import Incoming
from bot.text.similarity import same_promise
from tests.world import World


async def happens(world: World, label: str, target: str, text: str = "") -> None:
    """The platform says that something happened to a message."""
    said = world.message(text)
    await world.app.ingest.accept(Incoming(said.place, said.sender, "event", text, label, "", target=target))
    await world.app.settled()


@settings(max_examples=8)
@given(
    st.lists(
        st.tuples(st.sampled_from(("say", "edit", "delete", "done", "aside", "again")), st.integers(0, 3)), max_size=14
    )
)
def test_every_open_promise_stands_in_a_visible_message(steps: list[tuple[str, int]]) -> None:
    asyncio.run(walk(steps))


async def walk(steps: list[tuple[str, int]]) -> None:
    """People say, edit, delete and set aside promises in any order."""
    things = ("报告", "照片", "钥匙", "药箱")
    with tempfile.TemporaryDirectory() as folder:
        world = await World(Path(folder) / "data").open()
        try:
            for number, (step, thing) in enumerate(steps):
                match step:
                    case "say" | "again":
                        await world.say(f"我明天把{things[thing]}带给你", external_id=f"m{thing}-{number}")
                    case "edit":
                        await happens(world, "edit", newest(world), f"我后天把{things[thing]}还给你")
                    case "delete":
                        await happens(world, "delete", newest(world))
                    case "done":
                        await world.say(f"{things[thing]}带给你了")
                    case _:
                        await world.say("别记这个")
            assert (
                world.rows(
                    "SELECT text FROM commitment WHERE text <> '' AND NOT EXISTS (SELECT 1 FROM edge JOIN event "
                    "ON event.id = event_id WHERE edge.kind = 'commitment' AND derived_id = commitment.id "
                    "AND hidden = '' AND off_record = 0)"
                )
                == []
            )
            open_ = [row[0] for row in world.peek.commitments("text", ended_at=None)]
            assert not any(same_promise(str(one), str(other)) for one, other in combinations(open_, 2))
        finally:
            await world.close()


def newest(world: World) -> str:
    """The platform's id of the newest visible message that promises something."""
    rows = world.rows(
        "SELECT external_id FROM event WHERE kind = 'message' AND hidden = '' AND external_id LIKE 'm%' "
        "ORDER BY id DESC"
    )
    return str(rows[0][0]) if rows else "none"
