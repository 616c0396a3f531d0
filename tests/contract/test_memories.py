"""Memories: who may see what, counted once for each person, found in either script, names replaced."""

from dataclasses import replace

import pytest

from bot.core.memories import Memory, Visibility
from bot.core.people import Audience, MemoryKind
from bot.store.store import Store
from bot.text.terms import weighted_query_terms
from tests.contract.engines import Engine
from tests.storing import NOW, Where, bring_back, drop, ids, keep, layers, receipt, say, searched, statement, talk

ANN, BOB = Where(), Where("bob", "dm-bob")
ANN_HERE, BOB_HERE = Where("ann", "here", "group"), Where("bob", "here", "group")
ANN_THERE, BOB_THERE = Where("ann", "there", "group"), Where("bob", "there", "group")
HOMES = (ANN, BOB, ANN_HERE, BOB_HERE)
SEEN: dict[Visibility, str] = {"private": "p", "chat": "c", "public": "o"}


def known(where: Where, seen: Visibility) -> str:
    return f"topic {where.who} {where.kind} {where.chat} {seen}"


async def everybody(store: Store) -> dict[str, Audience]:
    """Two people who keep something in every place and with every visibility; the audiences of all places."""
    audiences = {}
    for where in (*HOMES, ANN_THERE, BOB_THERE):
        person, chat, _ = await ids(store, where)
        audiences[f"{where.who} {where.chat}"] = Audience(chat, where.kind, (person,))
    for where in HOMES:
        for seen in SEEN:
            await keep(store, known(where, seen), where, seen)
    ann, bob = (audiences[key].person_ids[0] for key in ("ann dm-ann", "bob dm-bob"))
    audiences["both here"] = Audience(audiences["ann here"].chat_id, "group", (ann, bob))
    audiences["both there"] = Audience(audiences["ann there"].chat_id, "group", (ann, bob))
    audiences["nobody there"] = Audience(audiences["ann there"].chat_id, "group", ())
    audiences["two in a dm"] = Audience(audiences["ann dm-ann"].chat_id, "dm", (ann, bob))
    return audiences


def allowed(key: str) -> set[str]:
    """What ARCHITECTURE §7 lets this audience see."""
    who, place = key.split(" ", 1)
    people = {"both": ("ann", "bob"), "two": ("ann", "bob"), "nobody": ()}.get(who, (who,))
    place = "dm-ann" if who == "two" else place
    own_dm = place == f"dm-{who}"
    return {
        known(where, seen)
        for where in HOMES
        for seen in SEEN
        if (seen == "private" and own_dm and where.who == who)
        or (seen == "chat" and (where.chat == place or (own_dm and where.who == who)))
        or (seen == "public" and where.who in people)
    }


async def test_nobody_sees_what_is_not_for_them_whichever_way_they_look(store: Store) -> None:
    for key, audience in (await everybody(store)).items():
        wanted = allowed(key)
        assert {m.text for m in await layers(store, audience)} == wanted, key
        found = await searched(store, audience, "topic", "ann", "bob", "private")
        assert {each.text for each in found} == wanted, key
        for owner, name in ((1, "ann"), (2, "bob")):
            owned = {m.text for m in await store.memories.owned(owner, audience)}
            assert owned == {text for text in wanted if f" {name} " in text.replace("topic", "topic ")}, key


async def test_only_where_it_was_seen_can_it_be_brought_back_and_only_by_its_owner(store: Store) -> None:
    audiences = await everybody(store)
    mine = [(where, memory) for where in HOMES for memory in await told(store, where, audiences)]
    for where, memory in mine:
        await drop(store, memory, where)
    for where, memory in mine:
        for key, audience in audiences.items():
            last = await store.memories.forgotten(memory.owner_id or 0, audience, NOW)
            assert all(each.text in allowed(key) for each in last), key
        for who, key in (
            (BOB, "bob dm-bob"),
            (ANN, "ann dm-ann"),
            (BOB_HERE, "bob here"),
            (ANN_HERE, "ann here"),
        ):
            done = await bring_back(store, memory.id, audiences[key], who)
            assert done == (memory.text in allowed(key) and f"topic {who.who}" in memory.text), (key, memory.text)
            if done:
                await drop(store, memory, where)


async def told(store: Store, where: Where, audiences: dict[str, Audience]) -> list[Memory]:
    audience = audiences[f"{where.who} {where.chat}"]
    owned = await store.memories.owned(audience.person_ids[0], audience)
    return [memory for memory in owned if memory.text.startswith(f"topic {where.who} {where.kind} {where.chat}")]


async def test_the_same_sentence_of_two_people_is_two_memories_and_of_one_counts_up(store: Store) -> None:
    first = await keep(store, "我喜歡貓", ANN_HERE)
    assert await keep(store, "我喜欢猫", ANN_HERE) == first
    other = await keep(store, "我喜欢猫", BOB_HERE)
    assert other != first
    assert await keep(store, "我喜欢猫", ANN) not in (first, other)
    person, chat, _ = await ids(store, ANN_HERE)
    (memory,) = await store.memories.owned(person, Audience(chat, "group", (person,)))
    assert (memory.text, memory.importance, memory.asked) == ("我喜歡貓", 2, True)


async def test_told_again_after_forgetting_it_is_a_new_memory(store: Store) -> None:
    first = await keep(store, "我喜欢猫")
    person, chat, _ = await ids(store)
    audience = Audience(chat, "dm", (person,))
    await drop(store, (await store.memories.owned(person, audience))[0])
    second = await keep(store, "我喜欢猫")
    assert second > first
    assert [each.id for each in await searched(store, audience, "猫")] == [second]


@pytest.mark.parametrize("again", ["小李", "小王"])
async def test_a_new_name_replaces_the_old_one_and_a_ban_ends_it(store: Store, again: str) -> None:
    await keep(store, "小王", slot="address")
    await keep(store, again, slot="address")
    await keep(store, "小狗", slot="no_address")
    person, chat, _ = await ids(store)
    audience = Audience(chat, "dm", (person,))
    assert [(m.text, m.slot) for m in await layers(store, audience)] == [("小狗", "no_address"), (again, "address")]
    found = await searched(store, audience, *weighted_query_terms("小王 小李"))
    assert {each.text for each in found} == {again, "小狗"}
    await keep(store, again, slot="no_address")
    assert {(m.text, m.slot) for m in await layers(store, audience)} == {("小狗", "no_address"), (again, "no_address")}
    await keep(store, "小狗", slot="address")
    assert ("小狗", "address") in {(m.text, m.slot) for m in await layers(store, audience)}
    assert ("小狗", "no_address") not in {(m.text, m.slot) for m in await layers(store, audience)}


async def test_a_name_that_is_brought_back_replaces_the_one_told_since(store: Store) -> None:
    old = await keep(store, "小王", slot="address")
    person, chat, _ = await ids(store)
    audience = Audience(chat, "dm", (person,))
    await drop(store, (await store.memories.owned(person, audience))[0])
    await keep(store, "小李", slot="address")
    assert await bring_back(store, old, audience)
    assert [m.text for m in await layers(store, audience)] == ["小王"]
    assert [each.text for each in await searched(store, audience, *weighted_query_terms("小李 小王"))] == ["小王"]


@pytest.mark.parametrize("question", ["花生過敏", "花生过敏", "花生", "PEANUT", "ｐｅａｎｕｔ"])
async def test_it_is_found_in_either_script_and_case(store: Store, question: str) -> None:
    await keep(store, "我对花生过敏")
    await keep(store, "我對花生過敏嗎 Peanut")
    await keep(store, "我住在上海")
    person, chat, _ = await ids(store)
    found = await searched(store, Audience(chat, "dm", (person,)), *weighted_query_terms(question))
    assert found
    assert "我住在上海" not in [each.text for each in found]
    assert any("Peanut" in each.text for each in found)


@pytest.mark.parametrize("term", ['"', "NOT", "a OR b", "*", "(", "owner : p2", "'; DROP", "^", "-", "\x00", ""])
async def test_no_word_of_a_question_is_an_instruction_to_the_search(store: Store, term: str) -> None:
    await keep(store, "秘密 plain", BOB)
    await keep(store, "公开 plain")
    person, chat, _ = await ids(store)
    found = await searched(store, Audience(chat, "dm", (person,)), term, "plain")
    assert [each.text for each in found] == ["公开 plain"]


async def test_layers_are_newest_first_and_what_was_asked_for_is_among_them(store: Store) -> None:
    for number in range(60):
        await keep(store, f"第{number}件", at=NOW + number)
    asked = await talk(store, "你好", "好")
    wanted: tuple[tuple[str, MemoryKind], ...] = (("心情好", "emotion"), ("去了公园", "event"))
    for text, kind in wanted:
        new = statement(text, asked.turn.person_id, 1, source="digest", kind=kind)
        event = (await ids(store))[2]
        await store.memories.remember(new, receipt(event, 1, f"k{event}"), NOW)
    person, chat, _ = await ids(store)
    found = [memory.text for memory in await layers(store, Audience(chat, "dm", (person,)))]
    assert found == [*(f"第{number}件" for number in range(59, 9, -1)), "心情好", "去了公园"]


async def test_a_command_that_comes_twice_is_kept_and_confirmed_once(engine: Engine, store: Store) -> None:
    person, chat, event = await ids(store)
    once = receipt(event, chat, "event:1:0")
    texts = [
        await store.memories.remember(statement("我喜欢猫", person, chat, events=(event,)), once, NOW) for _ in range(3)
    ]
    assert texts == ["ok #1 0"] * 3
    assert engine.peek.memories.values("importance") == [1]
    assert engine.peek.outbox.values("text") == ["ok #1 0"]
    assert engine.peek.events.values("text", kind="bot") == ["ok #1 0"]


async def test_a_message_is_done_with_its_last_command_only(store: Store) -> None:
    await last_command(store)


async def last_command(store: Store) -> None:
    """Two commands in one message, the first of them repeated: one reply says both."""
    accepted = await say(store, "记住我怕狗。记住我怕猫")
    assert accepted.event is not None
    assert accepted.event.person_id is not None
    person, chat, event = accepted.event.person_id, accepted.event.chat_id, accepted.event.id
    first, last = receipt(event, chat, "k1"), receipt(event, chat, "k2")
    for _ in range(2):  # as after a crash between the two
        await store.memories.remember(statement("我怕狗", person, chat), replace(first, last=False), NOW)
        assert (await store.events.waiting(chat, NOW)).due != ()
    await store.memories.remember(statement("我怕猫", person, chat), last, NOW)
    assert (await store.events.waiting(chat, NOW)).due == ()
    assert (await store.outbox.states()) == {"pending": 1}
