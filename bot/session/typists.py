"""Who is writing just now, as the platform says. It remembers a bounded number of people and stores nothing."""

from collections import OrderedDict

from bot.types.event import Place

TYPING_MS = 10_000
"""How long a platform's word holds: Discord shows somebody as typing for this long, and says so anew every 8 s."""

REMEMBERED = 1_024
"""People who are remembered; the one heard of longest ago is forgotten first."""


class Typists:
    """The people who began to write and have not sent anything yet."""

    def __init__(self) -> None:
        self._since: OrderedDict[tuple[str, str, str], int] = OrderedDict()

    def typing(self, place: Place, account: str, at: int) -> None:
        """The account of that platform was seen typing there, at that time, ms."""
        key = (place.platform, place.external_id, account)
        self._since[key] = at
        self._since.move_to_end(key)
        if len(self._since) > REMEMBERED:
            self._since.popitem(last=False)

    def wrote(self, place: Place, account: str) -> None:
        """What they were typing is sent."""
        self._since.pop((place.platform, place.external_id, account), None)

    def still(self, platform: str, external_id: str, now: int) -> frozenset[str]:
        """The accounts that are typing in that place now."""
        return frozenset(
            account
            for (on, where, account), at in self._since.items()
            if on == platform and where == external_id and now - at < TYPING_MS
        )
