"""`.ai reload`: what it did, in one line, or everything that is wrong. It reads nothing itself."""

from collections.abc import Callable

from bot.commands.table import Asked
from bot.types.reload import Reload


class ReloadCommand:
    """Has configuration, persona and prompts read anew."""

    def __init__(self, reload: Reload | None, text: Callable[..., str]) -> None:
        self._reload = reload
        self._text = text

    async def run(self, asked: Asked) -> str:
        """Do it and say what has changed."""
        if self._reload is None:
            return self._text(asked, "reload_unable")
        done = await self._reload()
        if done.problems:
            return "\n".join((self._text(asked, "reload_refused"), *done.problems))
        taken = [name for name in done.changed if name not in done.restart]
        said = self._text(asked, "reload_done", changed=", ".join(taken)) if taken else ""
        if not done.changed:
            said = self._text(asked, "reload_nothing")
        waits = self._text(asked, "reload_restart", keys=", ".join(done.restart)) if done.restart else ""
        return "\n".join(line for line in (said, waits) if line)
