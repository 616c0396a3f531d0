"""What plugins keep: of one plugin and one chat, within limits, for the person in whose name it was kept."""

import pytest

from bot.store.joining import join_persons
from bot.store.outside import KEY_CHARS, MOST_KEYS, VALUE_CHARS
from bot.store.store import Store
from tests.contract.engines import Engine
from tests.storing import NOW, Where, ids


async def test_a_value_is_of_one_plugin_and_one_chat(store: Store) -> None:
    keep, get = store.outside.put_plugin_value, store.outside.plugin_value
    await keep("dice", 1, "last", "3", 1)
    await keep("dice", 1, "last", "5", 2)
    assert await get("dice", 1, "last") == "5"
    assert [await get(*other) for other in (("dice", 2, "last"), ("coin", 1, "last"), ("dice", 1, "first"))] == [""] * 3
    await keep("dice", 1, "last", "", 1)
    assert await get("dice", 1, "last") == ""


async def test_a_value_past_a_limit_is_refused_and_those_before_stay(store: Store) -> None:
    keep = store.outside.put_plugin_value
    for number in range(MOST_KEYS):
        await keep("dice", 1, str(number), "x" * VALUE_CHARS, 1)
    await keep("dice", 1, "0", "again", 1)
    for key, value in (("one more", "x"), ("0", "x" * (VALUE_CHARS + 1)), ("k" * (KEY_CHARS + 1), "x"), ("", "x")):
        with pytest.raises(ValueError, match=r"at most|characters"):
            await keep("dice", 1, key, value, 1)
    assert await store.outside.plugin_value("dice", 1, "0") == "again"
    await keep("dice", 2, "one more", "x", 1)


async def test_of_two_accounts_that_become_one_person_the_values_go_with_that_person(engine: Engine) -> None:
    async with await engine.open() as store:
        ann, bob = [(await ids(store, Where(name, "hall", "group"), NOW))[0] for name in ("ann", "bob")]
        await store.outside.put_plugin_value("dice", 1, "last", "secret", bob)
        await store._database.write(lambda tx: join_persons(tx, ann, bob, NOW))
        assert await store.outside.plugin_value("dice", 1, "last") == "secret"
        await store.people.erase(ann, NOW)
        assert await store.outside.plugin_value("dice", 1, "last") == ""
