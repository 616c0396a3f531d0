"""What is set in chats, for whoever operates: shown with its place, taken back, brought over, rid of who said it."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.cli.installation import ConfigSource
from bot.config.sources import settings_shown
from bot.core.errors import ConfigError
from bot.core.people import ErasedPerson
from bot.store.schema import MIGRATIONS
from bot.store.settings import settings_in
from bot.store.sqlite.opening import _migrate, connect
from bot.store.store import DATABASE, open_store
from tests.belonging import nuan_in_thread
from tests.reloading import SERVER, Filed

SMALL = f'{SERVER.format(name="a")}[small]\nname = "b"\nprice_input = 1\nprice_output = 2\n'


async def test_an_operator_sees_and_takes_back_what_does_not_fit_any_more(tmp_path: Path) -> None:
    filed = await Filed(tmp_path, SMALL).open()
    source, data = ConfigSource(tmp_path / "nuan.toml", filed.folder, {}), filed.folder
    for words in ("model small", "max 800", "limit userday 7", "off all"):
        await filed.say(f".ai {words}")
    assert (await nuan_in_thread(filed, "unset", "model.use")).err.startswith("nuan: another nuan is answering")
    await filed.close()
    filed.write("")
    with pytest.raises(ConfigError) as refused:
        source.read()
    assert [line for line in refused.value.problems if "`nuan unset model.use` takes it back" in line]
    told = (await nuan_in_thread(filed, "unset")).out
    assert "everything is switched off, said by 小王" in told
    assert "limits.person_day = 7, said by 小王" in told
    assert (await nuan_in_thread(filed, "unset", "budget.day_money")).code == 1
    assert (await nuan_in_thread(filed, "unset", "model.use")).out.startswith(
        "taken back: model.use = small, said by 小王"
    )
    place = source.read()
    assert place.settings.model.max_output_tokens == 800
    beside = ConfigSource(tmp_path / "nuan.toml", filed.folder, {"NUAN_MODEL__MAX_OUTPUT_TOKENS": "700"}).read()
    assert beside.settings.model.max_output_tokens == 800, "what was said in a chat goes before the environment"
    shown = {one.key: one for one in settings_shown(place.settings, source.file, {}, settings_in(data / DATABASE))}
    assert (shown["model.max_output_tokens"].origin, shown["model.max_output_tokens"].name) == ("chat", "小王")
    everything = json.loads((await nuan_in_thread(filed, "unset", "--all", "--json")).out)
    assert [one["key"] for one in everything["settings"]] == ["house", "limits.person_day", "model.max_output_tokens"]
    assert source.read().settings.model.max_output_tokens == 512
    assert (await nuan_in_thread(filed, "unset")).out == "nothing is set in a chat\n"


async def test_limits_of_an_older_nuan_are_brought_over(tmp_path: Path) -> None:
    before = 29  # migrations/0030_settings.sql
    with closing(connect(tmp_path / DATABASE)) as old:
        _migrate(old, tmp_path / DATABASE, MIGRATIONS[:before])
    with closing(sqlite3.connect(tmp_path / DATABASE)) as db, db:
        said = json.dumps({"person_minute": "3", "notify": "off"})
        db.execute("INSERT INTO meta (key, value) VALUES ('limits', ?)", (said,))
    async with await open_store(tmp_path) as store:
        assert [(one.key, one.value, one.person_id) for one in await store.settings.all()] == [
            ("limits.notify", "off", None),
            ("limits.person_minute", "3", None),
        ]
    assert settings_in(tmp_path / "none.db") == ()


async def test_who_is_erased_leaves_what_they_set_and_is_told_nothing_more(filed: Filed) -> None:
    await filed.say(".ai max 800")
    await filed.say(".ai budget resetday")
    await filed.say(".ai trace on")
    ((person,),) = filed.peek.settings("person_id")
    assert isinstance(person, int)
    erased = await filed.store.people.erase(person, filed.clock.now())
    assert isinstance(erased, ErasedPerson)
    assert filed.peek.settings("key", "value", "person_id") == [("model.max_output_tokens", "800", None)]
    assert filed.peek.recounts("person_id") == [(None,)]
    assert filed.peek.traces.count() == 0
    await filed.say(".ai max")
    assert filed.replies[-1].endswith("（有人 06-12 09:00 说的）")
