"""`nuan unset` and `nuan reload`: settings made in chats taken back, and the files of a running nuan read anew."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC
from pathlib import Path

from bot.cli.terminal import ExitCode, json_document, print_error
from bot.core.errors import FolderLockedError, NuanError
from bot.core.inspection import CheckResult, passed
from bot.core.ports import ChatSetting, ReloadResult
from bot.ops.control import request_reload
from bot.store.settings import BOT_SWITCH, settings_in
from bot.store.store import DATABASE, LOCK, lock_folder, open_store
from bot.text.dates import local


def chat_setting_findings(folder: Path) -> tuple[CheckResult, ...]:
    """One line for each key that somebody set in a chat."""
    return tuple(passed("set in a chat", f"{_line_of(one)}: `nuan unset {one.key}`") for one in _chat_settings(folder))


async def unset(folder: Path, keys: Sequence[str], *, everything: bool, as_json: bool) -> str:
    """Take back what is set in chats, or show it when nothing is named; NuanError for a key that nobody set.

    FolderLockedError while a nuan answers from the folder: it is told in a chat.
    """
    said = {one.key: one for one in _chat_settings(folder)}
    if unknown := [key for key in keys if key not in said]:
        raise NuanError(f"{unknown[0]} is not set in a chat; set there: {', '.join(said) or 'nothing'}")
    taken = tuple(said) if everything else tuple(dict.fromkeys(keys))
    if taken:
        async with await open_store(folder) as store:
            await store.settings.put(dict.fromkeys(taken), None, 0)
    shown = [said[key] for key in taken] if taken else list(said.values())
    if as_json:
        told = [{"key": one.key, "value": one.value, "by": one.name, "at": one.at} for one in shown]
        return json_document({"taken_back": bool(taken), "settings": told})
    if not shown:
        return "nothing is set in a chat"
    return "\n".join(f"{'taken back: ' if taken else ''}{_line_of(one)}" for one in shown)


def _chat_settings(folder: Path) -> tuple[ChatSetting, ...]:
    return settings_in(folder / DATABASE)


def _line_of(one: ChatSetting) -> str:
    day = f" on {local(one.at, UTC):%Y-%m-%d}" if one.at else ""
    what = "everything is switched off" if one.key == BOT_SWITCH else f"{one.key} = {one.value}"
    return f"{what}, said by {one.name or 'somebody'}{day}"


async def reload(data: Path, *, as_json: bool) -> tuple[str, ExitCode]:
    """What was taken and the exit code; what is wrong goes to standard error. NuanError when no nuan can be asked.

    The configuration that counts is the one that the running nuan was started with; none is read here.
    """
    done = await request_reload(data)
    if done is None:
        raise NuanError(_nobody(data))
    code = ExitCode.WRONG if done.problems else ExitCode.DONE
    if as_json:
        told = {"changed": list(done.changed), "restart": list(done.restart), "problems": list(done.problems)}
        return json_document(told), code
    for problem in done.problems:
        print_error(problem)
    return "\n".join(_lines(done)), code


def _lines(done: ReloadResult) -> Iterator[str]:
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
            os.close(lock_folder(data))
        except FolderLockedError:
            return f"the nuan that uses {data} cannot be asked: send it SIGHUP, or say `.ai reload` as its owner"
    return f"no nuan answers from {data}: it reads its files when it starts; or give --data DIR"
