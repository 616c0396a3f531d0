"""A World with more people than its model has slots: time passes while most of them wait. It decides nothing."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from bot.config.settings import Settings
from bot.core.models import Completion, ModelRequest
from tests.fakes.clock import let_others_run
from tests.slow import STEPS, SlowModel, SlowWorld

NAME = re.compile(r"【在场】(人\d+)")


class CrowdModel(SlowModel):
    """Notes when each call began, and for how long it worked for each 人 of a number, ms."""

    def __init__(self, world: "Crowd", takes_ms: Callable[[], int]) -> None:
        super().__init__(world, takes_ms)
        self.begun_at: list[int] = []
        self.worked_ms: Counter[str] = Counter()
        self._clock = world

    async def complete(self, request: ModelRequest) -> Completion:
        """As any slow one."""
        begun = self._clock.clock.now()
        self.begun_at.append(begun)
        try:
            return await super().complete(request)
        finally:
            found = NAME.search("".join(message.content for message in request.prompt.messages))
            self.worked_ms[found[1] if found else ""] += self._clock.clock.now() - begun


class Crowd(SlowWorld):
    """Who waits for a slot does not move."""

    def __init__(self, folder: Path, settings: Settings, *, takes_ms: Callable[[], int]) -> None:
        super().__init__(folder, settings, takes_ms=takes_ms)
        self.slow: CrowdModel = CrowdModel(self, takes_ms)
        self.model = self.slow

    @property
    def waiting(self) -> int:
        """How many turns wait for a slot."""
        slots = self.app._services.session_closer._digest_maker._writer._caller._slots
        return sum(len(places) for queue in (slots._people, slots._behind) for places in queue.values())

    async def quiet(self) -> None:
        """Return when nothing moves any more but calls that take their time, and those that wait for one."""
        for _ in range(STEPS):
            await let_others_run()
        while self.app._activity._count > self.waiting:
            await let_others_run()
