"""`.ai persona`: who nuan is in a chat, with one stable prefix each."""

import re
from pathlib import Path

import pytest

from bot.cli.installation import text_problems
from bot.config.settings import Settings
from bot.text.fold import script_of
from bot.text.length import estimate_tokens
from tests.configured import configured
from tests.conftest import NewWorld
from tests.reloading import Filed
from tests.world import World

TERSE = "话不多但可靠的助手"
GROUP = "闲聊"


def system(world: World) -> str:
    """The stable prefix of the newest request."""
    return world.turns[-1][0].content


async def test_a_chat_gets_the_persona_that_was_chosen_for_it_and_a_new_log(world: World) -> None:
    await world.say("今天过得怎么样呀")
    before = system(world)
    await world.say(".ai persona")
    assert world.replies[-1] == "这里现在是 default（按配置）。还有：study, terse"
    await world.say(".ai persona terse")
    assert world.replies[-1] == "好，这里改用 terse"
    await world.say("那明天去哪里玩好呢")
    assert TERSE in system(world)
    assert "今天过得怎么样呀" in world.last_user  # a new log takes over the last lines
    assert world.rows("SELECT count(*) FROM session")[0] == (1,)
    await world.restart()
    await world.say(".ai persona")
    assert world.replies[-1] == "这里现在是 terse（这里定的）。还有：default, study"
    await world.say(".ai persona reset")
    await world.say("再说一个地方吧")
    assert system(world) == before


async def test_every_chat_with_a_persona_has_the_same_prefix_and_others_keep_theirs(world: World) -> None:
    await world.say(".ai persona terse")
    await world.say("今天吃什么好")
    one = system(world)
    await world.say("今天吃什么好", "阿明")
    assert TERSE not in system(world)
    await world.say(".ai persona terse", "阿明")
    await world.say("那晚上吃什么好", "阿明")
    assert system(world) == one


async def test_who_may_not_change_a_chat_may_not_choose_and_a_slip_gets_the_nearest(world: World) -> None:
    await world.say("小暖，我是阿明", "阿明", GROUP)
    await world.say(".ai persona terse", "阿明", GROUP)
    await world.say("小暖，今天吃什么好", group=GROUP)
    assert TERSE not in system(world)
    await world.say(".ai persona tersse")
    assert world.replies[-1] == "没有叫 tersse 的人设，是不是 .ai persona terse？"
    await world.say(".ai persona ../../etc/passwd")
    assert world.replies[-1] == "没有叫 ../../etc/passwd 的人设。有：default, study, terse"


async def test_a_skill_belongs_to_its_persona(world: World) -> None:
    await world.say("讲讲成语接龙怎么玩")
    assert "skill" in {tool.name for tool in world.model.requests[-1].prompt.tools}
    await world.say(".ai persona terse")
    await world.say("再讲讲成语接龙怎么玩")
    assert "skill" not in {tool.name for tool in world.model.requests[-1].prompt.tools}


async def test_a_persona_that_is_gone_is_the_configured_one_again(filed: Filed) -> None:
    await filed.say(".ai persona terse")
    await filed.say("今天吃什么好呢")
    assert TERSE in system(filed)
    other = filed.persona.parent / "gruff"
    other.mkdir()
    (other / "IDENTITY.md").write_text("你很粗鲁，但心好。", "utf-8")
    await filed.say(".ai reload")
    await filed.say(".ai persona gruff")
    await filed.say("那明天吃什么好呢")
    assert "你很粗鲁" in system(filed)
    (other / "IDENTITY.md").unlink()
    await filed.say(".ai reload")
    await filed.say("后天吃什么好呢")
    assert "你很粗鲁" not in system(filed)


@pytest.mark.parametrize("light", ["off", "auto"])
@pytest.mark.parametrize("group", ["", GROUP])
@pytest.mark.parametrize("persona", ["default", "terse", "study"])
async def test_a_shipped_persona_and_its_rules_are_in_the_language_of_the_person_and_short(
    new_world: NewWorld, light: str, group: str, persona: str
) -> None:
    world = await new_world(persona=persona, prompt={"light": light}, bot={"names": ["nuan"]})
    for who, hello, language in (("小王", "你好", "zh-Hans"), ("阿明", "妳們好", "zh-Hant"), ("Tom", "hello", "en")):
        await world.say(f"nuan，{hello}", who, group and f"{group} {who}")
        text = world.prompts[-1][0].content
        told = "\n".join((text, *(tool.description for tool in world.model.requests[-1].prompt.tools)))
        others = told.replace("nuan 暖", "").replace("成语接龙", "")
        assert script_of(others, "en") == language
        assert language != "en" or not re.search(r"[\u4e00-\u9fff]", others)
        assert estimate_tokens(text) <= 450


async def test_a_persona_in_one_language_has_its_rules_in_that_one(new_world: NewWorld, tmp_path: Path) -> None:
    world = await new_world()
    (tmp_path / "SOUL.md").write_text("A sailor who has been everywhere and tells of it.", "utf-8")
    made = configured(world.settings, folders={"default": tmp_path}).value.texts.personas.of("")
    assert {each["full"].message.content for each in made.languages.values()} == {
        made.of("full", "en").message.content,
        made.of("full", "en", alone=True).message.content,
    }
    assert "tell system texts" in made.full.message.content


def test_a_broken_persona_is_said_at_start(tmp_path: Path) -> None:
    folder = tmp_path / "persona" / "bad"
    folder.mkdir(parents=True)
    (folder / "IDENTITY.md").write_bytes(b"\xff\xfe\xff")
    assert any("IDENTITY.md cannot be read" in each for each in text_problems(Settings(), tmp_path))
