"""What the adapters, and the modules themselves, hold after very many chats were seen and written to once."""

import sys
from collections.abc import Collection
from types import ModuleType

from telegram.error import RetryAfter

from adapters.discord import Shards
from adapters.discord.channels import ChannelQueues
from adapters.telegram.sending import ProgressKind, RateLimited, RateLimiter, RateLimits
from bot.core.events import Incoming, Place
from tests.discord_support import Lines
from tests.fakes.clock import SimClock, let_others_run
from tests.torture.growth import SIZED, Where, contained

AT_ONCE = 500
APART_MS = 45
"""Between two messages to different chats: as many as Telegram lets through."""


class Sea:
    """A sink that takes everything, and a past in which nothing happened."""

    taken = 0

    async def accept(self, incoming: Incoming) -> bool:
        """It is stored."""
        self.taken += 1
        return True

    async def newest(self, place: Place) -> str:
        """None was."""
        return ""

    async def recent(self, place: Place, limit: int) -> tuple[str, ...]:
        """None were."""
        return ()

    async def places(self, platform: str) -> tuple[Place, ...]:
        """None."""
        return ()

    def typing(self, place: Place, account: str) -> None:
        """Nobody looks."""

    async def missed(self, there: Place, after: str) -> tuple[Incoming, ...]:
        """Nothing."""
        return ()

    async def changed(self, there: Place, stored: Collection[str]) -> tuple[Incoming, ...]:
        """Nothing."""
        return ()


async def on_telegram(chats: int) -> dict[Where, int]:
    """Every chat is sent a preview and a message, and a few of them are told to wait."""
    clock = SimClock(0)
    pace = RateLimiter(clock, RateLimits(), 1_000, 1_000)

    async def sent() -> None:
        pass

    async def told_to_wait() -> None:
        raise RetryAfter(3)

    for number in range(chats):
        data: dict[str, object] = {"chat_id": number if number % 2 else -number - 1}
        steps: tuple[tuple[str, ProgressKind | None], ...] = (("sendMessageDraft", "draft"), ("sendMessage", None))
        for endpoint, hurry in steps:
            waits = endpoint == "sendMessage" and number % 997 == 0
            try:
                await pace.process_request(told_to_wait if waits else sent, (), {}, endpoint, data, hurry)
            except (RetryAfter, RateLimited):
                pass
            await clock.advance(APART_MS, let_others_run)
    return contained(pace, "Pace")


async def on_discord(chats: int) -> tuple[dict[Where, int], int]:
    """Every channel says one thing; and how many were taken."""
    sea = Sea()
    queues = ChannelQueues(sea, sea, SimClock(0), Lines(), Shards())
    queues.connected(0)
    for begin in range(0, chats, AT_ONCE):
        for number in range(begin, min(chats, begin + AT_ONCE)):
            where = Place("discord", str(number), "group")
            queues.put(Incoming(where, None, "message", "hi", delivery_key=f"{number}", external_id=f"{number}"))
        while sea.taken < min(chats, begin + AT_ONCE):
            await let_others_run()
        await let_others_run()
    held = contained(queues, "ChannelQueues")
    await queues.close()
    return held, sea.taken


def of_modules() -> dict[Where, int]:
    """Containers that stand in a module of the program, and functions' own caches."""
    found: dict[Where, int] = {}
    for name, module in list(sys.modules.items()):
        if isinstance(module, ModuleType) and name.partition(".")[0] in ("bot", "adapters"):
            for key, value in vars(module).items():
                if key.startswith("__"):
                    continue
                if isinstance(value, SIZED):
                    found[(id(value), f"{name}.{key}")] = len(value)
                elif callable(size := getattr(value, "cache_info", None)):
                    found[(id(value), f"{name}.{key}")] = size().currsize
    return found
