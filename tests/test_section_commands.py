"""`nuan sections`: what talks stay with, the advice, and the seed's files."""

import json
from pathlib import Path

from typer.testing import CliRunner

from bot.cli.inspection import show_sections
from bot.cli.installation import Installation
from bot.cli.main import app
from bot.core.files import PromptFiles, resource_dir
from tests.conftest import NewWorld
from tests.test_sections import PILLS, told
from tests.world import World


def place(world: World) -> Installation:
    """The installation as a command finds it."""
    persona = resource_dir("data") / "persona" / "default"
    return Installation(world.settings, world.folder, PromptFiles(None), persona, world.settings)


async def settled(new_world: NewWorld, turns: int = 5, **settings: object) -> World:
    """A talk that stays with health, beside memories of work that nobody asks about."""
    world = await new_world(context={"opening_tokens": 60}, **settings)
    await told(world, *(fact for fact, _ in PILLS), "我在图书馆的公司上班")
    for _, asked in PILLS[:turns]:
        await world.say(asked)
    return world


async def test_the_list_says_what_dominates_what_is_searched_first_and_what_is_never_hit(new_world: NewWorld) -> None:
    world = await settled(new_world)
    lines = (await show_sections(place(world), None, world.clock, as_json=False)).splitlines()
    assert lines == [
        "chat 1 (dm), person 1 小王:",
        "  health (健康): 100% of the hits, 5 memories, dominant",
        "  work (工作学习): 0% of the hits, 1 memories; no hit in 5 turns: might be merged into another",
        "  searched first: health and what a message names; everything when that is not enough",
        "  topic: 健康: 我晚上失眠就听白噪音 (#5)",
    ]
    await world.wait(8 * 86_400)
    lines = (await show_sections(place(world), None, world.clock, as_json=False)).splitlines()
    assert lines[-1] == "  everything is searched: no hit of late"
    assert not any("topic" in line or "merged" in line for line in lines)


async def test_the_files_are_the_seeds_and_a_topic_that_changed_is_cleared(new_world: NewWorld, tmp_path: Path) -> None:
    world = await settled(new_world, bot={"timezone": "Asia/Shanghai", "language": "zh-Hant"})
    out = tmp_path / "states"
    said = await show_sections(place(world), out, world.clock, as_json=False)
    assert said.startswith(f"1 states are in {out};")
    folder = out / "chat-1-person-1"
    state = json.loads((folder / "index_state.json").read_text(encoding="utf-8"))
    assert list(state) == [
        "window_size",
        "dominant_threshold",
        "turns",
        "proportions",
        "current_topic",
        "topic_summary",
        "last_updated",
        "miss_count",
    ]
    assert (state["window_size"], state["dominant_threshold"], state["proportions"]) == (5, 0.7, {"健康": 1.0})
    assert [turn["sections_hit"] for turn in state["turns"]] == [["健康"]] * 5
    assert state["turns"][-1]["ts"] == state["last_updated"] == "2026-06-12T01:00:00.000Z"
    assert (state["current_topic"], state["topic_summary"]) == ("健康", "我晚上失眠就听白噪音")
    assert state["miss_count"] == {"健康": 0, "工作學習": 5}
    assert (folder / "MEMORY_TOPIC.md").read_text(encoding="utf-8") == "# 健康\n\n我晚上失眠就听白噪音\n"
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in folder.iterdir())
    await world.say("忘记我晚上失眠就听白噪音")
    await show_sections(place(world), out, world.clock, as_json=False)
    assert not (folder / "MEMORY_TOPIC.md").exists()
    assert json.loads((folder / "index_state.json").read_text(encoding="utf-8"))["current_topic"] == ""


async def test_json_holds_state_and_advice(new_world: NewWorld) -> None:
    world = await settled(new_world, 2)
    [told_] = json.loads(await show_sections(place(world), None, world.clock, as_json=True))
    assert (told_["chat"], told_["person"], told_["first"]) == (1, 1, [])
    assert told_["state"]["proportions"] == {"健康": 1.0}
    assert [(each["key"], each["name"], each["standing"], each["merge"]) for each in told_["advice"]] == [
        ("health", "健康", "also", False),
        ("work", "工作学习", "none", False),
    ]


def test_the_command_says_when_there_is_nothing_and_when_a_folder_is_none(tmp_path: Path) -> None:
    run = CliRunner().invoke
    data = str(tmp_path / "data")
    none = run(app, ["sections", "--data", data])
    assert none.exit_code != 0
    assert "Traceback" not in none.output
    assert run(app, ["memory", "backfill", "--apply", "--data", data]).exit_code in (0, 1)
    file = tmp_path / "file"
    file.write_text("x")
    bad = run(app, ["sections", "--data", data, "--export", str(file)])
    assert bad.exit_code == 1
    assert "Traceback" not in bad.output
    wrong = run(app, ["sections", "--data", data], env={"NUAN_SECTIONS__WINDOW": "4"})
    assert (wrong.exit_code, "sections.window" in wrong.output) == (2, True)
