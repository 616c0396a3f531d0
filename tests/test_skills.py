"""Skills of a persona: listed by name in the tool that reads them, and never a path."""

import json
from pathlib import Path

import pytest

from bot.core.errors import ConfigError
from bot.core.files import PromptFiles, resource_dir
from bot.core.models import ToolSpec
from bot.prompt.persona import PURPOSE_CHARS, SKILL_CHARS, Persona, read_personas, read_skills
from bot.text.length import estimate_tokens
from tests.configured import configured
from tests.conftest import NewWorld
from tests.fakes.model import calls
from tests.world import World


def asks_for(world: World, *names: object) -> None:
    """The model reads these skills once, then answers."""
    asked = [("skill", json.dumps({"name": name}, ensure_ascii=False)) for name in names]
    world.model.script = lambda request: "好的" if request.prompt.messages[-1].role == "tool" else calls(*asked)


def results(world: World) -> list[str]:
    return [message.content for message in world.turns[-1] if message.role == "tool"]


def persona_with(folder: Path, **skills: str) -> Path:
    (folder / "skills").mkdir(parents=True)
    (folder / "IDENTITY.md").write_text("{{BOT_NAME}}", encoding="utf-8")
    for name, text in skills.items():
        (folder / "skills" / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


def signature(folder: Path) -> str:
    persona = Persona(folder, read_skills(folder))
    skill = ToolSpec("skill", "", "{}")
    return (
        read_personas(PromptFiles(None).path, {"own": persona}, "own", "小暖", {"zh-Hans": {"skill": skill}}, "d")
        .of("own")
        .full.signature
    )


async def test_the_tool_lists_them_and_small_talk_does_not(new_world: NewWorld) -> None:
    world = await new_world(prompt={"light": "auto"})
    await world.say("你好")
    await world.say("我们来玩成语接龙")
    light, full = (request.prompt.tools for request in world.model.requests)
    assert light == ()
    assert full[-1].name == "skill"
    assert "idiom-chain: 成语接龙" in full[-1].description
    assert "comfort: 对方伤心" in full[-1].description
    assert "首字对不对" not in full[-1].description, "the text itself is read on demand"


async def test_the_tool_gives_the_whole_text(world: World) -> None:
    asks_for(world, "idiom-chain", " comfort ")
    await world.say("我们来玩成语接龙")
    idiom, comfort = results(world)
    assert idiom.startswith("# 成语接龙")
    assert idiom.endswith("再讲典故。")
    assert comfort.endswith("替TA保密。")
    assert world.replies == ["好的"]


@pytest.mark.parametrize(
    "name",
    ["../IDENTITY", "../skills/comfort", "skills/comfort", "comfort.md", "/etc/passwd", "", ".", "a\x00b", "<b>"],
)
async def test_any_other_name_gets_a_clear_answer_and_no_file(world: World, name: str) -> None:
    asks_for(world, name)
    await world.say("读一下")
    (found,) = results(world)
    assert found.startswith("没有叫「")
    assert found.endswith("」的技能，只有技能列表里的那些。")
    assert "<b>" not in found
    assert "聊天伙伴" not in found


async def test_the_answer_is_in_the_script_of_the_person(world: World) -> None:
    asks_for(world, "nope")
    await world.say("please read the skill")
    assert results(world) == ['There is no skill called "nope", only those in the list of skills.']


async def test_a_skill_is_read_in_the_language_of_the_person(world: World) -> None:
    asks_for(world, "comfort")
    await world.say("please read the skill")
    assert results(world)[0].startswith("# How to be there")
    assert "comfort: How to be there" in world.model.requests[-1].prompt.tools[-1].description
    assert [skill.name for skill in read_skills(resource_dir("data/persona") / "default")] == ["comfort", "idiom-chain"]


@pytest.mark.parametrize("arguments", ["", "[]", "{}", '{"name": 3}', '{"name": "comfort", "path": "x"}'])
async def test_arguments_that_do_not_fit_are_the_tools_answer(world: World, arguments: str) -> None:
    world.model.script = lambda request: (
        "好的" if request.prompt.messages[-1].role == "tool" else calls(("skill", arguments))
    )
    await world.say("读一下")
    assert len(results(world)) == 1
    assert world.replies == ["好的"]


async def test_a_persona_without_skills_has_no_tool_for_them(world: World, tmp_path: Path) -> None:
    bare = configured(world.settings, folders={"default": persona_with(tmp_path / "bare")})
    assert read_skills(tmp_path / "bare") == ()
    assert "skill" not in bare.value.texts.tools
    assert "skill" in world.parts.current.value.texts.tools


def test_another_list_is_another_signature(tmp_path: Path) -> None:
    before = signature(persona_with(tmp_path / "a", one="# 一\n怎么做"))
    assert signature(persona_with(tmp_path / "b", one="# 一\n怎么做")) == before
    assert signature(persona_with(tmp_path / "c", two="# 一\n怎么做")) != before
    assert signature(persona_with(tmp_path / "d", one="# 二\n怎么做")) != before
    assert signature(persona_with(tmp_path / "e")) != before


def test_long_files_are_cut(tmp_path: Path) -> None:
    (skill,) = read_skills(persona_with(tmp_path / "p", long="# " + "长" * 999 + "\n" + "文" * 9_999))
    assert len(skill.purpose) == PURPOSE_CHARS
    assert len(skill.text) == SKILL_CHARS


def test_every_file_that_cannot_be_used_is_named_at_once(tmp_path: Path) -> None:
    folder = persona_with(tmp_path / "p", empty="\n\n", bare="#\n\ntext", good="# 好")
    (folder / "skills" / "bytes.md").write_bytes(b"\xff\xfe\x00")
    (folder / "skills" / "two\nlines.md").write_text("# x", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_skills(folder)
    assert [
        name for name in ("bare", "bytes", "empty", "two") if any(name in one for one in caught.value.problems)
    ] == [
        "bare",
        "bytes",
        "empty",
        "two",
    ]


def test_the_shipped_skills_are_small() -> None:
    for skill in read_skills(resource_dir("data/persona") / "default"):
        for each in (skill, *skill.twins.values()):
            assert estimate_tokens(each.purpose) <= 30
            assert estimate_tokens(each.text) <= 500, skill.name
