"""Who may see the web page: whoever brings the token. There is no other account and no preset password."""

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from bot.core.clock import MINUTE_MS
from bot.core.errors import StoreError
from bot.core.files import write_file
from bot.core.ports import Clock

TOKEN_FILE = "web.token"  # noqa: S105 - the name of a file
WRONG_TRIES, WRONG_TRIES_MS = 5, 5 * MINUTE_MS
"""Wrong tokens of one address within that time, ms, after which no token of it is looked at until that is over."""

MOST_ADDRESSES, MOST_LOGINS = 1_000, 32
"""Addresses that are watched, and logins that hold, at once; the oldest makes room."""


@dataclass(frozen=True, slots=True)
class Login:
    """One login: `csrf` must come with everything that changes something; it holds until `until`, ms."""

    csrf: str
    until: int


@dataclass(frozen=True, slots=True)
class LoginRefused:
    """No login: the token is wrong, or (`wait_ms` > 0) too many were."""

    wait_ms: int = 0


class Logins:
    """Logins, held in memory: a restart ends them all. Neither tokens nor cookies are kept in plain."""

    def __init__(self, token: str, clock: Clock) -> None:
        self._token = _hash(token)
        self._clock = clock
        self._logins: OrderedDict[bytes, Login] = OrderedDict()
        self._wrong: OrderedDict[str, list[int]] = OrderedDict()

    def log_in(self, token: str, address: str, hours: int) -> str | LoginRefused:
        """The cookie of a new login for the right token; compared in constant time, wrong ones are counted."""
        now = self._clock.now()
        wrong = [at for at in self._wrong.get(address, ()) if at > now - WRONG_TRIES_MS]
        if len(wrong) >= WRONG_TRIES:
            return LoginRefused(wrong[0] + WRONG_TRIES_MS - now)
        if not hmac.compare_digest(_hash(token.strip()), self._token):
            self._wrong[address] = [*wrong, now]
            self._wrong.move_to_end(address)
            _shrink(self._wrong, MOST_ADDRESSES)
            return LoginRefused()
        self._wrong.pop(address, None)
        cookie = secrets.token_urlsafe(32)
        self._logins[_hash(cookie)] = Login(secrets.token_urlsafe(32), now + hours * 60 * MINUTE_MS)
        _shrink(self._logins, MOST_LOGINS)
        return cookie

    def login(self, cookie: str) -> Login | None:
        """The login of that cookie while it holds."""
        found = self._logins.get(_hash(cookie)) if cookie else None
        if found is not None and found.until <= self._clock.now():
            self.log_out(cookie)
            return None
        return found

    def log_out(self, cookie: str) -> None:
        """It holds no more."""
        self._logins.pop(_hash(cookie), None)


def has_token_of(login: Login, csrf: str) -> bool:
    """Whether a form was made for that login."""
    return hmac.compare_digest(_hash(csrf), _hash(login.csrf))


def open_token(folder: Path) -> tuple[str, bool]:
    """The page's token, and whether it was made just now: a file of mode 0600; take it away for a new one.

    StoreError when it cannot be read or written, or is too short to be one.
    """
    path = folder / TOKEN_FILE
    try:
        if path.exists():
            path.chmod(0o600)  # an operator may have written it
            token = path.read_text("utf-8").strip()
            if len(token) < 16:
                raise StoreError(f"{TOKEN_FILE} is too short: delete it, a new one is made")
            return token, False
        token = secrets.token_urlsafe(32)
        write_file(path, f"{token}\n".encode())
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{TOKEN_FILE} cannot be used ({error})") from error
    return token, True


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def _shrink(one: "OrderedDict[str, list[int]] | OrderedDict[bytes, Login]", most: int) -> None:
    while len(one) > most:
        one.popitem(last=False)
