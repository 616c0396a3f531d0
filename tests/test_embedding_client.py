"""What nuan gets from a server of embeddings: one vector a text, or one clear fault, in time, and never a crash."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.errors import ModelError, ModelFault
from bot.model.client import OpenAIEmbedder, read_embeddings
from tests.fakes.embedding_server import FakeEmbeddings, Vectors, meaning_of

KEY = "sk-embedding-0123456789"
PLENTY_S = 60.0
"""No machine is so busy that an answer of the server beside the test takes as long."""
PETS = meaning_of({"狗": 0, "dog": 0, "猫": 1, "cat": 1})


@asynccontextmanager
async def asking(
    answer: Vectors | None = None, dimensions: int | None = None, key: str = KEY
) -> AsyncIterator[tuple[OpenAIEmbedder, FakeEmbeddings]]:
    """A client of the real library at a server that answers so."""
    said = answer or Vectors()
    async with FakeEmbeddings(PETS, lambda texts: said, key=KEY) as server:
        client = OpenAIEmbedder(server.base_url, key, "meaning", dimensions)
        try:
            yield client, server
        finally:
            await client.close()


def rows(vectors: tuple[bytes, ...]) -> list[list[float]]:
    return [np.frombuffer(vector, "<f4").tolist() for vector in vectors]


async def test_each_text_gets_its_vector_of_length_one_and_the_server_is_asked_for_plain_numbers() -> None:
    async with asking() as (client, server):
        found = await client.embed(["my dog and my cat", "猫"], PLENTY_S)
        assert server.broken == []
        assert server.asked.inputs == [["my dog and my cat", "猫"]]
    assert rows(found.vectors) == [pytest.approx([0.5**0.5, 0.5**0.5, *[0.0] * 6]), [0.0, 1.0, *[0.0] * 6]]
    assert (found.dimensions, found.tokens) == (8, 18)


async def test_dimensions_are_asked_for_and_checked() -> None:
    async with asking(dimensions=4) as (client, _):
        assert (await client.embed(["dog"], PLENTY_S)).dimensions == 4
    async with asking(dimensions=16) as (client, _):
        with pytest.raises(ModelError, match="8 dimensions, asked for were 16"):
            await client.embed(["dog"], PLENTY_S)


def spoilt(change: Callable[[list[dict[str, object]]], object]) -> Vectors:
    """An answer whose data are changed so."""

    def spoil(body: dict[str, object]) -> object:
        data = body["data"]
        assert isinstance(data, list)
        changed = change(data)
        return {**body, "data": data if changed is None else changed}

    return Vectors(change=spoil)


def put(value: object) -> Vectors:
    return spoilt(lambda data: data[1].update(embedding=value))


WRONG = {
    "one too few": spoilt(lambda data: data[:1]),
    "one too many": spoilt(lambda data: [*data, data[0]]),
    "no list": spoilt(lambda data: {"0": data[0]}),
    "none": spoilt(lambda data: "null"),
    "the same number twice": spoilt(lambda data: data[1].update(index=0)),
    "a number beyond": spoilt(lambda data: data[1].update(index=7)),
    "another length": put([1.0, 2.0]),
    "no number at all": put([float("nan")] * 8),
    "infinity": put([1.0, float("inf"), *[0.0] * 6]),
    "beyond float32": put([10**400, *[0.0] * 7]),
    "zeros": put([0.0] * 8),
    "texts": put(["0.1"] * 8),
    "nulls": put([None] * 8),
    "true": put([True] * 8),
    "nested": put([[0.1]] * 8),
    "base64 all the same": put("AACAPwAAgD8="),
    "empty": spoilt(lambda data: [each | {"embedding": []} for each in data]),
    "a bare list": Vectors(change=lambda body: [body]),
    "an error with status 200": Vectors(change=lambda body: {"error": {"message": "no such model", "type": "x"}}),
}


@pytest.mark.parametrize("name", WRONG)
async def test_an_answer_that_is_not_right_is_a_fault_and_no_vector(name: str) -> None:
    async with asking(WRONG[name]) as (client, _):
        with pytest.raises(ModelError) as caught:
            await client.embed(["dog", "cat"], PLENTY_S)
    assert caught.value.fault == "invalid"


FAULTS: list[tuple[Vectors, ModelFault, float | None]] = [
    (Vectors("http", 429, 7), "busy", 7.0),
    (Vectors("http", 503), "busy", None),
    (Vectors("http", 404), "refused", None),
    (Vectors("http", 400), "refused", None),
    (Vectors("html200"), "invalid", None),
    (Vectors("cut"), "cut", None),
    (Vectors("broken_json"), "invalid", None),
    (Vectors("hang"), "timeout", None),
    (Vectors("reset"), "cut", None),
    (Vectors("context_overflow"), "overflow", None),
    (Vectors("drip"), "timeout", None),
]


@pytest.mark.parametrize(("answer", "fault", "wait"), FAULTS)
async def test_a_server_that_fails_is_one_fault_in_time(answer: Vectors, fault: ModelFault, wait: float | None) -> None:
    async with asking(answer) as (client, server):
        await client.prepare()
        with pytest.raises(ModelError) as caught:
            await client.embed(["dog"], 0.3 if fault == "timeout" else PLENTY_S)
        assert len(server.asked.inputs) == 1, "it does not try again by itself"
    assert (caught.value.fault, caught.value.wait_s) == (fault, wait)


async def test_a_wrong_key_is_refused_and_never_told() -> None:
    async with asking(key="sk-wrong-9876543210") as (client, _):
        with pytest.raises(ModelError) as caught:
            await client.embed(["dog"], PLENTY_S)
    assert caught.value.fault == "refused"
    assert "9876543210" not in f"{caught.value} {caught.value.said}"


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    async with asking() as (client, server):
        server._server.close()  # type: ignore[union-attr]
        with pytest.raises(ModelError) as caught:
            await client.embed(["dog"], PLENTY_S)
        await client.close()
    assert caught.value.fault in ("unreachable", "cut")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("data", "embedding", "index", "usage", "prompt_tokens", "error")), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@settings(max_examples=15)
@given(JSON | st.builds(lambda rows: {"data": [{"index": 0, "embedding": rows}]}, JSON), st.none() | st.integers(1, 3))
def test_whatever_comes_is_vectors_or_a_model_error(body: object, dimensions: int | None) -> None:
    try:
        found = read_embeddings(json.dumps(body).encode(), 1, dimensions)
    except ModelError:
        return
    assert len(found.vectors) == 1
    assert np.isclose(np.linalg.norm(np.frombuffer(found.vectors[0], "<f4")), 1.0, atol=1e-4)


@given(st.binary(max_size=60))
def test_whatever_bytes_come_are_a_model_error(raw: bytes) -> None:
    with pytest.raises(ModelError):
        read_embeddings(raw, 2, None)
