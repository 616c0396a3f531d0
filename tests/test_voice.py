"""Voice out: to whom replies are spoken, what is said where they cannot be, and what a crash leaves of them."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.core.errors import ModelError
from bot.core.events import Attachment
from bot.core.parts import Voice
from bot.language.media import asks_aloud, spoken_form
from bot.model.client import OpenAISpeaker
from bot.pipeline.endpoints import make_pool, price_problems
from tests.conftest import OpenMedia as Open
from tests.fakes.clock import let_others_run
from tests.fakes.media import MediaWorld
from tests.fakes.model import OGG, ScriptedSpeaker
from tests.fakes.openai_script import Fault, Reply
from tests.fakes.openai_server import FakeOpenAI
from tests.test_model_client import KEY

VOICE = {"model": "speaker", "price": 15.0}
SPOKEN = Attachment("voice", "voice", mime="audio/ogg")
REPLY = "**晚安**呀，早点睡🌙"


async def speaking(open_world: Open, tables: dict[str, object] | None = None) -> MediaWorld:
    """A nuan that can speak, on a platform that takes voice messages."""
    world = await open_world({"voice": VOICE, **(tables or {})})
    world.files.files["voice"] = bytes(400)
    world.model.script = lambda request: REPLY
    world.speaker = ScriptedSpeaker()
    world.files.sends = {"voice": 1_000_000}
    await world.restart()
    return world


def said(world: MediaWorld) -> list[str]:
    """What went out: texts, and voice messages as 〔…〕 around their bytes' length."""
    return [f"〔{len(one.content)}〕" if isinstance(one.part, Voice) else one.text for one in world.talk.said]


def lying(world: MediaWorld) -> list[Path]:
    return [*(world.folder / "parts").glob("*")]


async def test_who_speaks_is_answered_by_voice_and_the_words_stay_in_the_log(open_world: Open) -> None:
    world = await speaking(open_world)
    await world.send(SPOKEN)
    (message,) = world.talk.said
    assert isinstance(message.part, Voice)
    assert (message.content, message.part.name) == (OGG, "voice.ogg")
    assert world.speaker is not None
    assert world.speaker.spoken == ["晚安呀，早点睡"], "marks and emoji are seen, not said"
    assert world.peek.events.values("text", kind="bot") == [REPLY]
    assert "会变成语音给TA听" in world.last_user
    assert lying(world) == []
    [(state, chars, _, cost)] = world.spent("speak")
    assert (state, chars) == ("settled", 7)
    assert cost == pytest.approx(7 * 15 / 1e6)
    await world.say(".ai calls")
    assert "说出来" in world.replies[-1]


async def test_who_asks_to_hear_it_is_answered_by_voice_and_nobody_else(open_world: Open) -> None:
    world = await speaking(open_world)
    await world.say("说给我听")
    await world.say("你好呀")
    await world.say("说给我听", forwarded=True)
    await world.send(Attachment("voice", "voice", "song.mp3", "audio/mpeg"))
    assert said(world) == [f"〔{len(OGG)}〕", REPLY, REPLY, REPLY]
    assert [("会变成语音" in prompt[-1].content) for prompt in world.prompts] == [True, False, False, False]


async def test_a_group_hears_what_one_of_it_asked_for(open_world: Open) -> None:
    world = await speaking(open_world)
    await world.say("小暖，念给我听", "阿明", "书友")
    await world.say("小暖，你好", "阿红", "书友")
    assert said(world) == [f"〔{len(OGG)}〕", REPLY]


@pytest.mark.parametrize("reply", ["好" * 301, "看 https://example.org", "```\nx = 1\n```", "🌙", "- 一\n- 二"])
async def test_what_is_long_or_has_to_be_seen_is_written(open_world: Open, reply: str) -> None:
    world = await speaking(open_world, {"speak": {"links": ["*"]}})
    world.model.script = lambda request: reply
    await world.send(SPOKEN)
    assert said(world) == [reply]
    assert world.spent("speak") == []


async def test_where_no_voice_is_taken_or_nothing_speaks_it_is_written(open_world: Open) -> None:
    world = await speaking(open_world)
    world.files.sends = {}
    await world.send(SPOKEN)
    world.speaker = None
    world.files.sends = {"voice": 1_000_000}
    await world.restart()
    await world.send(SPOKEN)
    assert said(world) == [REPLY, REPLY]
    assert "会变成语音" not in world.sent


async def test_the_prefix_is_the_same_with_a_voice_and_without(open_world: Open) -> None:
    heard = []
    for world in (await open_world(), await speaking(open_world)):
        await world.say("你好，今天天气怎么样")
        heard.append((world.model.requests[-1].prompt.tools, world.model.requests[-1].prompt.messages))
    assert heard[0] == heard[1]


@pytest.mark.parametrize(
    ("fault", "state"),
    [
        (ModelError("unreachable", "nobody there"), "released"),
        (ModelError("timeout", "no recording after 15 s"), "lost"),
        (ValueError("odd"), "lost"),
    ],
)
async def test_a_server_that_fails_holds_no_reply(open_world: Open, fault: Exception, state: str) -> None:
    world = await speaking(open_world)
    assert world.speaker is not None
    world.speaker.fault = fault
    await world.send(SPOKEN)
    assert said(world) == [REPLY]
    assert [row[0] for row in world.spent("speak")] == [state]
    world.speaker.fault = None
    await world.say("说给我听")
    assert said(world)[1:] == [f"〔{len(OGG)}〕"]


async def test_a_server_that_fails_again_and_again_is_left_alone_for_a_while(open_world: Open) -> None:
    world = await speaking(open_world)
    assert world.speaker is not None
    world.speaker.fault = ModelError("timeout", "slow")
    for _ in range(5):
        await world.say("说给我听")
    assert (said(world), len(world.speaker.spoken)) == ([REPLY] * 5, 3)
    world.speaker.fault = None
    await world.wait(16)
    await world.say("说给我听")
    assert said(world)[5:] == [f"〔{len(OGG)}〕"]


@pytest.mark.parametrize(
    "tables",
    [
        {"voice": {**VOICE, "day_characters": 6}},
        {"budget": {"day_money": 0.0001}},
        {"budget": {"day_tokens": 100_000, "small_at": 0.0}},
    ],
)
async def test_what_no_budget_is_left_for_is_written(open_world: Open, tables: dict[str, object]) -> None:
    world = await speaking(open_world, tables)
    await world.say("说给我听")
    assert said(world) == [REPLY]
    assert world.spent("speak") == []


async def test_a_platform_that_refuses_the_voice_message_gets_the_words(open_world: Open) -> None:
    world = await speaking(open_world)
    world.files.sends = {"voice": 10}
    await world.say("说给我听")
    assert said(world) == [REPLY]
    assert lying(world) == []


async def held(world: MediaWorld) -> None:
    """Somebody asked, and their answer is being spoken, for as long as the gate is shut."""
    assert world.speaker is not None
    world.speaker.gate = asyncio.Event()
    await world.app.ingest.accept(world.message("说给我听", external_id="m-1"))
    while not world.speaker.spoken:
        await let_others_run()


async def test_a_crash_while_it_is_spoken_costs_one_call_and_says_it_once(open_world: Open) -> None:
    world = await speaking(open_world)
    world.files.resends = False
    await held(world)
    assert world.speaker is not None
    world.speaker.gate = None
    await world.crash()
    assert said(world) == [f"〔{len(OGG)}〕"]
    assert [row[0] for row in world.spent("speak")] == ["lost", "settled"]
    assert lying(world) == []


async def test_a_crash_between_speaking_and_sending_loses_and_repeats_nothing(open_world: Open) -> None:
    world = await speaking(open_world)
    world.files.resends, world.files.broken = False, True
    await world.say("说给我听")
    assert [(one, len(lying(world))) for one in said(world)] == []
    world.files.broken = False
    await world.crash()
    await world.wait(5)
    assert (said(world), len(world.spent("speak"))) == ([f"〔{len(OGG)}〕"], 1)
    assert lying(world) == []


async def test_what_is_deleted_while_it_is_spoken_is_never_heard(open_world: Open) -> None:
    world = await speaking(open_world)
    await held(world)
    await world.app.ingest.accept(replace(world.message(""), kind="event", label="delete", target="m-1"))
    for _ in range(50):
        await let_others_run()
    assert world.speaker is not None
    assert world.speaker.gate is not None
    world.speaker.gate.set()
    await world.app.settled()
    assert (said(world), lying(world)) == ([], [])
    assert [row[0] for row in world.spent("speak")] == ["settled"]


@pytest.mark.parametrize(
    "text",
    [
        "说给我听",
        "念给我听吧",
        "唱首歌给我听",
        "唸給我聽",
        "用语音回我",
        "给我发条语音",
        "想听你的声音",
        "read it to me please",
        "send me a voice message",
        "can I hear your voice?",
    ],
)
def test_who_asks_to_hear_something(text: str) -> None:
    assert asks_aloud(text)


@pytest.mark.parametrize(
    "text",
    [
        "他念给我听的",
        "别发语音",
        "我发语音给他",
        "语音识别怎么用",
        "妈妈讲故事给我听",
        "she used to sing to me",
        "don't send me a voice message",
        "说给我听" + "啊" * 120,
    ],
)
def test_who_only_tells_of_it(text: str) -> None:
    assert not asks_aloud(text)


def test_what_is_said_of_a_text() -> None:
    assert spoken_form("**好**，\n明天见 :)❤️") == "好， 明天见 :)"


async def test_the_server_is_asked_as_it_wants_and_its_recording_taken() -> None:
    async with FakeOpenAI(lambda asked: Reply(OGG.decode()), key=KEY) as server:
        speaker = OpenAISpeaker(server.base_url, KEY, "tts", "alloy", "opus")
        assert await speaker.speak("晚安", 5.0) == OGG
        await speaker.close()
        assert server.violations == []


@pytest.mark.parametrize("fault", ["html200", "error200", "http", "hang", "cut", "broken_json"])
async def test_whatever_else_a_server_answers_is_one_clear_fault(fault: Fault) -> None:
    async with FakeOpenAI(lambda asked: Reply(fault=fault)) as server:
        speaker = OpenAISpeaker(server.base_url, "", "tts", "alloy", "opus")
        await speaker.prepare()
        with pytest.raises(ModelError) as caught:
            await speaker.speak("晚安", 0.3 if fault == "hang" else 5.0)
        await speaker.close()
    wanted = {"http": "busy", "hang": "timeout", "cut": "cut"}
    assert caught.value.fault == wanted.get(fault, "invalid")


def test_a_voice_needs_a_server_and_with_a_limit_in_money_a_price() -> None:
    def problems(**tables: object) -> tuple[str, ...]:
        return price_problems(Settings.model_validate(tables))

    far = {"base_url": "https://api.example.org/v1", "name": "m", "price_input": 1, "price_output": 1}
    assert problems(voice={"model": "tts"}) == ("voice.model: needs voice.base_url or model.base_url",)
    assert problems(voice={"model": "tts"}, model=far) == ()
    limited = {"voice": {"model": "tts"}, "model": far, "budget": {"day_money": 1.0}}
    assert problems(**limited) == ("budget.day_money: needs voice.price, what a million characters cost",)
    assert problems(**limited | {"voice": {"model": "tts", "base_url": "http://127.0.0.1:1/v1"}}) == ()
    assert problems(**limited | {"voice": {"model": "tts", "price": 15}}) == ()
    settings = Settings.model_validate({"voice": {"model": "tts", "base_url": "http://127.0.0.1:1/v1"}})
    assert make_pool(settings, lambda name: Path(__file__).parent.parent / "prompts" / name).speech is not None
