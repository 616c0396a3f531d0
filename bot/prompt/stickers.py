"""What a persona may answer with besides words: emoji reactions and a pack of stickers, from a file of its folder."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.config.base import PlatformSettings
from bot.core.errors import ConfigError
from bot.core.parts import Sticker
from bot.text.files import picture_mime
from bot.text.fold import fold
from bot.text.length import estimate_tokens

PACK_FILE = "stickers.toml"

MOST_STICKERS, LABEL_CHARS = 12, 16
LABELS_TOKENS = 40
"""Of all labels together: every prompt has them."""

MOST_BYTES = 1_000_000
"""Of the picture of a sticker."""

REST_TURNS = 4
"""Replies after one with a sticker that have none."""


class _Sticker(BaseModel):
    """`file` is a picture; each other key is a platform, with what it calls the sticker."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str]

    label: str = Field(min_length=1, max_length=LABEL_CHARS, pattern=r"^[^\[\]\s:：]+$")
    file: str = ""


class _Pack(BaseModel):
    model_config = ConfigDict(extra="forbid")

    reactions: bool = False
    sticker: list[_Sticker] = Field(default=[], max_length=MOST_STICKERS)


@dataclass(frozen=True, slots=True)
class PackedSticker:
    """A sticker as platforms know it, by their names, and as a picture; no path where there is none."""

    label: str
    known: Mapping[str, str]
    picture: Path | None = None

    def on(self, platform: str) -> Sticker | None:
        """As that platform knows it; None where it does not."""
        name = self.known.get(platform)
        return Sticker(self.label, name) if name else None


@dataclass(frozen=True, slots=True)
class StickerPack:
    """Whether a persona reacts with emoji, and its stickers."""

    reactions: bool = False
    stickers: tuple[PackedSticker, ...] = ()

    def named(self, label: str) -> PackedSticker | None:
        """The sticker of that label."""
        return next((one for one in self.stickers if fold(one.label) == fold(label)), None)

    @property
    def labels(self) -> str:
        """All of them, as the model is told."""
        return " ".join(one.label for one in self.stickers)


NO_PACK = StickerPack()


def read_stickers(persona: Path, platforms: Mapping[str, PlatformSettings]) -> StickerPack:
    """The pack of a persona for the platforms there are, an empty one without a file.

    ConfigError names all that is wrong with it.
    """
    path = persona / PACK_FILE
    if not path.is_file():
        return NO_PACK
    try:
        pack = _Pack.model_validate(tomllib.loads(path.read_text("utf-8-sig")))
    except (OSError, ValueError) as error:
        raise ConfigError(tuple(f"persona: {PACK_FILE}: {problem}" for problem in _problems(error))) from error
    stickers = tuple(
        PackedSticker(one.label, one.__pydantic_extra__, persona / one.file if one.file else None)
        for one in pack.sticker
    )
    found = StickerPack(pack.reactions, stickers)
    problems = [f"persona: {PACK_FILE}: {problem}" for problem in _wrong(found, platforms)]
    if problems:
        raise ConfigError(tuple(problems))
    return found


def _problems(error: Exception) -> list[str]:
    if not isinstance(error, ValidationError):
        return [f"cannot be read ({error})"]
    return [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_url=False)]


def _wrong(pack: StickerPack, platforms: Mapping[str, PlatformSettings]) -> list[str]:
    having = {name: platform for name, platform in platforms.items() if platform.sticker_form}
    problems: list[str] = []
    folded = [fold(one.label) for one in pack.stickers]
    if len(set(folded)) < len(folded):
        problems.append("two stickers have the same label")
    if estimate_tokens(pack.labels) > LABELS_TOKENS:
        problems.append(f"the labels have more than {LABELS_TOKENS} tokens, which every prompt would pay for")
    for one in pack.stickers:
        if not (any(one.known.values()) or one.picture):
            problems.append(f"{one.label!r} says neither {', '.join(having)} nor file")
        for name, known in one.known.items():
            if name not in having:
                problems.append(f"{one.label!r}: {name} is no platform with stickers")
            elif known and not re.fullmatch(having[name].sticker_form, known):
                problems.append(f"{one.label!r}: {name} is {having[name].sticker_help}")
        if one.picture is not None and (why := _unfit(one.picture)):
            problems.append(f"{one.label!r}: {one.picture.name} {why}")
    return problems


def _unfit(picture: Path) -> str:
    """Why that file is no sticker; "" for one that is."""
    try:
        with picture.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if len(data) > MOST_BYTES:
        return f"has more than {MOST_BYTES} bytes"
    return "" if picture_mime(data) else "is no picture (JPEG, PNG, GIF or WebP)"
