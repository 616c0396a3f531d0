"""A model's digest of lines, as tests read it."""

from bot.memory.digest_answer import Broken
from bot.memory.digest_review import checked, digest_of, review
from bot.memory.minutes import DigestLine, Scope
from bot.types.digest import Digest


def parse_digest(answer: str, lines: tuple[DigestLine, ...], scope: Scope) -> Digest | None:
    """The digest that the rules leave, where a second look finds nothing wrong; None for what is broken."""
    first = review(answer, lines, scope)
    return None if isinstance(first, Broken) else digest_of(checked(first, {}, lines, scope), lines, scope)
