"""A model's digest of lines, as tests read it."""

from bot.memory.digest_answer import Broken
from bot.memory.digest_review import read_digest
from bot.memory.minutes import DigestLine, Scope
from bot.types.digest import Digest


def parse_digest(answer: str, lines: tuple[DigestLine, ...], scope: Scope) -> Digest | None:
    """As `read_digest`; None for what is broken."""
    found = read_digest(answer, lines, scope)
    return None if isinstance(found, Broken) else found
