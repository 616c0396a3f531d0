"""The one tiny call of `nuan doctor`: whether the model calls the tool it is offered and its server counts tokens.

It is reserved and charged in the ledger like every other.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from bot.cli.house import Place, make_words
from bot.cli.models import member_of
from bot.clock import SystemClock
from bot.errors import HeldError, ModelError, OverBudget, StoreError
from bot.flow.crew import Member
from bot.flow.tools import read_spec
from bot.money import prices
from bot.prompt.tokens import message_tokens
from bot.store.ledger import HOUSE, Reservation, Settlement
from bot.store.store import DATABASE, Store, open_store
from bot.text.estimate import Vocabulary, vocabulary_of
from bot.types.finding import Finding
from bot.types.prompt import Completion, Message, Prompt, Request, Usage

DEADLINE_S, OUTPUT_TOKENS = 60.0, 400
"""Seconds, and tokens of an answer: a model that thinks first needs some of them for that."""

PATH = "model.call"


async def call_findings(place: Place) -> tuple[Finding, ...]:
    """Ask the first model once; while a nuan answers from this folder, look at what its ledger says instead."""
    try:
        if (place.data / DATABASE).exists():
            # Opened for writing it would be brought to this version, which is not for a doctor to do.
            async with await open_store(place.data, read_only=True):
                pass
        async with await open_store(place.data) as store:
            return tuple(await _called(place, store))
    except HeldError:
        return await _beside(place)
    except StoreError as error:
        return (Finding(False, PATH, f"not asked, as its cost could not be written down: {error}"),)


async def _beside(place: Place) -> tuple[Finding, ...]:
    """What the calls of the nuan that runs tell; two programs never write to one database."""
    async with await open_store(place.data, read_only=True) as store:
        now, made = SystemClock().now(), await store.ledger.recent(RECENT)
    talked = [call for call in made if call.cause in TALK]
    if not talked:
        return (Finding(True, PATH, "not asked: a nuan answers from this folder, and has asked nobody yet"),)
    last = talked[0]
    ago, tools = max(0, now - last.at) // 60_000, any(call.cause == "tool" for call in talked)
    told = f"not asked: a nuan answers from this folder; its last call was {ago} min ago ({last.state})"
    more = ", tools were called lately" if tools else ""
    return (Finding(True, PATH, told + more, warn=last.state not in ("settled", "reserved")),)


RECENT = 50
TALK = ("reply", "followup", "tool", "heartbeat", "join")


@dataclass(frozen=True, slots=True)
class _Asked:
    request: Request
    tokens: int


def _asked(place: Place, vocabulary: Vocabulary) -> _Asked:
    find = place.prompts.path
    told = Message("system", find("doctor/question.txt").read_text("utf-8").strip())
    question = Message("user", "warm")
    spec = read_spec(find("doctor/check_in.json"))
    described = Message("system", f"{spec.name}{spec.description}{spec.parameters}")
    tokens = sum(message_tokens(message, vocabulary) for message in (told, question, described))
    return _Asked(Request(Prompt((spec,), (told, question)), OUTPUT_TOKENS, 0.0, DEADLINE_S), tokens)


async def _called(place: Place, store: Store) -> list[Finding]:
    settings, clock = place.settings, SystemClock()
    member = member_of(settings, settings.model)
    words = make_words(place)
    vocabulary = settings.model.vocabulary or vocabulary_of(member.model.name)
    asked, now = _asked(place, vocabulary), clock.now()
    tokens = math.ceil(asked.tokens * await store.ledger.ratio(member.model.name))
    most = prices.estimate(tokens, OUTPUT_TOKENS, member.rate(now))
    day, month = prices.periods(now, words.tz(words.zone))
    reservation = Reservation(
        "doctor", member.model.name, most.tokens, most.cost, prices.limits(settings), day, month
    )  # fmt: skip
    try:
        call = await store.ledger.book(HOUSE, reservation, now)
    except OverBudget as error:
        return [Finding(True, PATH, f"not asked: the limit {error.limit} leaves no room for it", warn=True)]
    try:
        answer = await member.model.complete(asked.request)
    except ModelError as error:
        await (store.ledger.charge if error.billed else store.ledger.release)(call.id, clock.now())
        return [Finding(False, PATH, f"no answer ({error.fault}: {error.detail}): {_advice(error)}")]
    except BaseException:  # Ctrl-C, too: what the server has done by then is not known
        await store.ledger.charge(call.id, clock.now())
        raise
    finally:
        await member.model.close()
    usage = answer.usage or Usage(tokens, 0, message_tokens(answer.message(), vocabulary), returned=False)
    cost = prices.cost(usage, member.rate(clock.now()))
    await store.ledger.settle(Settlement(call.id, usage, cost), clock.now())
    return list(_told(answer, member, cost, settings.budget.currency))


def _told(answer: Completion, member: Member, cost: float, currency: str) -> Iterator[Finding]:
    name = member.model.name
    if any(call.name == "check_in" for call in answer.tool_calls):
        yield Finding(True, f"{PATH}.tools", f"{name} calls the tool it is offered")
    else:
        told = f"{name} answered without the tool it was told to call: memory_recall and reminders need that"
        yield Finding(True, f"{PATH}.tools", f"{told}; take a model, or a server setting, with tool calls", warn=True)
    if answer.usage is None:
        told = "the server does not count tokens (usage): budgets go by estimates; switch it on if it can"
        yield Finding(True, f"{PATH}.usage", told, warn=True)
        return
    usage = answer.usage
    told = f"the server counts tokens: {usage.prompt_tokens} in, {usage.cached_tokens} of them cached"
    yield Finding(True, f"{PATH}.usage", f"{told}, {usage.output_tokens} out; it cost {cost:.6g} {currency}")


def _advice(error: ModelError) -> str:
    match error.fault:
        case "refused":
            return "check model.api_key and model.name"
        case "unreachable" | "timeout":
            return "check model.base_url and model.proxy"
        case "busy":
            return "the server is busy or its limit is reached: try again later"
    return "look at what the server says; --no-call leaves this out"
