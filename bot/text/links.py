"""Addresses in a reply: finds them, removes masks, defuses those that nobody named."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from bot.text.catalogue import LazyPattern, read_table

_PLAIN = "!-;=?-~\u00a1-\u1fff"
"""What an address consists of without Chinese: what stands before or behind it without a blank is no part of it."""
_STOP = "\\s<>\"'`，。！？；：、（）【】《》「」『』“”‘’…"
_SCHEME = r"(?:https?|ftps?|tg|ton|tonsite|discord|steam|spotify|facetime)://"
"""What a chat program makes a link of."""
_LABEL = "[a-z0-9\u00a1-\u1fff][a-z0-9\u00a1-\u1fff-]{0,62}"
_ENDINGS = "|".join(read_table("bot.text", "links")["endings"])
"""Endings of bare names that chat programs make links of, without those that files often have (py, sh, md, rs, so)."""
_ADDRESS = LazyPattern(
    rf"{_SCHEME}(?:[{_PLAIN}]+|[^{_STOP}/?#]+[{_PLAIN}]*)"
    rf"|(?<![a-z0-9_@.\u00a1-\u1fff-])(?:"
    rf"(?:{_LABEL}\.){{1,9}}(?:(?:{_ENDINGS}|xn--[a-z0-9-]{{1,59}})(?![a-z0-9_@-])(?:[:/?#][{_PLAIN}]*)?"
    rf"|[a-z]{{2,24}}(?::\d{{1,5}})?[/?#][{_PLAIN}]+)"
    rf"|www\.[a-z0-9\u00a1-\u1fff][{_PLAIN}]*"
    rf"|(?:\d{{1,3}}\.){{3}}\d{{1,3}}[:/?#][{_PLAIN}]{{3,}})",
    re.IGNORECASE,
)
_BEHIND = LazyPattern(f"[^{_STOP}]+")
_MASKED = LazyPattern(
    rf"!?\[([^\[\]\n]{{1,500}})\]\([ \t]{{0,9}}"
    rf"<?({_SCHEME}[^\s<>()]+(?:\([^\s<>()]*\)[^\s<>()]*){{0,9}})>?[^()\n]{{0,200}}\)",
    re.IGNORECASE,
)
_MASK = LazyPattern(rf"(?<!\[)\]\((?=[ \t]{{0,9}}<?{_SCHEME})", re.IGNORECASE)
_QUOTING = LazyPattern(r"[\"'`\\|)\]}]")
_MOST_CUTS = 8
_LAST_CHARS = 4_000
"""How much of a half-written text is read for the address at its end."""
_TAIL = "/.,;:!?'\"`()[]{}*_~|\\"
_GOES_ON = "=/&+%_-"
"""Behind these what follows without a blank is what the address would carry."""
_CLOSERS = ".,;!?'\"`)]}*_~|"
_HOST = LazyPattern(r"[^/?#\\]*")
_BARE_HOST = LazyPattern(r"[\w.-]+(?::\d{1,5})?")
_HOST_CHARS = 60


@dataclass(frozen=True, slots=True)
class Checked:
    """A text as it may be said, and how many addresses are no longer in it."""

    text: str
    removed: int = 0


def addresses(text: str) -> frozenset[str]:
    """Every address that a text names, in the form in which two spellings of the same are equal."""
    found: set[str] = set()
    if "&amp;" in text:
        text += "\n" + text.replace("&amp;", "&")
    for match in _ADDRESS.finditer(text):
        whole = match[0] + _behind(text, match.end())
        found.update(_normal(form) for form in (whole, match[0], *_cuts(match[0])))
    return frozenset(found)


def unmasked(text: str) -> str:
    """The text with the address of each link beside its words, never longer: [words](address) is words (address).

    It does not ask what is code and what is not: programs disagree on that, and a mask is none in code either.
    """
    if "](" not in text:
        return text
    return _MASK.sub("] ", _MASKED.sub(_open, text))


def checked_links(text: str, named: Callable[[str], bool], domains: Iterable[str] = ()) -> Checked:
    """The text with only the names of hosts where an address is neither `named` nor in one of the `domains`.

    `named` is asked for an address as `addresses` gives it. An address ends before what follows it without a blank.
    """
    trusted, removed = tuple(domain.lower() for domain in domains), 0
    # Where an address is gone, what stood on both sides of it may be another: evil.comhttps://x/ is evil.com/… then.
    while (told := _checked(text, named, trusted)).removed:
        text, removed = told.text, removed + told.removed
    return Checked(told.text, removed)


def _checked(text: str, named: Callable[[str], bool], trusted: tuple[str, ...]) -> Checked:
    pieces: list[str] = []
    at = removed = 0
    while match := _ADDRESS.search(text, at):
        pieces.append(text[at : match.start()])
        found, at = match[0], match.end()
        behind = _behind(text, at)
        if behind and named(_normal(found + behind)):
            found, at = found + behind, at + len(behind)
        kept = found if named(_normal(found)) or _is_trusted(found, trusted) else _kept(found, named)
        if not kept:
            removed += 1
            at += len(behind.rstrip(_CLOSERS)) if found[-1] in _GOES_ON else 0
            pieces.append(_defanged(found))
            continue
        at -= len(found) - len(kept)
        pieces.append(kept)
        if at < len(text) and not text[at].isspace() and (kept != found or not text[at].isascii()):
            pieces.append(" ")
    pieces.append(text[at:])
    return Checked("".join(pieces), removed)


def finished(text_so_far: str) -> str:
    """A half-written text without the address that is being written at its end."""
    *_, last = (None, *_ADDRESS.finditer(text_so_far, max(0, len(text_so_far) - _LAST_CHARS)))
    if last is None or last.end() + len(_behind(text_so_far, last.end())) < len(text_so_far):
        return text_so_far
    return text_so_far[: last.start()]


def folded(text: str) -> str:
    """The text with <> around each web address, which Discord then shows without what is behind it."""
    return _ADDRESS.sub(_in_brackets, text)


def _in_brackets(match: re.Match[str]) -> str:
    address = match[0].rstrip(_TAIL.replace("/", ""))
    bare = "://" not in address or match.string[: match.start()].endswith("<")
    return match[0] if bare else f"<{address}>{match[0][len(address) :]}"


def _open(match: re.Match[str]) -> str:
    words, address = match[1], match[2]
    return address if _normal(words.strip()) == _normal(address) else f"{words} ({address})"


def _behind(text: str, at: int) -> str:
    """What stands directly behind an address and might be more of it."""
    match = _BEHIND.match(text, at)
    return match[0] if match else ""


def _kept(found: str, named: Callable[[str], bool]) -> str:
    """As much of what was found as is named, when quotes or brackets follow it without a blank; "" for none."""
    return next((cut for cut in _cuts(found) if named(_normal(cut))), "")


def _cuts(address: str) -> Iterator[str]:
    """An address that ends before a quote or a bracket."""
    return (address[: cut.start()] for cut in islice(_QUOTING.finditer(address), _MOST_CUTS))


def _normal(address: str) -> str:
    """An address without what makes no difference to where it leads."""
    address = address.replace("&amp;", "&").rstrip(_TAIL)
    scheme, separator, rest = address.partition("://")
    if not separator:
        scheme, rest = "", address
    host = _HOST.match(rest)
    name = host[0] if host else ""
    scheme = "" if scheme.lower() in ("", "http", "https") else f"{scheme.lower()}://"
    return scheme + name.lower().removeprefix("www.") + rest[len(name) :]


def _place(address: str) -> str:
    """Where an address leads: host and port, with whatever name and password stand before them."""
    match = _HOST.match(address.partition("://")[2] if "://" in address else address)
    return match[0] if match else ""


def _is_trusted(address: str, domains: tuple[str, ...]) -> bool:
    place = _place(address).lower().rstrip(_TAIL)
    if "*" in domains:
        return True
    host = place.partition(":")[0]
    return bool(_BARE_HOST.fullmatch(place)) and any(host == each or host.endswith(f".{each}") for each in domains)


def _defanged(address: str) -> str:
    """The name of the host, which nothing makes a link of; what stood behind it is gone, but for the last marks."""
    marks = address[len(address.rstrip(_CLOSERS)) :]
    host = _place(address).rpartition("@")[2].partition(":")[0].rstrip(_TAIL)
    name = re.sub(r"[^\w.-]", "", host).strip(".")[:_HOST_CHARS]
    bare = address.partition("://")[2] or address
    return name.replace(".", "[.]") + ("" if bare.rstrip(_TAIL) == host else "/…") + marks
