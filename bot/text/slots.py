"""What the name of a slot says of its value (bot/text/slots.toml). Pure."""

import tomllib
from importlib.resources import files

from bot.text.fold import fold

_DATA = tomllib.loads(files("bot.text").joinpath("slots.toml").read_text("utf-8"))
_LASTING, _MANY, _GUARDED = (
    frozenset(map(fold, words))
    for words in (_DATA["words"]["lasting"], _DATA["other"]["many"], _DATA["other"]["guarded"])
)
_ONE: dict[str, str] = {fold(name): slot for slot, names in _DATA["one"].items() for name in (slot, *names)}
ASKED: dict[str, str] = _DATA["asked"]
"""Words by which people ask for what a slot holds and which its text need not say: 我在哪上班 for 在云栖科技做前端."""

_BY_NAME = ("favourite ", "favorite ", "current ", "最喜欢的", "最爱的", "当前", "目前的")


def slot_of(name: str) -> str:
    """The one name of a slot that has several: home for residence and 住址."""
    folded = " ".join(fold(name).replace("_", " ").split())
    return _ONE.get(folded, folded)


def lasts(slot: str) -> bool:
    """Whether it is of health, death, birth, relations, home, work, names, birthdays or allergies."""
    return fold(slot) in _LASTING or slot_of(slot) in _LASTING


def single(slot: str) -> bool:
    """Whether somebody has one value of it at a time; a favourite or current thing is one."""
    return slot in _ONE or slot.startswith(_BY_NAME)


def several(slot: str) -> bool:
    """Whether a new value of it never takes another's place by itself."""
    return slot in _MANY or slot in _GUARDED


def guarded(slot: str) -> bool:
    """Whether it is of somebody's health: what is lost of it may do harm."""
    return slot in _GUARDED
