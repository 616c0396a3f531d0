"""Six people tell secrets in each of four chats on two platforms.

One stands in a line of the transcript, one in a memory, one in what the summary tells, one in a reminder, one in a
promise and one in the talk's note; the operator's own note holds one more. Then they ask for them in every place and
every way: by what comes to mind, by the tools, at a new opening, through digests, commands, archives, an agent and
`nuan ctx`, in follow-ups, when a reminder fires and when nuan writes first, under each ranking. A secret that reaches
a prompt, a reply, the log or a view of a chat where it was not told is foreign, but what a person said in a group is
at home in their own direct chat.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Awaitable, Iterator
from pathlib import Path

from bot.cli.inspection import CtxRequest, show_boot, show_ctx
from bot.cli.installation import Installation
from bot.cli.lookup import PromptTarget
from bot.config.settings import Settings
from bot.core.files import PromptFiles, resource_dir
from bot.core.models import ModelRequest
from bot.core.recall import RECALL_MODES
from tests.fakes.model import Answer, calls
from tests.torture.spots import KINDS, OWNERS, Count, Spot
from tests.torture.ways import WAYS, logged
from tests.world import World

PEOPLE = ("阿明", "阿红", "阿蓝", "阿绿", "阿黄", "阿紫")
PLATFORMS = ("telegram", "discord")
GROUPS = ("", "东群", "西群", "北群")
"""Chats of a platform: "" is the person's own DM."""

CANARY = re.compile(r"c[lmdnrop][0-9]{4}x")
HERE = re.compile(r"【此处】(\w+) ?(?:私聊|群「(.*?)」)")
PRESENT = re.compile(r"【在场】([^（，；;\n]+)")
QUESTION = "小暖，大家的暗号是什么来着"
QUESTIONS = (
    QUESTION,
    "小暖，今天大家都说了什么",
    "小暖，吃了吗？",
    "小暖，除了我们几个以外谁都不知道的特别要紧的那件事，大家各是怎么说的？" + "我想从头到尾再听一遍，" * 30,
)
"""By words, by their day, by nothing in common, and at length."""
SECRET = "跟你说一件除了我们几个以外谁都不知道也谁都不该知道的特别要紧的事情"
"""Longer than what names a note."""


class Field:
    """One nuan under one ranking, with what was told where."""

    def __init__(self, folder: Path, ranking: str, seed: int, count: Count, people: int = 6, groups: int = 4) -> None:
        self.people, groups_used = PEOPLE[:people], GROUPS[:groups]
        allow = {
            name: {"allow": [f"{name[0]}-{who}" for who in PEOPLE] + [f"group:{g}" for g in GROUPS if g]}
            for name in PLATFORMS
        }
        settings = Settings.model_validate(
            {
                "bot": {"timezone": "Asia/Shanghai"},
                "memory": {"mode": ranking},
                "budget": {"day_tokens": None},
                "context": {"opening_tokens": 150},
                "notes": {"on_new": True},
                **allow,
                "heartbeat": {
                    "on": True,
                    "silence_hours": 2,
                    "per_day": 24,
                    "quiet_from": 0,
                    "quiet_until": 0,
                    "most_ignored": 50,
                    "day_tokens": 10**9,
                },
            }
        )
        self.world = World(folder, settings, PLATFORMS)
        self.count = count
        self.chosen = random.Random(f"{seed} {ranking}")
        self.spots = [Spot(who, name, group) for name in PLATFORMS for group in groups_used for who in self.people]
        self.told: dict[tuple[str, str], set[str]] = {OWNERS: {"co0000x"}}
        self.wanted: list[tuple[str, dict[str, object]]] = []
        self.way = "telling"
        self.world.model.script = self._answer

    def _answer(self, request: ModelRequest) -> Answer:
        """Digests repeat what they read; turns use the tools that this step is about."""
        said = " ".join(dict.fromkeys(CANARY.findall("".join(each.content for each in request.prompt.messages))))
        if not request.prompt.tools:
            told = {"kind": "event", "text": f"暗号 {said[:60]}"}
            return json.dumps(
                {"summary": f"聊了大家的暗号 {said[:30]}", "statements": [told] if said else []}, ensure_ascii=False
            )
        asked = [] if request.prompt.messages[-1].role == "tool" else self.wanted
        return (
            calls(*((name, json.dumps(given, ensure_ascii=False)) for name, given in asked)) if asked else said or "好"
        )

    def _new(self, letter: str, beside: set[str]) -> str:
        """A fresh secret of the chat where those others were told; "" where there were none."""
        chat = next((chat for chat, told in self.told.items() if beside and beside <= told), None)
        if chat is None:
            return ""
        canary = f"c{letter}{sum(map(len, self.told.values())):04}x"
        self.told[chat].add(canary)
        return canary

    async def tell(self) -> None:
        """Everybody tells secrets everywhere; then each talk is over, has its summary, and its note one secret more."""
        for number, spot in enumerate(self.spots):
            line, memory, told, later, promise = (f"c{letter}{number:04}x" for letter in "lmdrp")
            self.told.setdefault(spot.chat, set()).update((line, memory, told, later, promise))
            await self.say(spot, f"小暖，{SECRET}，{spot.who}的暗号是{line}")
            await self.say(spot, f"小暖，记住{spot.who}的暗号是{memory}")
            await self.say(spot, f"今天下午我去图书馆借了{told}这本书")
            await self.say(spot, f"小暖，下周五早上八点提醒我说{later}")
            await self.say(spot, f"小暖，我答应明年把{promise}这本书还给图书馆")
        for spot in {spot.chat: spot for spot in self.spots}.values():
            await self.say(spot, "/new")
            await self.wait(1)
        for path in self._notes():
            found = set(CANARY.findall(path.read_text("utf-8")))
            with path.open("a", encoding="utf-8") as note:
                note.write(f"\n大家的暗号还有{self._new('n', found)}\n")
        (self.world.folder / "MEMORY.md").write_text("大家的暗号是co0000x\n", "utf-8")
        for _ in range(2):
            self.world.app.look_at_notes()
            await self.wait(5)
            await self.world.app.settled()

    def _path(self, spot: Spot) -> str:
        """A note of this chat or, as often, any one; whoever names one has read its name before."""
        known = [each for each in self._notes() if not CANARY.search(each.name)]
        mine = [each for each in known if self.told[spot.chat] & set(CANARY.findall(each.read_text("utf-8")))]
        notes = mine if mine and self.chosen.random() < 0.5 else [*known, self.world.folder / "MEMORY.md"]
        return str(self.chosen.choice(notes).relative_to(self.world.folder))

    def _notes(self) -> list[Path]:
        return sorted((self.world.folder / "notes").rglob("*.md"))

    async def ask(self, times: int) -> None:
        """So many askings, each way in turn."""
        ways = self._ways()
        for _ in range(times):
            spot = self.chosen.choice(self.spots)
            way = next(ways)
            self.count.asked[way] += 1
            self.way = way
            await self._one(way, spot)
        turns = Counter(line["why"] for line in self.world.log.named("turn"))
        self.count.unasked.update({"follow-ups": turns["window"], "first words": turns["heartbeat"]})
        self.count.unasked["reminders"] += len(self.world.log.named("reminder_said"))

    def _ways(self) -> Iterator[str]:
        while True:
            yield from ("auto", "recall", "kinds", "get", "line", "note", "write")
            yield from ("boot", "digest", "ctx", "dialog", "forget", "view")
            yield from ("mem", "number", "keep", *WAYS)

    async def _one(self, way: str, spot: Spot) -> None:
        number = self.chosen.randrange(1, 120)
        kind = self.chosen.choice(("summary", "note", "line", "event"))
        path = self._path(spot) if way == "note" else ""
        tools: dict[str, list[tuple[str, dict[str, object]]]] = {
            "recall": [("memory_recall", {"query": f"{self.chosen.choice(PEOPLE)}的暗号", "top_k": 20})],
            "kinds": [("memory_recall", {"query": "大家的暗号", "top_k": 20, "kinds": [kind]})],
            "note": [("memory_recall", {"query": path})],
            "get": [("memory_recall", {"query": f"#{number % 60}"}), ("memory_recall", {"query": "MEMORY.md"})],
            "line": [("memory_recall", {"query": f"@{number}"})],
            "keep": [("remember", {"text": "大家的暗号"})],
            "followed": [("memory_recall", {"query": "大家的暗号", "top_k": 20})],
            "first": [("memory_recall", {"query": "暗号", "top_k": 20})],
            "write": [("forget", {"id": str(number % 60)}), ("remember", {"text": "暗号", "kind": "experience"})],
        }
        self.wanted = tools.get(way, [])
        match way:
            case "boot" | "digest":
                await self.say(spot, "/new")
                if way == "digest":
                    await self.wait(1)
                await self.say(spot, QUESTION)
            case "ctx":
                await self.say(spot, ".ai ctx full 大家的暗号是什么")
            case "dialog":
                await self.say(spot, ".ai dialog")
            case "forget":
                await self.say(spot, f"忘记{self.chosen.choice(PEOPLE)}的暗号")
            case "mem":
                await self.say(spot, ".ai mem 暗号")
            case "number":
                await self.say(spot, f".ai mem #{number % 60}")
            case "view":
                await self._view(spot)
            case _ if way in WAYS:
                await WAYS[way](self, spot)
            case _:
                await self.say(spot, self.chosen.choice(QUESTIONS))

    async def say(self, spot: Spot, text: str) -> None:
        """Somebody says it."""
        await self.watch(self.world.say(text, spot.who, spot.group, platform=spot.platform))

    async def wait(self, seconds: float) -> None:
        """Time passes, and nuan does what it does by itself."""
        await self.watch(self.world.wait(seconds))

    async def watch(self, happens: Awaitable[None]) -> None:
        """All that reaches a model or a chat by it is looked through."""
        world = self.world
        sent, said, logs = len(world.model.requests), len(world.talk.said), len(world.log.lines)
        await happens
        for request in world.model.requests[sent:]:
            text = "".join(message.content for message in request.prompt.messages)
            if request.prompt.tools:
                self.seen_at(_place(text), "prompt", text)
            else:
                self._digested(text)
        self.count.foreign += [f"{one} in the log" for one in CANARY.findall(logged(world.log.lines[logs:]))]
        for outgoing in world.talk.said[said:]:
            kind, _, name = outgoing.external_chat_id.partition(":")
            chat = (outgoing.platform, name if kind == "group" else f"dm {name}")
            self.seen_at(OWNERS if outgoing.platform == OWNERS[0] else chat, "reply", outgoing.text)

    def _digested(self, text: str) -> None:
        """A digest may be of another chat, whose time has come; but of one alone."""
        found = set(CANARY.findall(text))
        if not any(found <= told | self._own(chat) for chat, told in self.told.items()):
            self.count.foreign.append(f"{sorted(found)} in one digest")

    async def _view(self, spot: Spot) -> None:
        """What `nuan ctx` and `nuan boot` show of that chat."""
        world = self.world
        place = Installation(
            world.settings,
            world.folder,
            PromptFiles(None),
            resource_dir("data/persona") / world.settings.persona,
            world.settings,
        )
        sql = (
            "SELECT place.chat_id, account.person_id FROM place, account WHERE place.platform = ?1 AND "
            "place.external_id = ?2 AND account.platform = ?1 AND account.external_id = ?3"
        )
        where = f"group:{spot.group}" if spot.group else f"dm:{spot.who}"
        chat, person = world.rows(sql, spot.platform, where, f"{spot.platform[0]}-{spot.who}")[0]
        view = PromptTarget(str(chat), str(person))
        self.seen_at(
            spot.chat,
            "ctx",
            (await show_ctx(place, view, CtxRequest("大家的暗号是什么", debug=True), world.clock)).decode(),
        )
        self.seen_at(spot.chat, "boot", await show_boot(place, view))

    def seen_by(self, spot: Spot, how: str, text: str) -> None:
        """What a person may see in a chat of their own: all that was told in the chats where they are."""
        chats = ((spot.platform, group or f"dm {spot.who}") for group in GROUPS)
        mine = set().union(*(self.told.get(chat, set()) for chat in chats))
        self.at_home(set(CANARY.findall(text)) & mine)
        self.count.foreign += [f"{one} by {how} of {spot}" for one in sorted(set(CANARY.findall(text)) - mine)]

    def _own(self, chat: tuple[str, str]) -> set[str]:
        """What its person said in groups: in their own direct chat it is theirs."""
        return {f"c{kind}{n:04}x" for n, spot in enumerate(self.spots) if chat == spot.own for kind in KINDS}

    def at_home(self, found: set[str]) -> None:
        """Secrets came where they may."""
        self.count.home.update(KINDS[canary[1]] for canary in found)
        self.count.brought[self.way] += len(found)

    def seen_at(self, chat: tuple[str, str], how: str, text: str) -> None:
        """What came to a chat."""
        found = set(CANARY.findall(text))
        mine = self.told.get(chat, set()) | self._own(chat)
        self.at_home(found & mine)
        self.count.foreign += [f"{canary} in {how} of {chat}" for canary in sorted(found - mine)]


def _place(prompt: str) -> tuple[str, str]:
    """The chat that a prompt says it is for: what waited in one may be answered while another is asked in."""
    said, who = HERE.search(prompt), PRESENT.search(prompt)
    assert said is not None, prompt[:200]
    if said[1] == "终端":
        return OWNERS
    return said[1].lower(), said[2] or f"dm {who[1] if who else ''}"


async def canaries(
    folder: Path,
    recalls: int,
    seed: int = 1,
    rankings: tuple[str, ...] = RECALL_MODES,
    people: int = 6,
    groups: int = 4,
) -> Count:
    """So many askings in all, under these rankings in equal parts; so many people in so many chats of a platform."""
    count = Count()
    for ranking in rankings:
        world = Field(folder / ranking, ranking, seed, count, people, groups)
        await world.world.open()
        await world.tell()
        await world.ask(-(-recalls // len(rankings)))
        await world.world.close()
    return count
