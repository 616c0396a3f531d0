"""Slash commands and buttons: what Discord is told about them, what a use of one says, where its answer goes."""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
TOKEN_MS = 14 * 60_000
"""How long an interaction may be answered: 15 minutes by Discord, less one for clocks and slow networks."""

_SUB_COMMAND, _STRING = 1, 3
_EVERYWHERE: Json = {"integration_types": [0, 1], "contexts": [0, 1, 2]}
_DISCORD_LANGUAGES = {"zh-Hans": "zh-CN", "zh-Hant": "zh-TW"}
_NAME = re.compile(r"[^\w-]+")


@dataclass(slots=True)
class PendingInteraction:
    """An interaction: its token lives only in memory, `answers` are message ids by outbox row.

    `deferred` tells whether Discord took it that an answer will come.
    """

    interaction: discord.Interaction[Any]
    since: int
    deferred: asyncio.Future[bool]
    answers: dict[int, int] = field(default_factory=dict)

    async def told(self) -> bool:
        """Whether it can be answered, once that is known."""
        return await asyncio.shield(self.deferred)


class Interactions:
    """The interactions that may still be answered, by their id."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._pending: dict[str, PendingInteraction] = {}

    def keep(self, interaction: discord.Interaction[Any]) -> PendingInteraction:
        """Remember one that is about to be deferred, and forget those whose time is over."""
        now = self._clock.now()
        self._pending = {key: one for key, one in self._pending.items() if now - one.since < TOKEN_MS}
        found = PendingInteraction(interaction, now, asyncio.get_running_loop().create_future())
        self._pending[str(interaction.id)] = found
        return found

    def find(self, handle: str) -> PendingInteraction | None:
        """That one, or None when it is unknown or can be answered no more."""
        found = self._pending.get(handle)
        return found if found is not None and self._clock.now() - found.since < TOKEN_MS else None

    def drop(self, handle: str) -> None:
        """Forget one that Discord does not know any more."""
        self._pending.pop(handle, None)


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
    interaction: discord.Interaction[Any], commands: Iterable[CommandSpec], bot_id: int
) -> Incoming | None:
    """What a use of a command or button says; None for unknown ones and for a button made for somebody else."""
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
    handle = str(interaction.id)
    return Incoming(
        where,
        sender_of(interaction.user),
        "message",
        text,
        delivery_key=f"{bot_id}:i{handle}",
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
