"""A store behind a pooler in transaction mode (store.pooler): nothing that it does lasts longer than a transaction."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bot.cli.lookup import store_url
from bot.core.errors import StoreError
from bot.store.engine import PooledUrl
from bot.store.postgres.backups import dump
from bot.store.postgres.connection import PostgresTx
from bot.store.postgres.opening import WritingTx
from tests import servers
from tests.fakes.pooler import Pooler

pytestmark = pytest.mark.postgres


@pytest.fixture
def pooler(tmp_path: Path) -> Iterator[Pooler]:
    with Pooler(servers.lend(tmp_path / "data")) as pooler:
        yield pooler
    servers.take_back()


def test_without_the_setting_statements_that_were_prepared_are_missing(pooler: Pooler) -> None:
    """What the pooler is for in these tests: it does not hide what lasts for a session."""
    with closing(PostgresTx(pooler.url)) as tx, pytest.raises(tx.failures, match="prepared statement"):
        tuple(tx.value("SELECT count(*) FROM chat WHERE id > ?", number) for number in range(12))


def test_what_needs_the_server_itself_says_so_and_does_nothing(pooler: Pooler, tmp_path: Path) -> None:
    url = PooledUrl(pooler.url)
    with pytest.raises(StoreError, match="NUAN_STORE__POOLER=false"):
        WritingTx(url)
    with pytest.raises(StoreError, match="NUAN_STORE__POOLER=false"):
        dump(url, tmp_path / "nuan.dump")
    assert not [*tmp_path.glob("*.dump*")]


def test_a_command_that_reads_only_the_address_knows_of_the_pooler(tmp_path: Path) -> None:
    config, url = tmp_path / "nuan.toml", "postgresql://nuan@db.example/nuan"
    config.write_text(f'[store]\nurl = "{url}"\npooler = true\n')
    assert isinstance(store_url(config, {}), PooledUrl)
    assert store_url(config, {}) == url
    assert not isinstance(store_url(config, {"NUAN_STORE__POOLER": "false"}), PooledUrl)
