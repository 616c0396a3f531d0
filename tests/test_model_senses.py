"""What nuan gets from a model that sees or hears: a text or one clear fault, in time, and never a secret."""

import asyncio
import json

import pytest

from bot.core.errors import ModelError, ModelFault
from bot.core.files import PromptFiles
from bot.core.ports import PerceptionModel
from bot.model.client import OpenAIModel
from bot.model.offline import OfflineModel
from bot.text.catalogue import catalogue
from tests.fakes.openai_rules import Violation
from tests.fakes.openai_script import Asked, Fault, Reply
from tests.fakes.openai_senses import check_picture
from tests.fakes.openai_server import FakeOpenAI
from tests.sizes import PATIENCE_S
from tests.test_model_client import KEY, talking

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
JPEG = b"\xff\xd8\xff" + bytes(64)


async def test_a_picture_is_described_by_the_named_model_with_its_usage() -> None:
    async with talking(Reply("一只橘猫趴在窗台上。")) as (model, server):
        answer = await model.see("eyes", PNG, "image/png", "图里有什么？", 300, 5.0)
        await model.see("eyes", JPEG, "image/jpeg", "再看", 300, 5.0)
        assert server.violations == []
        sent = [json.loads(body) for body in server.bodies]
    assert answer.text == "一只橘猫趴在窗台上。"
    assert answer.usage is not None
    assert answer.usage.returned
    assert [body["model"] for body in sent] == ["eyes", "eyes"]
    assert sent[0]["messages"][0]["content"][0]["text"] == "图里有什么？"


async def test_a_description_that_reaches_its_limit_is_taken_as_far_as_it_goes() -> None:
    async with talking(Reply("一只橘猫趴在", fault="length")) as (model, _):
        answer = await model.see("eyes", PNG, "image/png", "?", 5, 5.0)
    assert answer.text == "一只橘猫趴在"


async def test_a_recording_is_transcribed_by_the_named_model() -> None:
    names: list[str] = []

    def script(asked: Asked) -> Reply:
        names.extend((str(asked.body["model"]), asked.last_user))
        return Reply(" 明天下午三点见。\n")

    async with FakeOpenAI(script, key=KEY) as server:
        model = OpenAIModel(server.base_url, KEY, "fake")
        heard = await model.listen("ears", b"OggS" + bytes(100), "voice.ogg", 5.0)
        await model.close()
        assert server.violations == []
    assert heard == "明天下午三点见。"
    assert names == ["ears", "voice.ogg"]


FAULTS: list[tuple[Fault, ModelFault]] = [
    ("html200", "invalid"),
    ("broken_json", "invalid"),
    ("cut", "cut"),
    ("http", "busy"),
    ("hang", "timeout"),
    ("error200", "invalid"),
]


@pytest.mark.parametrize(("fault", "expected"), FAULTS)
async def test_every_fault_of_listening_is_one_clear_error(fault: Fault, expected: ModelFault) -> None:
    async with talking(Reply(fault=fault)) as (model, server):
        with pytest.raises(ModelError) as caught:
            await model.listen("ears", b"OggS", "voice.ogg", 0.5 if fault == "hang" else 5.0)
        assert len(server.requests) == 1, "it must not retry"
    assert caught.value.fault == expected


@pytest.mark.parametrize(("fault", "expected"), [*FAULTS[:5], ("error200", "busy"), ("empty", "invalid")])
async def test_every_fault_of_seeing_is_one_clear_error(fault: Fault, expected: ModelFault) -> None:
    async with talking(Reply(fault=fault)) as (model, server):
        with pytest.raises(ModelError) as caught:
            await model.see("eyes", PNG, "image/png", "?", 300, 0.5 if fault == "hang" else 5.0)
        assert len(server.requests) == 1, "it must not retry"
    assert caught.value.fault == expected


async def test_a_wrong_key_is_refused_and_not_repeated_in_the_error() -> None:
    async with talking(Reply(), key="sk-another-secret-98765") as (model, _):
        with pytest.raises(ModelError) as seen:
            await model.see("eyes", PNG, "image/png", "?", 300, 5.0)
        with pytest.raises(ModelError) as heard:
            await model.listen("ears", b"OggS", "voice.ogg", 5.0)
    for error in (seen.value, heard.value):
        assert error.fault == "refused"
        assert "another-secret" not in f"{error!r} {error.said}"


async def test_the_strict_server_refuses_other_pictures_and_sounds() -> None:
    async with talking(Reply()) as (model, server):
        for picture, mime in ((PNG, "image/bmp"), (PNG, "image/jpeg"), (b"GIF8", "image/gif")):
            with pytest.raises(ModelError):
                await model.see("eyes", picture, mime, "?", 300, 5.0)
        for name in ("voice", "voice.exe"):
            with pytest.raises(ModelError):
                await model.listen("ears", b"OggS", name, 5.0)
        assert len(server.violations) == 5
    with pytest.raises(Violation):
        check_picture({"model": "eyes", "messages": [{"role": "user", "content": []}], "max_tokens": 3})


async def test_hearing_can_be_cancelled() -> None:
    async with talking(Reply(fault="hang")) as (model, server):
        call = asyncio.ensure_future(model.listen("ears", b"OggS", "voice.ogg", 60.0))
        while not server.requests:
            await asyncio.wait((call,), timeout=0.01)
        call.cancel()
        await asyncio.wait((call,))
        assert call.cancelled()
        await asyncio.wait_for(server.hung_up.wait(), PATIENCE_S)


def test_a_server_may_have_senses_and_the_offline_model_has_none() -> None:
    assert isinstance(OpenAIModel("http://127.0.0.1:9/v1", "", "x"), PerceptionModel)
    assert not isinstance(OfflineModel(catalogue(PromptFiles(None).path, "offline")), PerceptionModel)
