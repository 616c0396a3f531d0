"""A model's digest of lines, as tests read it."""

from bot.core.sessions import Digest
from bot.memory.digest.answer import BrokenAnswer
from bot.memory.digest.review import checked, digest_of, review
from bot.memory.transcript import DigestLine, TalkScope


def parse_digest(answer: str, lines: tuple[DigestLine, ...], scope: TalkScope) -> Digest | None:
    """The digest that the rules leave, where a second look finds nothing wrong; None for what is broken."""
    first = review(answer, lines, scope)
    return None if isinstance(first, BrokenAnswer) else digest_of(checked(first, {}, lines, scope), lines, scope)
