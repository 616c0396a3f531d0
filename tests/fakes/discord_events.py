"""Tells the gateway what happened in the world, with the intents Discord asks for it. It changes nothing."""

from collections.abc import Sequence

from tests.fakes import discord_gateway as gate
from tests.fakes import discord_payloads as shape
from tests.fakes.discord_world import DM, Channel, Guild, Json, Message, User, World


class Events:
    """One method for each event, called after the world has changed."""

    def __init__(self, world: World, gateway: gate.Gateway) -> None:
        self._world = world
        self._gateway = gateway

    def message(self, name: str, place: Channel, message: Message) -> None:
        """MESSAGE_CREATE or MESSAGE_UPDATE."""
        if place.visible:
            intent = gate.DM_MESSAGES if place.kind == DM else gate.GUILD_MESSAGES
            world = self._world
            self._gateway.dispatch(
                name, intent, place.guild, lambda content: shape.message(message, world, gateway=True, content=content)
            )

    def deleted(self, place: Channel, ids: Sequence[int], *, bulk: bool) -> None:
        """MESSAGE_DELETE for each, or one MESSAGE_DELETE_BULK."""
        intent = gate.DM_MESSAGES if place.kind == DM else gate.GUILD_MESSAGES
        if bulk:
            self._tell("MESSAGE_DELETE_BULK", place, intent, {"ids": [str(one) for one in ids]})
            return
        for one in ids:
            self._tell("MESSAGE_DELETE", place, intent, {"id": str(one)})

    def typing(self, place: Channel, who: User) -> None:
        """TYPING_START; a direct channel's has no member."""
        body: Json = {"user_id": str(who.id), "timestamp": self._world.now() // 1000}
        if place.guild is not None:
            body["member"] = shape.member(place.guild, who)
        self._tell("TYPING_START", place, gate.DM_TYPING if place.kind == DM else gate.GUILD_TYPING, body)

    def reaction(self, place: Channel, message: Message, who: User, emoji: str, *, added: bool) -> None:
        """MESSAGE_REACTION_ADD or _REMOVE."""
        body: Json = {"user_id": str(who.id), "message_id": str(message.id), "emoji": shape.emoji(emoji)}
        body |= {"burst": False, "type": 0}
        if added:
            body["message_author_id"] = str(message.author.id)
            if place.guild is not None:
                body["member"] = shape.member(place.guild, who)
        intent = gate.DM_REACTIONS if place.kind == DM else gate.GUILD_REACTIONS
        self._tell("MESSAGE_REACTION_ADD" if added else "MESSAGE_REACTION_REMOVE", place, intent, body)

    def member(self, guild: Guild, who: User, *, joined: bool) -> None:
        """GUILD_MEMBER_ADD or _REMOVE."""
        body = {"guild_id": str(guild.id)} | (shape.member(guild, who) if joined else {"user": shape.user(who)})
        if guild.has_bot:
            self._gateway.dispatch(
                "GUILD_MEMBER_ADD" if joined else "GUILD_MEMBER_REMOVE", gate.MEMBERS, guild, lambda _: body
            )

    def bot(self, guild: Guild, *, joined: bool) -> None:
        """GUILD_CREATE or GUILD_DELETE, when the bot was invited or removed."""
        if joined:
            self._gateway.dispatch("GUILD_CREATE", gate.GUILDS, guild, lambda _: shape.guild(guild, self._world))
        else:
            self._gateway.dispatch("GUILD_DELETE", gate.GUILDS, guild, lambda _: {"id": str(guild.id)})

    def channel(self, name: str, place: Channel, **more: object) -> None:
        """CHANNEL_CREATE, CHANNEL_UPDATE, THREAD_CREATE or THREAD_UPDATE."""
        if place.visible:
            self._gateway.dispatch(
                name, gate.GUILDS, place.guild, lambda _: shape.channel(place, self._world.bot) | more
            )

    def pins(self, place: Channel) -> None:
        """CHANNEL_PINS_UPDATE."""
        intent = gate.DM_MESSAGES if place.kind == DM else gate.GUILDS
        self._tell("CHANNEL_PINS_UPDATE", place, intent, {"last_pin_timestamp": shape.iso(self._world.now())})

    def interaction(self, place: Channel, body: Json) -> None:
        """INTERACTION_CREATE, which needs no intent."""
        self._gateway.dispatch("INTERACTION_CREATE", 0, place.guild, lambda _: body)

    def _tell(self, name: str, place: Channel, intent: int, body: Json) -> None:
        full = {"channel_id": str(place.id)} | body | ({"guild_id": str(place.guild.id)} if place.guild else {})
        if place.visible:
            self._gateway.dispatch(name, intent, place.guild, lambda _: full)
