"""Slash commands and buttons: what Discord is told about them, what a use of one says, where its answer goes."""

import asyncio
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import shake_256
from typing import Any

import discord
from discord.http import Route

from adapters.discord.events import PLATFORM, place, sender_of
from bot.core.events import Button, CommandSpec, Incoming, Place
from bot.core.ports import Clock
from bot.text.length import clip

Json = dict[str, Any]

GROUP, PREFIX = "ai", ".ai"
MOST_SUBCOMMANDS, ABOUT_CHARS = 25, 100
MOST_BUTTONS, LABEL_CHARS, CUSTOM_ID_CHARS = 25, 80, 100
"""Limits of Discord's API v10, as are the two above."""
TOKEN_MS = 15 * 60_000
"""How long an interaction may be answered, by Discord."""

_SUB_COMMAND, _STRING = 1, 3
_EVERYWHERE: Json = {"integration_types": [0, 1], "contexts": [0, 1, 2]}
_DISCORD_LANGUAGES = {"zh-Hans": "zh-CN", "zh-Hant": "zh-TW"}
_NAME = re.compile(r"[^\w-]+")


class Interactions:
    """What answers to interactions are sent by: handles, from which any process of the bot makes the interaction again,
    and which of those that came here Discord was told of.

    A handle holds the interaction's token, which is worth 15 minutes, encrypted by the bot's.
    """

    def __init__(self, clock: Clock, bot_token: str) -> None:
        self._clock = clock
        self._bot_token = bot_token
        self._told: dict[str, tuple[int, asyncio.Future[bool]]] = {}

    def handle(self, interaction: discord.Interaction[Any]) -> str:
        """Where its answer goes, as text."""
        number = str(interaction.id)
        return f"{number}:{urlsafe_b64encode(self._encrypted(interaction.token.encode(), number)).decode()}"

    def find(self, handle: str, client: discord.Client) -> discord.Interaction[Any] | None:
        """The interaction of a handle, as far as it takes to answer it; None where it is none."""
        number, _, token = handle.partition(":")
        if not (number.isdecimal() and token and client.application_id):
            return None
        given: Json = {"id": number, "type": 2, "version": 1, "attachment_size_limit": 0}
        given["application_id"] = str(client.application_id)
        given["token"] = self._encrypted(urlsafe_b64decode(token), number).decode(errors="replace")
        return discord.Interaction(data=given, state=client._connection)  # type: ignore[arg-type]  # noqa: SLF001

    def begin(self, handle: str) -> "asyncio.Future[bool]":
        """Discord is about to be told that one arrived; the result is to be whether it was."""
        now = self._clock.now()
        self._told = {key: one for key, one in self._told.items() if now - one[0] < TOKEN_MS}
        told = asyncio.get_running_loop().create_future()
        self._told[handle] = now, told
        return told

    async def told(self, handle: str) -> bool | None:
        """Whether Discord was told that it arrived, once that is known; None when that was another process's to do."""
        found = self._told.get(handle)
        return None if found is None else await asyncio.shield(found[1])

    def _encrypted(self, text: bytes, number: str) -> bytes:
        """Done twice it is the text again: each interaction has a pad of its own, which nobody makes without the token."""
        pad = shake_256(f"{self._bot_token} {number}".encode()).digest(len(text))
        return bytes(one ^ other for one, other in zip(text, pad, strict=True))


def payload(commands: Iterable[CommandSpec]) -> list[Json]:
    """The commands as Discord wants them: `.ai …` as subcommands of their groups, the others on their own."""
    groups: dict[str, list[Json]] = {}
    top: list[Json] = []
    for spec in commands:
        body = {"name": _name(spec.name), **_about(spec), "options": _options(spec)}
        if group := _group(spec):
            groups.setdefault(group, []).append({"type": _SUB_COMMAND, **body})
        else:
            top.append({"type": 1, **body, **_EVERYWHERE})
    return [
        {"type": 1, "name": name, "description": PREFIX, "options": inner[:MOST_SUBCOMMANDS], **_EVERYWHERE}
        for name, inner in groups.items()
    ] + top


async def sync(client: discord.Client, commands: Sequence[CommandSpec]) -> bool:
    """Make Discord's list equal to ours, by one request and only when they differ; True when it was sent."""
    application = client.application_id
    if application is None:
        return False
    wanted = payload(commands)
    route = Route("GET", "/applications/{application_id}/commands", application_id=application)
    there: list[Json] = await client.http.request(route, params={"with_localizations": "true"})
    if _same(there, wanted):
        return False
    await client.http.bulk_upsert_global_commands(application, payload=wanted)
    return True


def interaction_event(
    interaction: discord.Interaction[Any], commands: Iterable[CommandSpec], bot_id: int, handle: str
) -> Incoming | None:
    """What a use of a command or button says, to be answered by the handle; None for unknown ones and for a button made
    for somebody else."""
    data: Mapping[str, Any] = dict(interaction.data or {})
    match interaction.type:
        case discord.InteractionType.application_command:
            text = _command_text(data, commands)
        case discord.InteractionType.component:
            text = Button.pressed(str(data.get("custom_id", "")), str(interaction.user.id))
        case _:
            text = ""
    where = place_of(interaction)
    if not text or where is None:
        return None
    return Incoming(
        where,
        sender_of(interaction.user),
        "message",
        text,
        delivery_key=f"{bot_id}:i{interaction.id}",
        mentions_bot=True,
        via=handle,
    )


def place_of(interaction: discord.Interaction[Any]) -> Place | None:
    """Where it was used; a direct channel of two other people is a group to us."""
    if interaction.channel_id is None:
        return None
    found = place(interaction.channel, interaction.channel_id, interaction.guild_id)
    others = interaction.context.private_channel and interaction.guild_id is None
    return Place(PLATFORM, found.external_id, "group") if others else found


def view_of(buttons: Sequence[Button]) -> discord.ui.View | None:
    """The buttons of a message. A press comes as an interaction with the account and the text, also after a restart."""
    view = discord.ui.View(timeout=None)
    seen: set[str] = set()
    for button in buttons:
        custom_id = button.data
        if len(custom_id) <= CUSTOM_ID_CHARS and custom_id not in seen and len(seen) < MOST_BUTTONS:
            seen.add(custom_id)
            label = clip(button.label, LABEL_CHARS)
            view.add_item(discord.ui.Button(label=label, custom_id=custom_id))
    view.stop()  # the library need not keep it: presses are read from the interaction itself
    return view if seen else None


def account_id(account: str) -> str:
    """The account's number, also of "discord:number"."""
    return account.removeprefix(f"{PLATFORM}:")


def _command_text(data: Mapping[str, Any], commands: Iterable[CommandSpec]) -> str:
    name, options = str(data.get("name", "")), list(data.get("options") or ())
    group = name if options and options[0].get("type") == _SUB_COMMAND else ""
    if group:
        name, options = str(options[0].get("name", "")), list(options[0].get("options") or ())
    for spec in commands:
        if _name(spec.name) == name and _group(spec) == group:
            words = (str(option.get("value", "")).strip() for option in options)
            return " ".join((spec.says.strip(), *(word for word in words if word)))
    return ""


def _group(spec: CommandSpec) -> str:
    """The command that it is a subcommand of, "" for one on its own."""
    return (spec.under or GROUP) if spec.says == PREFIX or spec.says.startswith(f"{PREFIX} ") else ""


def _name(name: str) -> str:
    """The name below its group, in the letters that Discord takes."""
    return _NAME.sub("-", name.strip().lower().removeprefix(f"{GROUP} "))[:32]


def _about(spec: CommandSpec) -> Json:
    about = {language: clip(text, ABOUT_CHARS) for language, text in spec.about}
    default = about.get("en") or next(iter(about.values()), spec.says)
    local = {theirs: about[ours] for ours, theirs in _DISCORD_LANGUAGES.items() if ours in about}
    return {"description": default, **({"description_localizations": local} if local else {})}


def _options(spec: CommandSpec) -> list[Json]:
    if spec.shape == "none":
        return []
    name = "text" if spec.shape == "text" else "words"
    # What may follow is shown as it is said; in words again it would count twice towards the 8,000 of a command.
    about = {"description": clip(spec.arguments, ABOUT_CHARS)} if spec.arguments else _about(spec)
    return [{"type": _STRING, "name": name, **about, "required": spec.shape == "text"}]


def _same(there: Iterable[Json], wanted: Iterable[Json]) -> bool:
    return sorted(map(_comparable, there), key=str) == sorted(map(_comparable, wanted), key=str)


def _comparable(command: Json) -> Json:
    """What we say of a command, without what Discord adds."""
    return {
        "type": command.get("type", 1),
        "name": command.get("name"),
        "description": command.get("description"),
        "localizations": dict(sorted((command.get("description_localizations") or {}).items())),
        "required": bool(command.get("required")),
        "options": [_comparable(option) for option in command.get("options") or ()],
        "installs": sorted(command.get("integration_types") or ()),
        "contexts": sorted(command.get("contexts") or ()),
    }
