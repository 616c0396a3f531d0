"""`.ai start`, `approve`, `allow`, `deny`, `link`, `unlink`, `export` and `forget`: who may use nuan, and their data."""

from collections.abc import Callable
from dataclasses import replace

from bot.commands.command import Invocation, command
from bot.core.events import Button, Draft
from bot.core.ports import takes_part
from bot.pipeline.jobs.archives import ARCHIVE_DAYS
from bot.pipeline.refusals import Strangers
from bot.store.access import Access
from bot.store.linking import LinkAnswer, LinkSide, LinkStep, Unlinked
from bot.text.clean import beside_id
from bot.text.codes import code_form, code_in

ME_WORDS = ("me", "我", "myself")

ANSWERS: dict[str, LinkAnswer] = {"yes": "yes", "是": "yes", "no": "no", "不": "no"}

CONFIRM_MINUTES = 10
"""How long the number counts that is to be repeated."""


@command("start", "[CODE]", who="anyone", topic="chat", private=True, listed=False)
async def start(call: Invocation) -> str:
    """Greet, use a code, or let a stranger ask for pairing."""
    if call.words:
        return await _redeem(call)
    here = await call.store.people.standing(call.chat.id, call.person.id)
    if here.allowed:
        return call.text("start")
    if call.chat.kind == "group":
        return call.text("start_group")
    strangers = Strangers(call.store, call.services.clock, call.services.current)
    await strangers.request_pairing(call.event, call.chat, call.person, always=True)
    return ""


async def _redeem(call: Invocation) -> str:
    """Use the code that was given."""
    code = code_in(call.words[-1], False) or call.words[-1]
    outcome = await call.store.people.redeem_code(code, call.event.id, call.now)
    return "" if outcome == "ignored" else call.text(f"code_{outcome}", code=code)


@command("link", "CODE | yes CODE | no CODE", who="anyone", topic="you", private=True, example="")
async def link(call: Invocation) -> str | Draft:
    """Give a code for the other account, use the one from there, or answer whether both are to be one person."""
    if call.chat.kind != "dm":
        return call.text("link_dm")
    if not call.words:
        return call.text("link_code", code=await call.store.people.offer_link(call.event.id, call.now))
    code = code_in(call.words[-1], False) or call.words[-1]
    answer = ANSWERS.get(call.folded[0], "") if len(call.words) > 1 else ""
    texts = call.services.texts

    def notice(step: LinkStep, side: LinkSide) -> Draft:
        script = texts.script_named(side.script)

        def say(key: str) -> str:
            return texts.messages.text(key, script, code=code, **_sides(step))

        if step.outcome != "asked":
            return Draft(say(f"link_{step.outcome}"), "notice")
        return Draft(say("link_asked_giver"), "notice", buttons=_link_buttons(code, side.external_id, say))

    await call.store.people.take_owner_code()  # which somebody may send by this command, too
    step = await call.store.people.use_link(code.upper(), answer, call.event.id, notice, call.now)
    match step.outcome:
        case "ignored":
            return ""
        case "other":
            return await _redeem(call)
        case "asked":
            own = "giver" if step.giver is not None and step.giver.chat_id == call.chat.id else "taker"
            text = call.text(f"link_asked_{own}", code=code, **_sides(step))
            return Draft(text, "command", buttons=_link_buttons(code, call.account, call.text))
        case outcome:
            return call.text(f"link_{outcome}", **_sides(step))


def _sides(step: LinkStep) -> dict[str, str]:
    """The two accounts of a link, for its sentences."""
    sides = {"giver": step.giver, "taker": step.taker}
    return {name: f"{beside_id(side.name)} ({side.account})" for name, side in sides.items() if side is not None}


def _link_buttons(code: str, account: str, text: Callable[[str], str]) -> tuple[Button, ...]:
    return tuple(Button(text(f"button_{answer}"), f".ai link {answer} {code}", account) for answer in ("yes", "no"))


@command("unlink", who="anyone", topic="you", private=True)
async def unlink(call: Invocation) -> str:
    """Make two persons of linked accounts again, each with what it told."""
    if call.chat.kind != "dm":
        return call.text("link_dm")
    texts = call.services.texts

    def notice(done: Unlinked, script: str) -> Draft:
        text = texts.messages.text("unlinked", texts.script_named(script), one=done.one, other=done.other)
        return Draft(text, "notice")

    done = await call.store.people.undo_link(call.event.id, notice, call.now)
    keys = {"unlinked": "unlinked", "busy": "link_busy", "none": "unlink_none"}
    return call.text(keys[done.outcome], one=done.one, other=done.other)


@command("export", "me", who="anyone", topic="you", private=True, example="me")
async def export(call: Invocation) -> str | Draft:
    """Send a person's archive, or, where the platform takes no such file, leave it where the owner hands it over.

    An owner is told the file, for everyone else owners are told to hand it on.
    """
    match call.folded:
        case (who,) if who in ME_WORDS:
            if not await call.store.people.may_export(call.person.id, call.event.id, call.now):
                return call.text("export_wait")
            archive = await call.services.personal_data.export(call.person.id, call.services.texts.zone)
        case _:
            return call.text("export_words")
    text, place = call.services.texts.messages.text, "export_on_server" if call.store.url else "export_in_folder"

    def told(key: str, script: str) -> str:
        where = text(place, script, file=archive.file, number=call.person.id)
        return text(key, script, name=call.person.name, where=where, days=ARCHIVE_DAYS)

    here = told("exported_here", call.script)
    if takes_part(call.services.adapter(call.chat.platform), "file", archive.size):
        unsent = here if call.person.is_owner else told("export_unsent", call.script)
        return Draft(unsent, "command", part=replace(archive, caption=call.text("exported_file")))
    if call.person.is_owner:
        return here

    def notice(script: str) -> Draft:
        return Draft(told("export_notice", script), "notice")

    await call.store.people.tell_owners(call.chat.platform, notice, call.now)
    return call.text("exported", days=ARCHIVE_DAYS)


@command("forget", "me [NUMBER]", who="anyone", topic="you", private=True, about="forget_me", example="me")
async def forget(call: Invocation) -> str:
    """Take a person out, when they said so twice: the first answer names a number, with it the deed is done."""
    erasing, now = call.store.people, call.now
    match call.folded:
        case (who, *_) if who in ME_WORDS and not await erasing.is_known(call.person.id):
            return call.text("forget_me_done")  # a crash came between the deed and its answer
        case (who,) if who in ME_WORDS:
            counts = await erasing.personal_counts(call.person.id)
            number = await erasing.ask_to_erase(call.person.id, call.chat.id, now)
            return call.text("forget_me_ask", number=number, minutes=CONFIRM_MINUTES, **counts)
        case (who, number) if who in ME_WORDS:
            if not await erasing.agreed_to_erase(call.person.id, call.chat.id, number, now):
                return call.text("forget_me_wrong")
            await call.services.personal_data.erase(call.person.id, call.event.id)
            return call.text("forget_me_done")
        case _:
            return call.text("forget_me_words")


@command("approve", "CODE", who="owner", topic="admin", private=True, shape="text", example="AB12CD")
async def approve(call: Invocation) -> str:
    """Let in whom the code belongs to."""
    return await _decide_by_code(call, "allowed") or call.text("code_unknown")


@command("allow", "[ID]", who="owner", topic="admin", example="telegram:123")
async def allow(call: Invocation) -> str | Draft:
    """Let nuan talk in this group, or with whom or where the id names."""
    return await _decide(call, "allowed")


@command("deny", "[CODE | ID]", who="owner", topic="admin", example="telegram:123")
async def deny(call: Invocation) -> str | Draft:
    """The same, the other way round; a code names its stranger."""
    return await _decide_by_code(call, "denied") or await _decide(call, "denied")


async def _decide_by_code(call: Invocation, access: Access) -> str:
    code = code_form(call.words[0]) if len(call.words) == 1 else ""
    if not code:
        return ""

    def tell(script: str) -> Draft | None:
        texts = call.services.texts
        told = texts.messages.text("approved_you", texts.script_named(script))
        return Draft(told, "notice") if access == "allowed" else None

    number = await call.store.people.decide_pairing(code, access, tell, call.now)
    return "" if number is None else call.text(f"person_{access}", name=await call.store.people.labelled(number))


async def _decide(call: Invocation, access: Access) -> str | Draft:
    chat_id: int | None = call.chat.id if call.chat.kind == "group" else None
    person_id: int | None = None
    words = " ".join(call.words)
    if words:
        chat_id, person_id = await call.store.people.find(words, call.chat.platform)
    if chat_id is not None:
        await call.store.people.set_chat(chat_id, access)
        chat = await call.store.people.chat(chat_id)
        return call.text(
            f"group_{access}", group=f"{beside_id(chat.title)} ({chat.platform}:{chat.external_id})".strip()
        )
    if person_id is None:
        return await _ask_whom(call, words, "allow" if access == "allowed" else "deny")
    person = await call.store.people.person(person_id)
    if person.is_owner:
        return call.text("access_owner")
    await call.store.people.set_person(person_id, access)
    return call.text(f"person_{access}", name=await call.store.people.labelled(person_id))


async def _ask_whom(call: Invocation, words: str, command: str) -> str | Draft:
    """Of a name it is asked which of the accounts that bear it is meant."""
    found = await call.store.people.accounts_named(words) if words else ()
    if not found:
        return call.text("access_whom" if words else "access_where")
    commands = [(f"{beside_id(name)} ({account})", f".ai {command} {account}") for name, account in found]
    return call.which(words, commands)
