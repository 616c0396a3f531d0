"""`.ai limit`: how often people are answered, as the owner sees and changes it. It counts nothing."""

from collections.abc import Callable, Mapping

from bot.commands.table import Asked
from bot.config.limits import DAY_S, MOST, TalkLimits
from bot.config.load import LIVE
from bot.flow.limiting import current
from bot.ports import Clock
from bot.store.settings import SettingRows
from bot.store.switches import Switches

NUMBERS = {
    "cooldown": ("cooldown_seconds", DAY_S),
    "usermin": ("person_minute", MOST),
    "userday": ("person_day", MOST),
    "globalmin": ("global_minute", MOST),
    "globalday": ("global_day", MOST),
}
"""Words of the command: the key of the configuration, and the most it may be; 0, off and none are no limit."""

NO_LIMIT = ("0", "off", "none")


class LimitCommand:
    """Shows the limits and remembers the owner's word."""

    def __init__(
        self, switches: Switches, said: SettingRows, clock: Clock, rules: TalkLimits, text: Callable[..., str]
    ) -> None:  # fmt: skip
        self._switches = switches
        self._said = said
        self._clock = clock
        self._rules = rules
        self._text = text

    async def run(self, asked: Asked) -> str:
        """Do what the words say, then show what holds; words that nobody knows change nothing."""
        words = tuple(word.lower() for word in asked.words)
        said = None if words == ("reset",) else wanted(words)
        if said is None and words != ("reset",):
            return self._text(asked, "limits_words")
        if said != {}:
            wish = dict.fromkeys(TalkLimits.model_fields) if said is None else said
            keyed = {f"{LIVE}{key}": value for key, value in wish.items()}
            await self._said.put(keyed, asked.person.id, self._clock.now())
        return await self._show(asked)

    async def _show(self, asked: Asked) -> str:
        rules, said = await current(self._switches, self._rules), await self._switches.limits()
        lines = []
        for key in TalkLimits.model_fields:
            value: int | bool | None = getattr(rules, key)
            match value:
                case None:
                    shown = self._text(asked, "budget_free")
                case bool():
                    shown = self._text(asked, "limits_on" if value else "limits_off")
                case _:
                    shown = self._text(
                        asked, "limits_seconds" if key == "cooldown_seconds" else "limits_times", n=value
                    )
            source = self._text(asked, "limits_owner" if key in said else "limits_configured")
            lines.append(self._text(asked, "limits_line", name=self._text(asked, f"limits_{key}"), value=shown,
                                    source=source))  # fmt: skip
        return "\n".join(lines)


def wanted(words: tuple[str, ...]) -> Mapping[str, str] | None:
    """What the words set, by key of the configuration; empty: they only ask; None: nobody knows them."""
    match words:
        case () | ("show",):
            return {}
        case ("off",):
            return {key: "none" for key, _ in NUMBERS.values()}
        case ("notify", "on" | "off" as value):
            return {"notify": value}
        case (name, value) if name in NUMBERS:
            key, most = NUMBERS[name]
            if value in NO_LIMIT:
                return {key: "none"}
            if not (value.isascii() and value.isdigit() and int(value[:20])):
                return None
            return {key: str(min(int(value[:20]), most))}
        case _:
            return None
