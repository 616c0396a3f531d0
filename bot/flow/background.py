"""Whether the model may be called for something nobody waits for: configuration first, then the owner's switch."""

from bot.config.background import Background, Source
from bot.store.switches import Switches


class BackgroundGate:
    """The gate before every call in the background (seed AI Chat Pipeline, C43)."""

    def __init__(self, switches: Switches, rules: Background) -> None:
        self._switches = switches
        self._rules = rules

    async def allows(self, source: Source) -> bool:
        """Whether that source may call now."""
        return source in self._rules.sources and await self.is_on()

    async def is_on(self) -> bool:
        """Whether background calls are on at all."""
        return self._rules.on and await self._switches.background()

    @property
    def configured(self) -> bool:
        """Whether the configuration lets anything call."""
        return self._rules.on and bool(self._rules.sources)

    @property
    def sources(self) -> tuple[str, ...]:
        """What may call while it is on."""
        return self._rules.sources

    async def switch(self, on: bool) -> None:
        """Remember the owner's word, across restarts; what the configuration switched off stays off."""
        await self._switches.switch_background(on)
