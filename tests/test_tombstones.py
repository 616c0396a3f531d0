"""Tombstones: what was forgotten for good is known again, by no text and over restarts and power cuts."""

from pathlib import Path

import pytest

from bot.core.errors import StoreError
from bot.store.files import KeptInFolder, Tombstones
from tests.storing import NOW, in_files

CANARY = "zwk7731"
SECRET = f"我的门禁卡号是{CANARY}"


def test_tombstones_hold_no_text_outlive_the_process_and_are_lifted_by_a_fresh_wish(tmp_path: Path) -> None:
    stones = Tombstones(KeptInFolder(tmp_path))
    assert not stones.covers(SECRET)
    stones.add_tombstones([(1, SECRET)], NOW)
    stones.add_tombstones([(2, "我喜歡貓")], NOW)
    assert in_files(tmp_path, CANARY) == []
    assert in_files(tmp_path, "喜歡") == []
    again = Tombstones(KeptInFolder(tmp_path))
    assert again.covers(SECRET.upper())
    assert again.covers("我喜欢猫")
    assert not again.covers("我喜欢狗")
    again.remove_tombstone("我喜欢猫", NOW)
    assert not Tombstones(KeptInFolder(tmp_path)).covers("我喜歡貓")
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_half_a_tombstone_from_a_power_cut_hurts_neither_the_others_nor_the_next(tmp_path: Path) -> None:
    stones = Tombstones(KeptInFolder(tmp_path))
    stones.add_tombstones([(1, "甲")], NOW)
    with (tmp_path / "tombstones.jsonl").open("ab") as file:
        file.write(b'{"id": 2, "mac": ["abc"]}\n{"id": 2, "mac": "abc')
    again = Tombstones(KeptInFolder(tmp_path))
    again.add_tombstones([(3, "乙")], NOW)
    last = Tombstones(KeptInFolder(tmp_path))
    assert last.covers("甲")
    assert last.covers("乙")


def test_tombstones_without_their_key_are_an_error_not_a_silence(tmp_path: Path) -> None:
    Tombstones(KeptInFolder(tmp_path)).add_tombstones([(1, "甲")], NOW)
    (tmp_path / "tombstones.key").unlink()
    with pytest.raises(StoreError, match=r"tombstones\.key"):
        Tombstones(KeptInFolder(tmp_path))
