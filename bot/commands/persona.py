"""`.ai persona`: which persona nuan is in the chat it is asked in."""

from collections.abc import Callable

from bot.commands.nearest import hint
from bot.commands.table import Asked
from bot.prompt.personas import Personas
from bot.store.switches import Switches
from bot.text.clean import clean_name
from bot.text.clip import clip

NAME_CHARS = 32


class PersonaCommand:
    """Shows and sets the persona of a chat; its next turn begins a new log on it."""

    def __init__(self, switches: Switches, personas: Personas, text: Callable[..., str]) -> None:
        """`text` is (asked, key, **values) in the person's script."""
        self._switches = switches
        self._personas = personas
        self._text = text

    async def run(self, asked: Asked) -> str:
        """The answer to `.ai persona …`; a choice is stored before it is confirmed."""
        known = self._personas.known
        match asked.words:
            case ():
                return self._now(asked)
            case (name,) if name in known:
                await self._switches.set_persona(asked.chat.id, name)
                return self._text(asked, "persona_set", name=name)
            case ("reset",):
                await self._switches.set_persona(asked.chat.id, "")
                return self._text(asked, "persona_set", name=self._personas.default)
            case _:
                return self._unknown(asked, " ".join(asked.words))

    def _now(self, asked: Asked) -> str:
        chosen = asked.chat.persona
        name = self._personas.name(chosen)
        origin = self._text(asked, "context_own" if chosen == name else "context_configured")
        others = ", ".join(sorted(each for each in self._personas.known if each != name))
        return self._text(asked, "persona_now" if others else "persona_only", name=name, origin=origin, list=others)

    def _unknown(self, asked: Asked, wanted: str) -> str:
        name, near = clip(clean_name(wanted), NAME_CHARS), self._personas.near(wanted)
        listed = ", ".join(sorted(self._personas.known))
        told = self._text(asked, "persona_near" if near else "persona_unknown", name=name, near=near, list=listed)
        return told if near else told + hint(asked, "persona", self._text)
