"""Spaces inside a time (下午 3 点, 明 天) are left out before it is read. Pure."""

from bot.text.lazy import LazyPattern

_HAN = "\u4e00-\u9fff"
_SPACE = LazyPattern(
    rf"(?<=\d)\s+(?=[点时分刻月日号年周天秒]|小时|个)|(?<=[年月])\s+(?=\d{{1,2}}\s*[月日号])|(?<=[午上晚早晨点:])\s+(?=\d{{1,2}}\s*[点时分:])"
    rf"|(?<![^\s])(?:[{_HAN}]|\d+)(?:(\s)(?:[{_HAN}]|\d+)(?![^\s]))+"
)


def squeezed(folded: str, origin: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """A folded text and its map without spaces between the characters of a time."""
    gone: set[int] = set()
    for match in _SPACE.finditer(folded):
        gone |= {index for index in range(*match.span()) if folded[index].isspace()}
    if not gone:
        return folded, origin
    keep = [index for index in range(len(folded)) if index not in gone]
    return "".join(folded[index] for index in keep), tuple(origin[index] for index in keep)
