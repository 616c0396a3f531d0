"""Commands that set something: one way for all of them. They store nothing themselves."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.commands.knobs import Wrong, keys_of, wanted
from bot.commands.table import Asked
from bot.config.said import Settle
from bot.config.settings import Settings
from bot.flow.words import Words
from bot.store.settings import SettingRows
from bot.text.clean import clean_name
from bot.text.clip import clip
from bot.types.said import Said, Wish

SAID_CHARS = 40
"""How much of what somebody said wrongly is said again."""

MOST_PROBLEMS = 5

Text = Callable[..., str]


@dataclass(frozen=True, slots=True)
class Setting:
    """What every command that sets something needs; `text` is (asked, key, **values) in the person's script.

    `settings` are as they were written and said. Without `settle` there is nobody who could take anything up.
    """

    said: SettingRows
    settle: Settle | None
    settings: Settings
    words: Words
    text: Text

    async def change(self, asked: Asked, wish: Wish) -> tuple[str, Settings]:
        """Have the wish carried out; why it is not ("" when it is), and the settings of afterwards."""
        if self.settle is None:
            return self.text(asked, "reload_unable"), self.settings
        done = await self.settle(wish, asked.person.id)
        if not done.problems:
            return "", done.settings
        return "\n".join((self.text(asked, "set_refused"), *done.problems[:MOST_PROBLEMS])), self.settings

    def wrong(self, asked: Asked, wrong: Wrong) -> str:
        """One line about words that set nothing."""
        return self.text(asked, "set_wrong", said=clip(clean_name(wrong.said), SAID_CHARS), example=wrong.example)

    async def lines(self, asked: Asked, settings: Settings, keys: Sequence[str]) -> list[str]:
        """Each of these keys with its value, and where that comes from."""
        said = {one.key: one for one in await self.said.all()}
        return [
            self.text(
                asked, "limits_line", name=self.text(asked, f"set_{_plain(key).replace('.', '_')}"),
                value=self._value(asked, settings, key), source=self.source(asked, said.get(key)),
            )
            for key in keys
        ]  # fmt: skip

    def source(self, asked: Asked, said: Said | None) -> str:
        """Where a value comes from: the configuration, or whoever set it in a chat, and when."""
        if said is None:
            return self.text(asked, "limits_configured")
        return self.text(
            asked, "set_by", name=said.name or self.text(asked, "set_somebody"), at=self.when(asked, said.at)
        )  # fmt: skip

    def when(self, asked: Asked, at: int) -> str:
        """A moment in the zone of whoever asks, by day and minute."""
        tz = self.words.tz(self.words.zone_of(asked.chat, asked.person))
        return f"{datetime.fromtimestamp(at / 1000, tz):%m-%d %H:%M}"

    def _value(self, asked: Asked, settings: Settings, key: str) -> str:
        section, _, name = key.partition(".")
        value = getattr(getattr(settings, section), name)
        currency = settings.budget.currency
        match value:
            case None:
                return self.text(asked, "set_public" if "price" in name else "budget_free")
            case bool():
                return self.text(asked, "limits_on" if value else "limits_off")
            case _ if name.endswith("_money"):
                return f"{value:.10g} {currency}"
            case _ if name.startswith("price"):
                return self.text(asked, "set_per_million", money=f"{value:.10g} {currency}")
            case _ if name.endswith("_chars"):
                return self.text(asked, "set_chars", n=value)
            case _:
                return f"{value} tok" if name.endswith("_tokens") else str(value)


class SetCommand:
    """`.ai max`, `.ai reply`, `.ai tools`: shows what holds, sets it, takes it back."""

    def __init__(self, name: str, setting: Setting, look: Callable[[Asked], Awaitable[str]] | None = None) -> None:
        """`look` answers who only asks, whoever that is; only owners set."""
        self._name = name
        self._setting = setting
        self._look = look

    async def run(self, asked: Asked) -> str:
        """Do what the words say, then show what holds; words that set nothing change nothing."""
        setting = self._setting
        if self._look is not None and not asked.words:
            return await self._look(asked)
        if not asked.person.is_owner:
            return setting.text(asked, "not_allowed")
        wish = wanted(self._name, asked.words, setting.settings)
        if isinstance(wish, Wrong):
            return setting.wrong(asked, wish)
        problem, settings = await setting.change(asked, wish) if wish else ("", setting.settings)
        return problem or "\n".join(await setting.lines(asked, settings, keys_of(self._name, settings)))


def _plain(key: str) -> str:
    """The key by which the catalogue names it: prices are those of whichever model answers."""
    section, _, name = key.partition(".")
    return f"model.{name}" if name.startswith("price") and section != "model" else key
