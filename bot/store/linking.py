"""Two accounts become one person when both sides say so, and for a week two again: the repository of links."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bot.core.clock import DAY_MS
from bot.core.events import Draft
from bot.store.access import permissions_of
from bot.store.engine import Repository, writes
from bot.store.joining import drop_old_links, join_persons, split_person
from bot.store.outbox import enqueue
from bot.store.people import count_wrong, drop_expired_codes, make_code, may_use_codes
from bot.store.transactions import Tx
from bot.text.clean import beside_id

LINK_MS = 600_000
"""How long a code for a link counts, and from its first use on how long both sides may agree."""

UNLINK_MS = 7 * DAY_MS
"""How long a link can be taken back."""

LinkOutcome = Literal["asked", "agreed", "linked", "refused", "same", "owner_side", "busy", "wrong", "other", "ignored"]
LinkAnswer = Literal["", "yes", "no"]


@dataclass(frozen=True, slots=True)
class LinkSide:
    """One side of a link: the message that began it, its account ("platform:id") with the name, and the direct chat in
    which it is told.
    """

    event_id: int
    name: str
    account: str
    chat_id: int
    person_id: int
    script: str

    @property
    def external_id(self) -> str:
        """The account as its platform calls it."""
        return self.account.partition(":")[2]


@dataclass(frozen=True, slots=True)
class LinkStep:
    """What became of the use of a code; of a code that counts also whose it is, and who used it first."""

    outcome: LinkOutcome
    giver: LinkSide | None = None
    taker: LinkSide | None = None


@dataclass(frozen=True, slots=True)
class Unlinked:
    """The accounts that are two persons again, "name (platform:id)" each; "busy": something is under way."""

    outcome: Literal["unlinked", "busy", "none"]
    one: str = ""
    other: str = ""


Notice = Callable[[LinkStep, LinkSide], Draft]
"""What the other side of a link is told."""


class Links(Repository):
    """The links of accounts: asked for, agreed to by both, taken back."""

    @writes
    def offer_link(self, tx: Tx, event_id: int, at: int) -> str:
        """A new code for a link to the account that asks; their former one is void."""
        side = _side(tx, event_id)
        assert side is not None
        tx.run("DELETE FROM code WHERE kind = 'link' AND person_id = ?", side.person_id)
        code = make_code(tx, "link", side.person_id, side.chat_id, at, LINK_MS)
        _drop_expired(tx, at)
        tx.insert("linking", code=code, giver=event_id)
        return code

    @writes
    def use_link(self, tx: Tx, code: str, answer: LinkAnswer, event_id: int, notice: Notice, at: int) -> LinkStep:
        """Use a code in the name of the event's sender, once per event; both sides must say yes to what both are told.

        An owner's person is joined only by a code of the owner's. `notice` makes what the other side is told.
        """
        key = f"event:{event_id}:code"
        if (before := tx.value("SELECT result FROM effect WHERE key = ?", key)) is not None:
            outcome, *sides = json.loads(before)
            return LinkStep(outcome, *(_side(tx, side) for side in sides))
        _drop_expired(tx, at)
        step = self._use(tx, code, answer, event_id, notice, at)
        if step.outcome not in ("busy", "other"):
            # No names: whoever is erased later is named nowhere.
            result = json.dumps((step.outcome, *(side and side.event_id for side in (step.giver, step.taker))))
            tx.insert("effect", key=key, result=result, at=at)
        return step

    def _use(self, tx: Tx, code: str, answer: LinkAnswer, event_id: int, notice: Notice, at: int) -> LinkStep:
        me = _side(tx, event_id)
        if me is None or not may_use_codes(tx, me.person_id, me.chat_id, at):
            return LinkStep("ignored")
        row = tx.one("SELECT giver, taker, agreed FROM linking WHERE code = ?", code)
        given, taken, agreed = row if row is not None else (None, None, None)
        giver, taker = _side(tx, given), _side(tx, taken)
        if row is None and tx.has("SELECT 1 FROM code WHERE code = ?", code):
            return LinkStep("other")
        # A code made before an owner said no must not undo that.
        if giver is None or self._refused(tx, giver) or (taker is not None and self._refused(tx, taker)):
            count_wrong(tx, me.person_id, at)
            return LinkStep("wrong")
        if taker is None:
            if me.person_id == giver.person_id:
                return LinkStep("same")
            if self._is_owner(tx, me) and not self._is_owner(tx, giver):
                return LinkStep("owner_side")
            tx.run("UPDATE linking SET taker = ? WHERE code = ?", event_id, code)
            tx.run("UPDATE code SET expires_at = ? WHERE code = ?", at + LINK_MS, code)
            step = LinkStep("asked", giver, me)
            enqueue(tx, giver.chat_id, notice(step, giver), at)
            return step
        if me.person_id not in (giver.person_id, taker.person_id):
            count_wrong(tx, me.person_id, at)
            return LinkStep("wrong")
        if giver.person_id == taker.person_id:
            tx.run("DELETE FROM code WHERE code = ?", code)
            return LinkStep("same")
        # Persons may be joined and parted between two answers, so what agreed is a side, by the event that began it.
        side = given if me.person_id == giver.person_id else taken
        outcome = self._answered(tx, code, answer, (side, agreed), (giver, taker), at)
        step = LinkStep(outcome, giver, taker)
        if outcome in ("linked", "refused"):
            tx.run("DELETE FROM code WHERE code = ?", code)
            other = taker if me.person_id == giver.person_id else giver
            enqueue(tx, other.chat_id, notice(step, other), at)
        if outcome == "linked":
            join_persons(tx, giver.person_id, taker.person_id, at)
        return step

    def _answered(
        self,
        tx: Tx,
        code: str,
        answer: LinkAnswer,
        sides: tuple[int, int | None],
        link: tuple[LinkSide, LinkSide],
        at: int,
    ) -> LinkOutcome:
        """What comes of an answer to a link that both sides were told of; `sides`: who answers, who has agreed."""
        (side, agreed), (giver, taker) = sides, link
        if answer == "":
            return "asked"
        if answer == "no":
            return "refused"
        if self._is_owner(tx, taker) and not self._is_owner(tx, giver):
            return "owner_side"
        if agreed in (None, side):
            tx.run("UPDATE linking SET agreed = ? WHERE code = ?", side, code)
            return "agreed"
        here = tx.number("SELECT chat_id FROM event WHERE id = ?", side)
        return "busy" if is_busy(tx, (giver.person_id, taker.person_id), here, at) else "linked"

    def _is_owner(self, tx: Tx, side: LinkSide) -> bool:
        return permissions_of(tx, side.chat_id, side.person_id).owner

    def _refused(self, tx: Tx, side: LinkSide) -> bool:
        return permissions_of(tx, side.chat_id, side.person_id).refused

    @writes
    def undo_link(self, tx: Tx, event_id: int, notice: Callable[[Unlinked, str], Draft], at: int) -> Unlinked:
        """Take the newest link of the event's sender back, within UNLINK_MS and once per event; both sides are told.

        `notice` makes what each other direct chat is told, in the script given.
        """
        key = f"event:{event_id}:unlink"
        if (before := tx.value("SELECT result FROM effect WHERE key = ?", key)) is not None:
            keep, new = json.loads(before)
            return Unlinked("unlinked", _accounts_of(tx, keep), _accounts_of(tx, new))
        me = _side(tx, event_id)
        drop_old_links(tx, at - UNLINK_MS)
        newest = "SELECT id FROM link WHERE person_id = ? ORDER BY id DESC LIMIT 1"
        link = tx.value(newest, me.person_id) if me is not None else None
        if me is None or link is None:
            return Unlinked("none")
        if is_busy(tx, (me.person_id, me.person_id), me.chat_id, at):
            return Unlinked("busy")
        keep, new = split_person(tx, link, at)
        done = Unlinked("unlinked", _accounts_of(tx, keep), _accounts_of(tx, new))
        tx.insert("effect", key=key, result=json.dumps((keep, new)), at=at)
        told = tx.all(
            "SELECT chat.id, script FROM member JOIN chat ON chat.id = chat_id AND kind = 'dm' AND gone = 0 "
            "JOIN person ON person.id = person_id WHERE person_id IN (?, ?) AND chat.id <> ?",
            keep,
            new,
            me.chat_id,
        )
        for chat_id, script in told:
            enqueue(tx, chat_id, notice(done, script), at)
        return done


def _side(tx: Tx, event_id: int | None) -> LinkSide | None:
    """Whose message it is; None when nobody is known by that account any more."""
    return tx.one(
        "SELECT event.id, account.name, account.platform || ':' || account.external_id, event.chat_id, account.person_id, script "
        "FROM event JOIN account ON account.external_id = event.account AND account.platform IN "
        "(SELECT platform FROM place WHERE place.chat_id = event.chat_id) JOIN person ON person.id = account.person_id "
        "WHERE event.id = ?",
        event_id,
        to=LinkSide,
    )


def _drop_expired(tx: Tx, at: int) -> None:
    drop_expired_codes(tx, at)
    tx.run("DELETE FROM linking WHERE code NOT IN (SELECT code FROM code)")


def _accounts_of(tx: Tx, person_id: int) -> str:
    rows = tx.all("SELECT name, platform || ':' || external_id FROM account WHERE person_id = ?", person_id)
    return ", ".join(f"{beside_id(name)} ({account})" for name, account in rows)


def is_busy(tx: Tx, people: tuple[int, int], chat_id: int, at: int) -> bool:
    """Whether something is under way in a name that may vanish: a turn, a due message elsewhere, a digest."""
    runs = "SELECT 1 FROM turn WHERE state IN ('asked', 'answered') AND person_id IN (?, ?)"
    due = "SELECT 1 FROM event WHERE state = 'queued' AND due_at <= ? AND person_id IN (?, ?) AND chat_id <> ?"
    ends = (
        "SELECT 1 FROM session WHERE digest_due_at <= ? AND chat_id IN "
        "(SELECT chat_id FROM member WHERE person_id IN (?, ?))"
    )
    return tx.has(runs, *people) or tx.has(due, at, *people, chat_id) or tx.has(ends, at, *people)
