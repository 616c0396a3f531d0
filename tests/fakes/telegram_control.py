"""What another process may tell the fake Telegram server as JSON: act, ask, misbehave. It adds no behaviour."""

from dataclasses import asdict, replace
from typing import get_args

from tests.fakes.telegram_chats import Chats
from tests.fakes.telegram_faults import Fault, Faults, Misbehaviour
from tests.fakes.telegram_people import People
from tests.fakes.telegram_shapes import Json, Person, bad, mapping, number
from tests.fakes.telegram_world import World


def control(world: World, people: People, chats: Chats, faults: Faults, command: object) -> Json:
    """Do one command and answer it: {"do": "say", "chat": 5, "person": {"id": 5, "first_name": "安"}, "text": "在吗"}."""
    given = mapping(command)
    chat = number(given.get("chat"))
    match given.get("do"):
        case "say":
            posted = people.say(chat, _person(given), str(given.get("text", "")), thread=number(given.get("thread")))
            return asdict(posted)
        case "group":
            return {"chat": chats.group(str(given.get("title", "")), _person(given))}
        case "sent":
            return {
                "sent": [asdict(replace(shown, data=b"")) | {"data": len(shown.data)} for shown in world.shown(chat)]
            }
        case "confirmed":
            return {"confirmed": world.updates.confirmed, "pending": world.updates.pending}
        case "redeliver":
            world.updates.redeliver(number(given.get("update_id")))
            return {}
        case "violations":
            return {"violations": [asdict(violation) for violation in world.floods.violations]}
        case "fault":
            kinds: tuple[Misbehaviour, ...] = get_args(Misbehaviour)
            kind = next(kind for kind in kinds if kind == given.get("kind"))
            times = number(given.get("times")) or 1
            faults.add(str(given.get("method", "*")), Fault(kind, number(given.get("retry_after")) or 1), times=times)
            return {}
        case other:
            raise bad(f"no such command: {other!r}")


def _person(given: Json) -> Person:
    shown = mapping(given.get("person"))
    return Person(number(shown.get("id")), str(shown.get("first_name", "?")), str(shown.get("username", "")))
