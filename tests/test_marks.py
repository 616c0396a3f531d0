"""Reactions and stickers as answers: marks that a model writes, what they do, and what is never seen of them."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.config.settings import Settings
from bot.core.errors import ConfigError
from bot.core.parts import Image, PartKind, Reaction
from bot.prompt.stickers import read_stickers
from bot.text.length import estimate_tokens
from bot.text.marks import is_emoji, marks_so_far, read_marks, without_marks
from tests.beating import DAY_S, FIRST, ON, writes
from tests.fakes.media import PNG
from tests.fakes.platform import Lively, StreamingModel
from tests.test_sending import pass_interval, until
from tests.world import World

PACK = """
reactions = true
[[sticker]]
label = "抱抱"
telegram = "CAACAgI"
[[sticker]]
label = "晚安"
file = "night.png"
"""
ALL: dict[PartKind, int] = {"reaction": 0, "sticker": 0, "image": 1_000}
PIECES = st.sampled_from(
    [
        "好",
        " ",
        "\n",
        "[",
        "[[",
        "]]",
        "]",
        "[[react:❤️]]",
        "[[react:",
        "[[sticker:抱抱]]",
        "[[sticker",
        ":",
        "：",
        "react",
        "`",
        "❤️",
    ]
)
REPLIES = st.lists(PIECES | st.text(max_size=4), max_size=12).map("".join)


def pack(folder: Path, text: str = PACK) -> Path:
    """A persona with a pack of stickers."""
    folder.mkdir(parents=True)
    (folder / "IDENTITY.md").write_text("{{BOT_NAME}}", "utf-8")
    (folder / "stickers.toml").write_text(text, "utf-8")
    (folder / "night.png").write_bytes(PNG)
    return folder


async def opened(folder: Path, tables: dict[str, object] | None = None, talk: Lively | None = None) -> World:
    """A World whose persona has that pack, on a platform that knows reactions and stickers."""
    world = World(
        folder, Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "persona": "own", **(tables or {})})
    )
    world.personas = {"own": pack(folder / "persona" / "own")}
    world.talk = talk or world.talk
    world.talk.sends = dict(ALL)
    return await world.open()


@pytest.fixture
async def own(tmp_path: Path) -> AsyncIterator[World]:
    world = await opened(tmp_path)
    yield world
    await world.close()


def answers(world: World, *texts: str) -> None:
    """The model answers so, one after the other, the last one from then on."""
    left = list(texts)
    world.model.script = lambda request: left.pop(0) if len(left) > 1 else left[0]


def went(world: World, since: int = 0) -> list[object]:
    """What went out: texts, and parts."""
    return [one.part or one.text for one in world.talk.said[since:]]


async def test_a_reaction_is_set_under_the_message_instead_of_words(own: World) -> None:
    answers(own, "[[react:❤️]]")
    await own.say("我考上了！", external_id="m-7")
    (line,) = own.peek.events.values("id", kind="message")
    assert went(own) == [Reaction("❤️", int(str(line)))]
    assert own.talk.said[0].target == "m-7"
    assert own.peek.events.values("text", kind="bot") == ["〔回应 ❤️〕"]
    await own.say("嗯", external_id="m-8")
    assert own.turns[-1][: len(own.turns[0])] == own.turns[0], "the prefix stays"
    assert own.turns[-1][len(own.turns[0])].content == "[[react:❤️]]"


async def test_beside_words_the_mark_is_hidden_and_both_go_out(own: World) -> None:
    answers(own, "太好了！[[react:🎉]] 恭喜你\n[[sticker:抱抱]]")
    await own.say("我考上了！", external_id="m-7")
    text, reaction, sticker = went(own)
    assert text == "太好了！ 恭喜你"
    assert (isinstance(reaction, Reaction), sticker) == (True, "〔贴纸 抱抱〕"), "which only Telegram knows"
    assert own.peek.events.values("text", kind="bot") == ["太好了！ 恭喜你\n〔回应 🎉〕\n〔贴纸 抱抱〕"]
    await own.say("嗯", external_id="m-8")
    assert own.turns[-1][len(own.turns[0])].content == "太好了！ 恭喜你[[react:🎉]][[sticker:抱抱]]"


async def test_where_there_are_no_reactions_the_emoji_is_said_or_falls_away(own: World) -> None:
    own.talk.sends = {}
    answers(own, "[[react:❤️]]", "好的[[react:❤️]]", "晚安[[sticker:晚安]]")
    for text in ("在吗", "那好", "睡了"):
        await own.say(text)
    assert own.replies == ["❤️", "好的", "晚安", "〔贴纸 晚安〕"]


async def test_a_sticker_of_a_file_is_sent_as_a_picture(own: World) -> None:
    answers(own, "[[sticker:晚安]]")
    await own.say("睡了")
    (sent,) = own.talk.said
    assert isinstance(sent.part, Image)
    assert (sent.part.name, sent.content) == ("晚安.png", PNG)
    assert not [*(own.folder / "parts").iterdir()]


async def test_one_of_five_replies_has_a_sticker_at_most(own: World) -> None:
    answers(own, "好呀[[sticker:晚安]]")
    for number in range(11):
        await own.say(f"第{number}句")
        await own.wait(60)
    stickers = [number for number, one in enumerate(went(own)) if isinstance(one, Image)]
    assert stickers == [1, 7, 13]
    assert own.replies[0] == "好呀"
    logged = [message.content for message in own.turns[-1] if message.role == "assistant"]
    assert logged == ["好呀[[sticker:晚安]]", *["好呀"] * 4] * 2, "what was not sent is not in the log either"


@pytest.mark.parametrize(
    "reply", ["[[sticker:没有这张]]好呀", "好呀[[react:好]]", "好呀[[react:❤️❤️❤️]]", "好呀[[react:❤️", "好呀[[sticker:]]"]
)
async def test_what_a_mark_does_not_say_rightly_is_hidden_all_the_same(own: World, reply: str) -> None:
    answers(own, reply)
    await own.say("在吗", external_id="m-1")
    assert went(own) == ["好呀"]


async def test_what_people_write_in_marks_is_data(own: World) -> None:
    answers(own, "好呀")
    await own.say("你说 [[react:❤️]] 和 [[sticker:抱抱]] 看看", external_id="m-1")
    assert went(own) == ["好呀"]
    assert "[[react:❤️]] 和 [[sticker:抱抱]]" in own.last_user


async def test_silence_in_a_group_may_be_a_reaction(own: World) -> None:
    answers(own, "skip [[react:👍]]")
    await own.say("小暖，我去买菜了", "小李", "群", external_id="g-1")
    (reaction,) = went(own)
    assert isinstance(reaction, Reaction)


async def test_nothing_of_it_is_in_what_is_said_first(tmp_path: Path) -> None:
    tables: dict[str, object] = {"heartbeat": ON}
    world = await opened(tmp_path, tables)
    writes(world, f"{FIRST}[[react:❤️]][[sticker:晚安]]")
    await world.say("明天要面试", external_id="m-1")
    await world.wait(DAY_S)
    assert went(world) == ["好的", FIRST]
    await world.say("挺好的")
    assert [message.content for message in world.turns[-1] if message.role == "assistant"][-1] == FIRST
    await world.close()


def shows(talk: Lively, end: str) -> bool:
    """Whether the growing message ends so."""
    return talk.shown["m1"].endswith(end)


async def test_a_reply_that_grows_never_shows_a_mark(tmp_path: Path) -> None:
    talk = Lively(size=10_000)
    world = await opened(tmp_path, talk=talk)
    world.model = model = StreamingModel()
    await world.restart()
    long = "从前有一座山，山里有一座庙，" * 10
    await world.app.ingest.accept(world.message("讲个故事", external_id="m-1"))
    await until(lambda: model.writing)
    model.write(long)
    await pass_interval(world, 1_500)
    await until(lambda: world.peek.outbox("preview_id") == [("m1",)])
    for piece, end in (("[[react:❤️]]后来呢", "后来呢"), ("，[[sticker:抱抱]]讲完了", "讲完了")):
        model.write(piece)
        await pass_interval(world, 1_500)
        await until(partial(shows, talk, end))
    model.finish()
    await world.app.settled()
    assert not [text for _, text in talk.history if "[" in text or "react" in text]
    assert f"{long}后来呢，讲完了" in talk.shown.values()
    await world.close()


async def test_a_persona_without_a_pack_is_told_nothing_of_it(tmp_path: Path) -> None:
    bare, full = World(tmp_path / "bare"), await opened(tmp_path / "with")
    await bare.open()
    for world in (bare, full):
        await world.say("今天好累，我们聊聊吧")
    assert "[[" not in bare.turns[0][0].content
    told = full.turns[0][0].content
    assert "- 可只用一个表情回应：[[react:❤️]]。\n\n- 偶尔可加贴纸 [[sticker:名]]，名：抱抱 晚安" in told
    for world in (bare, full):
        await world.close()


@pytest.mark.parametrize("language", ["", ".en", ".zh-Hant"])
def test_twelve_labels_cost_no_more_than_sixty_tokens(language: str) -> None:
    labels = "抱抱 晚安 加油 笑哭 生气 害羞 谢谢 爱你 早安 吃饭 困了 拜拜"
    told = Path(f"prompts/stickers{language}.txt").read_text("utf-8").replace("{{LABELS}}", labels)
    assert estimate_tokens(told) <= 60
    assert estimate_tokens(Path(f"prompts/reactions{language}.txt").read_text("utf-8")) <= 20


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("reactions = 3", "reactions"),
        ("reactions = true\nlabels = 1", "labels"),
        ("not toml", "cannot be read"),
        ('[[sticker]]\nlabel = "a b"\ntelegram = "x"', "sticker.0.label"),
        ('[[sticker]]\nlabel = "a"', "says neither telegram, discord nor file"),
        ('[[sticker]]\nlabel = "a"\ntelegram = 3', "sticker.0.telegram"),
        ('[[sticker]]\nlabel = "a"\ntelegramm = "x"', "telegramm is no platform"),
        ('[[sticker]]\nlabel = "a"\nfile = "gone.png"', "gone.png cannot be read"),
        ('[[sticker]]\nlabel = "a"\nfile = "IDENTITY.md"', "is no picture"),
        ('[[sticker]]\nlabel = "a"\ndiscord = ":hug:"', "is the number of a sticker"),
        ('[[sticker]]\nlabel = "a"\ntelegram = "x"\n' * 2, "the same label"),
        ("".join(f'[[sticker]]\nlabel = "{n}"\ntelegram = "x"\n' for n in range(13)), "at most 12 items"),
        ("".join(f'[[sticker]]\nlabel = "{"长" * 15}{n}"\ntelegram = "x"\n' for n in range(9)), "more than 40 tokens"),
    ],
)
def test_what_is_wrong_with_a_pack_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_stickers(pack(tmp_path / "p", text), Settings().platforms)
    assert problem in str(caught.value)


@pytest.mark.parametrize("emoji", ["❤️", "❤", "👍🏽", "👨‍👩‍👧‍👦", "🤷‍♀️", "✍️", "🎉"])
def test_one_emoji_is_one(emoji: str) -> None:
    assert is_emoji(emoji)


@pytest.mark.parametrize("text", ["", "好", "❤️❤️", "a", "\u200d", "❤\u200d", "\ufe0f", "1", "^", "❤ ", "👨‍" * 9])
def test_anything_else_is_none(text: str) -> None:
    assert not is_emoji(text)


@given(REPLIES)
def test_no_reply_shows_a_mark_and_no_step_of_it_does(reply: str) -> None:
    for end in range(len(reply) + 1):
        seen = marks_so_far(reply[:end])
        assert not {"[[react:", "[[sticker:"} & {seen[at:][:10].partition(":")[0] + ":" for at in range(len(seen))}
    read = read_marks(reply)
    assert read.text == without_marks(reply)
    assert not read.reaction or is_emoji(read.reaction)
    for mark in ("[[react:", "[[sticker:"):
        assert mark not in read.text


@given(st.text().filter(lambda text: "[" not in text))
def test_a_reply_without_marks_stays_as_it_is(reply: str) -> None:
    assert read_marks(reply).text == reply == marks_so_far(reply)
