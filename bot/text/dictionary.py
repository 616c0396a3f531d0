"""jieba, which cuts Chinese into words, with its dictionary as a mapped table: 500,000 words as objects of Python are
70 MB and .7 s, as a table 6 MB that is read where it is needed. It cuts as jieba does."""

import os
import subprocess
import sys
import warnings
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Protocol, overload

from bot.lazy_packages import loading_without
from bot.text.tables import keep_tables_in, read_table_file, table_folder

NAMES = ("ns", "nt", "j")
"""The marks of places, organisations and names cut short in the dictionary."""

TABLE = "words"
ABSENT = -1
KEY_BYTES, GROUP_BYTES = 8, 2
GROUPS = 1 << 8 * GROUP_BYTES
MAKING_S = 60
"""How long the table may take to be made, seconds: it takes one or two."""
REMEMBERED = 4096
"""Words looked up last: a sentence asks for each of its own three times."""


class WordTable:
    """What jieba's dictionary knows of a word, by a number of 64 bits that stands for it, in order.

    The number is the word's first eight bytes in UTF-16, or of a longer word the first two and a hash of all; words of
    the same first character lie together. It answers as the `dict` does that jieba makes: a word that only begins
    others occurs 0 times.
    """

    def __init__(self, table: memoryview) -> None:
        """Of what `made_of` made."""
        head = (GROUPS + 2) * 8
        self._first = table[:head].cast("Q")
        self.total: int = self._first[GROUPS + 1]
        """How often all words occur together."""
        keys = head + self._first[GROUPS] * KEY_BYTES
        self._keys = table[head:keys].cast("Q")
        self._values = table[keys:].cast("I")
        self._value = lru_cache(REMEMBERED)(self._find)

    @staticmethod
    def made_of(times: dict[str, int], names: frozenset[str], total: int) -> bytes:
        """Its bytes: where the words of each first character begin, the numbers of all words, how often they occur."""
        values = {_key(word): count << 1 | (word in names) for word, count in times.items()}
        keys = array("Q", sorted(values))
        begins = (bisect_left(keys, group << 8 * (KEY_BYTES - GROUP_BYTES)) for group in range(GROUPS))
        first = array("Q", (*begins, len(keys), total))
        return b"".join((first.tobytes(), keys.tobytes(), array("I", map(values.__getitem__, keys)).tobytes()))

    @overload
    def get(self, word: str) -> int | None: ...
    @overload
    def get(self, word: str, default: int) -> int: ...
    def get(self, word: str, default: int | None = None) -> int | None:
        """How often a word occurs; `default` for what no word begins with."""
        value = self._value(word)
        return default if value == ABSENT else value >> 1

    def __contains__(self, word: str) -> bool:
        return self._value(word) != ABSENT

    def __getitem__(self, word: str) -> int:
        value = self._value(word)
        if value == ABSENT:
            raise KeyError(word)
        return value >> 1

    def is_name(self, word: str) -> bool:
        """Whether it is marked as the name of a place or an organisation."""
        value = self._value(word)
        return value != ABSENT and bool(value & 1)

    def _find(self, word: str) -> int:
        key = _key(word)
        group = key >> 8 * (KEY_BYTES - GROUP_BYTES)
        end = self._first[group + 1]
        at = bisect_left(self._keys, key, self._first[group], end)
        return self._values[at] if at < end and self._keys[at] == key else ABSENT


def _key(word: str) -> int:
    raw = word.encode("utf-16-be", "surrogatepass")
    if len(raw) > KEY_BYTES:
        raw = raw[:GROUP_BYTES] + blake2b(raw, digest_size=KEY_BYTES - GROUP_BYTES).digest()
    return int.from_bytes(raw.ljust(KEY_BYTES, b"\0"), "big")


class Cutter(Protocol):
    """What is used of jieba."""

    FREQ: WordTable

    def cut_for_search(self, sentence: str) -> Iterator[str]: ...

    def cut(self, sentence: str, *, HMM: bool) -> Iterator[str]: ...  # noqa: N803 — jieba's name


def prepare_table() -> None:
    """Have the table made by a process of its own where none is kept: making it leaves 30 MB to the one that does.

    Where that cannot be done `cutter` makes it.
    """
    folder = table_folder(TABLE)
    if folder is not None and not cutter.cache_info().currsize:
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(  # noqa: S603 - our own interpreter, with a folder that the operator named
                # What this process imports, and not what lies where it was started (-P).
                [sys.executable, "-P", "-m", __name__, str(folder)],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
                timeout=MAKING_S,
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )


@cache
def cutter() -> Cutter:
    """jieba's own, ready to cut; the first call may make the table (about 1.5 s; call it in a thread)."""
    # It can do without pkg_resources, whose import looks through all that is installed.
    with warnings.catch_warnings(), loading_without("pkg_resources"):
        warnings.simplefilter("ignore")  # jieba 0.42.1 has invalid escapes
        import jieba

    jieba_cutter = jieba.Tokenizer()
    dictionary = Path(jieba.__file__).with_name("dict.txt")

    def make() -> bytes:
        lines = (line.split(" ") for line in dictionary.read_text("utf-8").splitlines())
        names = frozenset(word for word, _, mark in lines if mark[:2] in NAMES)
        with dictionary.open("rb") as file:
            times, total = jieba_cutter.gen_pfdict(file)
        return WordTable.made_of(times, names, total)

    jieba_cutter.FREQ = WordTable(read_table_file(TABLE, (dictionary,), make))
    jieba_cutter.total, jieba_cutter.initialized = jieba_cutter.FREQ.total, True
    ready: Cutter = jieba_cutter
    return ready


if __name__ == "__main__":
    keep_tables_in(Path(sys.argv[1]))
    cutter()
