"""`nuan reload`: has the nuan that answers from a data folder read its files anew, and says what it took."""

import os
from collections.abc import Iterator
from pathlib import Path

from bot.cli.exits import Exit
from bot.cli.guarding import complain
from bot.cli.printing import document
from bot.errors import HeldError, NuanError
from bot.ops.agentdoor import ask_reload
from bot.store.store import LOCK, hold
from bot.types.reload import Reloaded


async def reload(data: Path, *, as_json: bool) -> tuple[str, Exit]:
    """What was taken and the exit code; what is wrong goes to standard error. NuanError when no nuan can be asked.

    The configuration that counts is the one that the running nuan was started with; none is read here.
    """
    done = await ask_reload(data)
    if done is None:
        raise NuanError(_nobody(data))
    code = Exit.WRONG if done.problems else Exit.DONE
    if as_json:
        told = {"changed": list(done.changed), "restart": list(done.restart), "problems": list(done.problems)}
        return document(told), code
    for problem in done.problems:
        complain(problem)
    return "\n".join(_lines(done)), code


def _lines(done: Reloaded) -> Iterator[str]:
    if done.problems:
        yield "nothing was taken: the running nuan goes on as it was"
        return
    taken = [name for name in done.changed if name not in done.restart]
    if taken:
        yield f"taken: {', '.join(taken)}"
    if done.restart:
        yield f"waits for a restart: {', '.join(done.restart)}"
    if not done.changed and not done.restart:
        yield "nothing has changed"


def _nobody(data: Path) -> str:
    """Why none can be asked; where there is no lock, none is made."""
    if (data / LOCK).exists():
        try:
            os.close(hold(data))
        except HeldError:
            return f"the nuan that uses {data} cannot be asked: send it SIGHUP, or say `.ai reload` as its owner"
    return f"no nuan answers from {data}: it reads its files when it starts; or give --data DIR"
