"""`nuan reload`: the nuan that runs on a data folder is asked to reload, and what it says is the answer."""

import asyncio
import json
from pathlib import Path

import pytest

from bot.cli.mcp import change_handler
from bot.core.errors import StoreError
from bot.ops.control import SOCKET, control_socket, request_reload
from tests.belonging import nuan_in_thread
from tests.reloading import Filed


async def test_reload_is_carried_out_by_the_nuan_that_runs_and_says_what_it_took(tmp_path: Path) -> None:
    filed = await Filed(tmp_path).open()
    keeping = asyncio.create_task(filed.reloader.keep())
    try:
        async with control_socket(filed.folder, change_handler(filed.app), filed.log, filed.reloader.ask):
            await filed.say("你好")
            assert (await nuan_in_thread(filed, "reload")).out == "nothing has changed\n"
            filed.write('[log]\nlevel = "debug"\n[input]\nmax_chars = 9\n')
            said = await nuan_in_thread(filed, "reload")
            assert (said.code, said.err) == (0, ""), said
            assert said.out == "taken: input.max_chars\nwaits for a restart: log.level\n"
            filed.write('[input]\nmax_chars = "x"\n[session]\nidle = 1\n')
            said = await nuan_in_thread(filed, "reload")
            assert (said.code, said.out) == (2, "nothing was taken: the running nuan goes on as it was\n")
            assert {line.split(":")[1] for line in said.err.splitlines()} == {" input.max_chars", " session.idle"}
            said = await nuan_in_thread(filed, "reload", "--json")
            told = json.loads(said.out)
            assert (said.code, said.err, told["changed"], len(told["problems"])) == (2, "", [], 2)
            assert filed.app.parts.current.settings.input.max_chars == 9
            keeping.cancel()
            await asyncio.wait((keeping,))
            assert "stopping" in (await nuan_in_thread(filed, "reload")).err
        said = await nuan_in_thread(filed, "reload")
        assert (said.code, said.out) == (1, "")
        assert said.err.endswith("cannot be asked: send it SIGHUP, or say `.ai reload` as its owner\n")
    finally:
        keeping.cancel()
        await filed.close()
    said = await nuan_in_thread(filed, "reload")
    assert (said.code, said.out, "no nuan answers from" in said.err) == (1, "", True)


async def test_a_nuan_that_says_nothing_about_a_reload_is_no_success(tmp_path: Path) -> None:
    async def older(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.close()

    async with await asyncio.start_unix_server(older, tmp_path / SOCKET):
        with pytest.raises(StoreError, match="did not say what became of it"):
            await request_reload(tmp_path)
    assert await request_reload(tmp_path / ("x" * 120)) is None
