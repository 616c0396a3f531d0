"""Pictures out: the tool is there only where something draws, and draws only what a person asked for, within limits."""

import asyncio
import json
from pathlib import Path

import pytest

from bot.config.settings import Settings
from bot.core.errors import ModelError
from bot.core.models import Completion, ModelRequest
from bot.core.parts import Image
from bot.language.media import asks_picture
from bot.model.client import OpenAIPainter
from bot.pipeline.endpoints import make_pool, price_problems
from bot.text.length import tools_tokens
from tests.conftest import NewWorld
from tests.fakes.clock import let_others_run
from tests.fakes.media import PNG
from tests.fakes.model import ScriptedPainter, calls
from tests.fakes.openai_script import Fault, Reply
from tests.fakes.openai_server import FakeOpenAI
from tests.test_model_client import KEY
from tests.world import World

PROMPT = "一只橘猫趴在窗台上，水彩"
LINE = f"〔图片 {PROMPT}〕"


def drawn_first(request: ModelRequest) -> Completion | str:
    """A model that draws, and then says a word."""
    if request.prompt.messages[-1].role == "tool" or not request.prompt.tools:
        return "给你"
    return calls(("image", json.dumps({"prompt": PROMPT})))


async def drawing(new_world: NewWorld, *, budget: dict[str, object] | None = None, **image: object) -> World:
    """A nuan that can draw, on a platform that takes pictures."""
    world = await new_world(image={"model": "painter", "price": 0.04, **image}, budget=budget or {})
    world.painter = ScriptedPainter()
    world.talk.sends = {"image": 1_000_000}
    world.model.script = drawn_first
    await world.restart()
    return world


def painter(world: World) -> ScriptedPainter:
    assert world.painter is not None
    return world.painter


def spent(world: World) -> list[tuple[object, ...]]:
    return world.peek.calls("state", "cost", cause="image")


def told(world: World) -> str:
    """What the tool answered last."""
    return [message.content for message in world.prompts[-1] if message.role == "tool"][-1]


async def test_who_asks_for_a_picture_gets_it_after_the_words_and_the_log_keeps_the_prompt(
    new_world: NewWorld,
) -> None:
    world = await drawing(new_world)
    await world.say("给我画一只猫")
    words, picture = world.talk.said
    assert isinstance(picture.part, Image)
    assert (words.text, picture.content, picture.part.name) == ("给你", PNG, "picture.png")
    assert painter(world).drawn == [PROMPT]
    assert PROMPT in told(world)
    assert world.peek.events.values("text", kind="bot") == [f"给你\n{LINE}"]
    assert spent(world) == [("settled", pytest.approx(0.04))]
    assert not [*(world.folder / "parts").glob("*")]
    await world.say(".ai calls")
    assert "画图" in world.replies[-1]


async def test_nobody_gets_a_picture_who_did_not_ask_for_one(new_world: NewWorld) -> None:
    world = await drawing(new_world)
    await world.say("今天好累啊")
    await world.say("别画了", "阿明")
    assert (world.replies, painter(world).drawn, spent(world)) == (["给你", "给你"], [], [])
    assert "没有要你画图" in told(world)


async def test_a_person_gets_so_many_a_day(new_world: NewWorld) -> None:
    world = await drawing(new_world, person_day=2)
    for number in range(3):
        await world.say(f"画第{number}只猫")
    assert len(painter(world).drawn) == 2
    assert "今天已经画了 2 张" in told(world)
    await world.say("画一只狗", "阿明")
    assert len(painter(world).drawn) == 3, "others have their own"
    await world.wait(86_400)
    await world.say("再画一只猫")
    assert len(painter(world).drawn) == 4


@pytest.mark.parametrize(
    ("fault", "state", "answer"),
    [
        (ModelError("unreachable", "nobody there"), "released", "没画成"),
        (ModelError("timeout", "slow"), "lost", "没画成"),
        (ModelError("filtered", "no"), "lost", "不肯画"),
    ],
)
async def test_a_picture_that_fails_is_the_tools_answer(
    new_world: NewWorld, fault: ModelError, state: str, answer: str
) -> None:
    world = await drawing(new_world)
    painter(world).fault = fault
    await world.say("画一只猫")
    assert (world.replies, [row[0] for row in spent(world)]) == (["给你"], [state])
    assert answer in told(world)


@pytest.mark.parametrize("budget", [{"day_money": 0.01}, {"day_tokens": 1_000_000, "small_at": 0.0}])
async def test_pictures_are_the_first_thing_that_a_budget_does_without(
    new_world: NewWorld, budget: dict[str, object]
) -> None:
    world = await drawing(new_world, budget=budget)
    await world.say("画一只猫")
    assert (world.replies, spent(world)) == (["给你"], [])
    assert "预算快用完了" in told(world)


async def test_where_no_pictures_are_taken_none_is_paid(new_world: NewWorld) -> None:
    world = await drawing(new_world)
    world.talk.sends = {}
    await world.say("画一只猫")
    assert (world.replies, spent(world)) == (["给你"], [])
    assert "发不了图片" in told(world)


async def test_a_platform_that_refuses_a_picture_gets_a_line_that_names_it(new_world: NewWorld) -> None:
    world = await drawing(new_world)
    world.talk.sends = {"image": 10}
    await world.say("画一只猫")
    assert world.replies == ["给你", LINE]


async def test_a_crash_while_it_is_drawn_costs_one_call_and_sends_one_picture(new_world: NewWorld) -> None:
    world = await drawing(new_world)
    painter(world).gate = asyncio.Event()
    await world.app.ingest.accept(world.message("画一只猫"))
    while not painter(world).drawn:
        await let_others_run()
    painter(world).gate = None
    await world.crash()
    assert [type(said.part) for said in world.talk.said] == [type(None), Image]
    assert [row[0] for row in spent(world)] == ["lost", "settled"]


async def test_the_tool_costs_nothing_where_nothing_draws_and_little_where_something_does(new_world: NewWorld) -> None:
    sizes = []
    for world in (await new_world(), await drawing(new_world)):
        world.model.script = lambda request: "好的"
        await world.say("你好，今天天气怎么样")
        tools = world.model.requests[-1].prompt.tools
        sizes.append((tools_tokens(tools), "image" in [tool.name for tool in tools]))
    (without, absent), (size, there) = sizes
    assert (absent, there) == (False, True)
    assert size - without <= 70


@pytest.mark.parametrize(
    "text", ["画一只猫", "给我发张图", "換個頭像", "再来一张", "draw me a cat", "another one please"]
)
def test_who_asks_for_a_picture(text: str) -> None:
    assert asks_picture(text)


@pytest.mark.parametrize("text", ["别画了", "画面感很强", "我在图书馆", "今天好累", "don't draw anything"])
def test_who_asks_for_none(text: str) -> None:
    assert not asks_picture(text)


@pytest.mark.parametrize(("model", "asks"), [("other", True), ("gpt-image-1", False)])
async def test_the_server_is_asked_as_its_model_wants(model: str, asks: bool) -> None:
    async with FakeOpenAI(lambda asked: Reply(PNG.decode("latin-1")), key=KEY) as server:
        settings = Settings.model_validate(
            {"image": {"model": model, "base_url": server.base_url, "api_key": KEY, "size": "512x512"}}
        )
        pool = make_pool(settings, lambda name: Path(__file__).parent.parent / "prompts" / name)
        assert pool.drawing is not None
        assert await pool.drawing.painter.draw(PROMPT, 5.0) == PNG
        await pool.close()
        assert server.violations == []
        assert ("response_format" in json.loads(server.bodies[-1])) is asks


@pytest.mark.parametrize("fault", ["html200", "error200", "http", "hang", "cut", "broken_json"])
async def test_whatever_else_a_server_answers_is_one_clear_fault(fault: Fault) -> None:
    assert await failing(Reply(fault=fault)) in ("invalid", "busy", "timeout", "cut")


@pytest.mark.parametrize("text", ["https://example.org/cat.png", "no picture"])
async def test_an_address_or_what_is_no_picture_is_not_taken(text: str) -> None:
    assert await failing(Reply(text)) == "invalid"


async def failing(reply: Reply) -> str:
    """How a painter fails whose server gives that reply."""
    async with FakeOpenAI(lambda asked: reply) as server:
        made = OpenAIPainter(server.base_url, "", "other", "1024x1024")
        await made.prepare()
        with pytest.raises(ModelError) as caught:
            await made.draw(PROMPT, 0.3 if reply.fault == "hang" else 5.0)
        await made.close()
    return caught.value.fault


def test_who_draws_needs_a_server_and_with_a_limit_in_money_a_price() -> None:
    tables: dict[str, object] = {"image": {"model": "m"}}
    assert price_problems(Settings.model_validate(tables)) == ("image.model: needs image.base_url or model.base_url",)
    tables = {"image": {"model": "m", "base_url": "https://example.org/v1"}, "budget": {"day_money": 1}}
    assert price_problems(Settings.model_validate(tables)) == (
        "budget.day_money: needs image.price, what one picture costs",
    )
