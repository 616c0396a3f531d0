"""The tables of libraries: what is mapped says the same as the library, and a bad file is made anew."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.text.dictionary import cutter
from bot.text.fold import fold, simplified
from bot.text.tables import keep_tables_in, read_table_file, table_folder
from bot.text.terms import NO_NAMES, proper_names
from tests.fork_server import TABLES
from tests.sizes import is_full, sized
from tests.source import ROOT

SENTENCES, WORDS, EACH = sized(3_000), sized(50_000), 1 if is_full() else 7
"""Sentences of any words, words that are none, and of those of the dictionary one in so many."""
HAN = st.characters(min_codepoint=0x4E00, max_codepoint=0x9FD5)


@cache
def jieba_itself() -> Any:
    """As it is without us."""
    import jieba

    found = jieba.Tokenizer()
    found.FREQ, found.total = found.gen_pfdict(found.get_dict_file())
    found.initialized = True
    return found


@cache
def marks_itself() -> Any:
    """jieba's marks as they are without us."""
    import jieba.posseg

    return jieba.posseg.POSTokenizer(jieba_itself())


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Where tables are kept meanwhile."""
    keep_tables_in(tmp_path / "cache")
    yield tmp_path / "cache"
    keep_tables_in(TABLES)


def sentences() -> Iterator[str]:
    """Lines of our own texts, and words of the dictionary in any order, also cut off in their middle."""
    for path in (*sorted(ROOT.glob("prompts/**/zh-*.toml")), ROOT / "README.zh.md"):
        yield from path.read_text("utf-8").splitlines()
    chance, words = random.Random(3), list(jieba_itself().FREQ)
    for _ in range(SENTENCES):
        yield "".join(chance.choices(words, k=chance.randrange(1, 9)))


def same(text: str) -> bool:
    """Whether both cut it alike, in each of the ways that are used."""
    ours, theirs = cutter(), jieba_itself()
    search = list(ours.cut_for_search(text)) == list(theirs.cut_for_search(text))
    return search and list(ours.cut(text, HMM=False)) == list(theirs.cut(text, HMM=False))


def test_the_table_holds_all_words_of_the_dictionary_and_no_other() -> None:
    ours, theirs = cutter().FREQ, jieba_itself().FREQ
    assert all(ours[word] == times for word, times in islice(theirs.items(), None, None, EACH))
    others = (
        word + end for word in random.Random(5).sample(list(theirs), WORDS) for end in ("的", "龘", "a", "\ud800")
    )
    assert all((word in ours) == (word in theirs) and ours.get(word, 7) == theirs.get(word, 7) for word in others)
    assert ("" in ours, ours.get(""), cutter().FREQ.total) == (False, None, jieba_itself().total)
    with pytest.raises(KeyError):
        ours["龘龘龘"]


def test_sentences_are_cut_as_jieba_cuts_them() -> None:
    assert [text for text in sentences() if not same(text)] == []


@given(st.text(st.one_of(HAN, st.characters()), max_size=40))
def test_any_text_is_cut_as_jieba_cuts_it(text: str) -> None:
    assert same(text)


def test_names_are_those_that_jieba_marks() -> None:
    def marked(text: str) -> list[str]:
        pairs = ((pair.word, pair.flag) for pair in marks_itself().cut(text, HMM=False))
        return [
            word for word, flag in pairs if len(word) > 1 and flag[:2] in ("ns", "nt", "j") and word not in NO_NAMES
        ]

    assert [text for text in map(fold, sentences()) if proper_names(text) != marked(text)] == []


def test_characters_are_simplified_as_opencc_does() -> None:
    import opencc

    convert = opencc.OpenCC("t2s").convert
    chars = [chr(point) for points in (range(0x3400, 0xA000), range(0x20000, 0x323B0)) for point in points]
    plain = convert(convert("\n".join(chars))).split("\n")
    expected = {ord(char): other for char, other in zip(chars, plain, strict=True) if char != other}
    assert simplified() == expected


def test_a_table_is_made_once(folder: Path) -> None:
    folder.parent.joinpath("source").write_bytes(b"1")
    made: list[bytes] = []

    def read(content: bytes) -> bytes:
        def make() -> bytes:
            made.append(content)
            return content

        return bytes(read_table_file("t", [folder.parent / "source"], make))

    assert [read(b"one"), read(b"two")] == [b"one", b"one"]
    folder.parent.joinpath("source").write_bytes(b"2")
    assert read(b"three") == b"three", "the library has another"
    kept = folder / "t.bin"
    whole = kept.read_bytes()
    for damaged in (whole[:-1], whole[:10], b"", whole[:-1] + b"x", b"x" + whole[1:]):
        kept.write_bytes(damaged)
        assert read(b"four") == b"four", "damaged"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert made == [b"one", b"three", *[b"four"] * 5]


def test_a_process_of_its_own_makes_the_table_of_words_once_and_imports_nothing_from_where_nuan_was_started(
    tmp_path: Path,
) -> None:
    (tmp_path / "array.py").write_text("from pathlib import Path\nPath('imported').touch()\n")
    program = "import sys; from pathlib import Path; from bot.text import dictionary as d, tables as t; "
    program += "t.keep_tables_in(Path('cache')); d.prepare_table(); assert 'jieba' not in sys.modules; "
    program += "words = Path('cache/words.bin'); made = words.stat().st_ino; d.prepare_table(); "
    program += "list(d.cutter().cut('天气', HMM=False)); assert made == words.stat().st_ino, 'made once'"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-P", "-c", program], check=True, cwd=tmp_path, env=environment)
    assert not (tmp_path / "imported").exists()
    assert (tmp_path / "cache" / "words.bin").read_bytes() == (TABLES / "words.bin").read_bytes()


def test_where_nothing_can_be_kept_the_table_is_there_nevertheless(tmp_path: Path, folder: Path) -> None:
    keep_tables_in(tmp_path / "away" / "cache")
    assert bytes(read_table_file("t", [], lambda: b"x")) == b"x"
    assert not (tmp_path / "away").exists(), "a command that looks makes no data folder"
    (tmp_path / "file").write_text("")
    keep_tables_in(tmp_path / "file" / "cache")
    assert bytes(read_table_file("t", [], lambda: b"x")) == b"x"
    keep_tables_in(tmp_path / "file")
    assert bytes(read_table_file("t", [], lambda: b"x")) == b"x"
    assert table_folder("t") is None, "no other process makes it for nothing"
