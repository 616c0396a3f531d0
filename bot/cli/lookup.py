"""Whom and which chat a command line means: by number or platform:id. A name or title is answered with what bears it."""

import contextlib
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dotenv import dotenv_values
from pydantic import TypeAdapter

from bot.core.errors import NuanError, StoreError
from bot.core.people import Chat, Person, Principal
from bot.store.engine import PooledUrl
from bot.store.store import Store, open_store

STORE_URL, STORE_POOLER = "NUAN_STORE__URL", "NUAN_STORE__POOLER"

_BOOLEAN = TypeAdapter(bool)


def store_url(config: Path | None, env: Mapping[str, str]) -> str:
    """What `store.url` says, read before the rest of the configuration and without it; "" for the folder's own file.

    What cannot be read says nothing: who reads all of it tells.
    """
    path, said = config or Path("nuan.toml"), dict[str, str | None]()
    with contextlib.suppress(OSError, ValueError):
        table = tomllib.loads(path.read_text("utf-8-sig")).get("store")
        told = table if isinstance(table, dict) else {}
        said = {STORE_URL: str(told.get("url", "")), STORE_POOLER: str(told.get("pooler", ""))}
    with contextlib.suppress(OSError, ValueError):
        said |= {name.upper(): value for name, value in dotenv_values(path.parent / ".env").items()}
    said |= {name: env[name] for name in (STORE_URL, STORE_POOLER) if name in env}
    url = said.get(STORE_URL) or ""
    with contextlib.suppress(ValueError):
        return PooledUrl(url) if url and _BOOLEAN.validate_python(said.get(STORE_POOLER) or False) else url
    return url


def given_url(config: Path | None, env: Mapping[str, str]) -> str:
    """As `store_url`; NuanError where a file is given that is not there."""
    if config is not None and not config.is_file():
        raise NuanError(f"{config}: there is no such file")
    return store_url(config, env)


@dataclass(frozen=True, slots=True)
class PromptTarget:
    """Whose prompt in which chat is looked at, by ids; empty strings mean the owner's own, or the only one there is."""

    chat: str = ""
    person: str = ""


async def find_person(store: Store, wanted: str) -> int:
    """The person of a number or an account (platform:id); NuanError when there is none, with the accounts of a name."""
    number = await _person(store, wanted)
    if number is None:
        named = ", ".join(account for _, account in await store.people.accounts_named(wanted))
        if named:
            raise NuanError(f"anybody may take the name {wanted!r}: give one of {named}")
        raise NuanError(f"there is nobody {wanted!r}: give a number or platform:id")
    return number


async def find_target(store: Store, view: PromptTarget) -> tuple[Chat, Person]:
    """The chat and the person of these ids; StoreError lists what there is."""
    chats = await store.people.chats()
    number = await _person(store, view.person) if view.person else None
    wanted = _chats_of_id(chats, view.chat) if view.chat else await _chats_of(store, view.person, number, chats)
    if len(wanted) != 1:
        raise _unclear_chat(chats)
    chat = wanted[0]
    people = await _participants(store, chat)
    named = [each for each in people if each.id == number] if view.person else people
    if not named and chat.kind == "group" and number is not None:
        named = [await store.people.person(number)]  # one who wrote there, but was never answered
    if len(named) != 1 and not view.person:
        named = [person for person in people if person.is_owner]
    if len(named) != 1:
        raise await _unclear_person(store, people)
    return chat, named[0]


async def _chats_of(store: Store, wanted: str, person: int | None, chats: tuple[Chat, ...]) -> list[Chat]:
    """Where that person, or the owner, is looked at when no chat is given: in private, else where they are."""
    private = [chat for chat in chats if chat.kind == "dm"] or list(chats)
    if len(private) == 1 and not wanted:
        return private
    theirs: list[Chat] = []
    for chat in chats:
        there = await _participants(store, chat)
        if any(each.id == person if wanted else each.is_owner for each in there):
            theirs.append(chat)
    return [chat for chat in theirs if chat.kind == "dm"] or theirs or private


async def find_principal(store: Store, person: str, chat: str) -> Principal:
    """The person of an id in the chat of an id: the owner in their own private chat unless named.

    StoreError lists what there is. Nobody sits where they do not take part.
    """
    chats = await store.people.chats()
    wanted = _chats_of_id(chats, chat) if chat else [each for each in chats if each.kind == "dm"]
    if chat and len(wanted) != 1:
        raise _unclear_chat(chats)
    number = await _person(store, person) if person else None
    there = [(each, who) for each in wanted for who in await _participants(store, each)]
    found = [(where, who) for where, who in there if (who.id == number if person else who.is_owner)]
    if not found and not person and len({who.id for _, who in there}) == 1:
        found = there  # nobody else it could be
    if len({who.id for _, who in found}) != 1:
        raise await _unclear_person(store, {who.id: who for _, who in there}.values())
    where, who = found[0]
    return Principal(who.id, where.id)


async def find_chat(data: Path, wanted: str, url: str = "") -> int:
    """The number of the chat of that id, or to look at its log of that title or of who alone talks there.

    StoreError when there is none or several.
    """
    async with await open_store(data, read_only=True, url=url) as store:
        chats = await store.people.chats()
        found = {chat.id for chat in _chats_of_id(chats, wanted) or [chat for chat in chats if chat.title == wanted]}
        named = [await store.people.by_account(account) for _, account in await store.people.accounts_named(wanted)]
        if not found:
            seen = [(chat.id, await store.people.audience(chat)) for chat in chats if chat.kind == "dm"]
            found = {number for number, audience in seen if audience.alone in named}
    if len(found) != 1:
        raise _unclear_chat(chats)
    return found.pop()


async def _person(store: Store, wanted: str) -> int | None:
    """The person of a number or an account; anybody may take any name."""
    if ":" in wanted:
        return await store.people.by_account(wanted)
    return await store.people.by_number(wanted)


def _chats_of_id(chats: Iterable[Chat], wanted: str) -> list[Chat]:
    return [chat for chat in chats if wanted in (str(chat.id), f"{chat.platform}:{chat.external_id}")]


async def _participants(store: Store, chat: Chat) -> list[Person]:
    return [await store.people.person(number) for number in (await store.people.audience(chat)).person_ids]


def _unclear_chat(chats: Iterable[Chat]) -> StoreError:
    known = ", ".join(f"{chat.id} {chat.label}" for chat in chats)
    return StoreError(f"--chat: give one of: {known or 'no chat yet'}")


async def _unclear_person(store: Store, people: Iterable[Person]) -> StoreError:
    known = ", ".join([f"{person.id} {await store.people.labelled(person.id)}" for person in people])
    return StoreError(f"--person: give one of: {known or 'nobody yet'}")
