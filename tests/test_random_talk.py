"""Random conversations: people, chats, modes, bursts, waits, faults, crashes, reloads; what must hold holds always."""

import asyncio
import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from bot.config.settings import Settings
from bot.core.errors import ModelError
from tests.fakes.clock import let_others_run
from tests.prefixes import logs_of
from tests.reloading import Filed
from tests.scenarios import clever
from tests.sizes import sized

PEOPLE = st.sampled_from(("小王", "阿明", "阿红"))
GROUPS = st.sampled_from(("", "", "闲聊", "别的群"))
TEXTS = st.sampled_from(
    (
        "小暖，在吗",
        "接着说",
        "查一下",
        "今天好累啊，什么都不想做",
        "/new",
        ".ai clear",
        ".ai ctx",
        "记住我怕狗。你说呢？",
        "忘记我怕狗",
        "停",
        "小暖，闭嘴",
        ".ai mode join",
        ".ai mode called",
        ".ai mode reset",
        ".ai why",
    )
)
CONFIG = st.fixed_dictionaries(
    {
        "busy": st.sampled_from(("collect", "interrupt", "queue")),
        "mode": st.sampled_from(("window", "called", "join")),
        "debounce_seconds": st.sampled_from((0, 0.6)),
        "window_seconds": st.sampled_from((60, 20)),
    }
)
CALLS = ("dm", "mention", "reply", "name")
ENDS = ("stopped", "failed", "refused", "limited", "command", "stop", "quiet")
"""How a message that calls may end without a turn of its own: somebody stopped it, or was told why not."""
WHERE = ("groupa", "groupb", "dma", "dmb", "dmc")
"""The word for each chat."""
SLOTS = Settings().model.slots
FAULTS = st.sampled_from(("unreachable", "timeout", "invalid"))


class Talking(RuleBasedStateMachine):
    """One installation in which anything may happen in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp(prefix="nuan-random-"))
        self.world = Filed(self.folder)
        self.world.model.script, self.world.model.digests = clever, True
        self.said = 0

    def _run(self, work: Coroutine[Any, Any, object]) -> None:
        self.loop.run_until_complete(work)

    @initialize(config=CONFIG)
    def nuan_starts(self, config: dict[str, object]) -> None:
        self._configure(config)
        self._run(self.world.open())

    def _configure(self, config: dict[str, object]) -> None:
        speak = "".join(f"{key} = {json.dumps(value)}\n" for key, value in config.items())
        self.world.write(f"[session]\nlog_tokens = 700\n[speak]\n{speak}")

    @rule(config=CONFIG, thinking=st.booleans())
    def the_configuration_changes(self, config: dict[str, object], thinking: bool) -> None:
        self._configure(config)
        if thinking:
            self.said += 1
            self.world.shut()
            self._run(self._thinking("小王", ""))
        self._run(self.world.reload())
        self._run(self.world.let_answer())

    @rule(who=st.lists(st.tuples(PEOPLE, st.booleans()), min_size=1, max_size=5), group=GROUPS, dies=st.booleans())
    def people_write_while_the_model_thinks(self, who: list[tuple[str, bool]], group: str, dies: bool) -> None:
        self.said += 1
        self.world.shut()
        self._run(self._thinking(who[0][0], group))
        for one, calls in who:
            self.said += 1
            self._run(
                self._meanwhile(f"{'小暖，' if calls else ''}还有（暗号{self.said}号{where(one, group)}）", one, group)
            )
        self.one_turn_at_a_time_in_a_chat()
        if dies:
            self._run(self.world.crash())
        self._run(self.world.let_answer())

    async def _meanwhile(self, text: str, who: str, group: str) -> None:
        await self.world.app.ingest.accept(self.world.message(text, who, group))
        await let_others_run()

    @rule(who=PEOPLE, group=GROUPS)
    def somebody_clicks_twice(self, who: str, group: str) -> None:
        self.said += 1
        text = f"小暖，点了两下（暗号{self.said}号{where(who, group)}）"
        self._run(self._meanwhile(text, who, group))
        self._run(self._meanwhile(text, who, group))
        self._run(self.world.app.settled())

    @rule(text=TEXTS, who=PEOPLE, group=GROUPS)
    def somebody_writes(self, text: str, who: str, group: str) -> None:
        self.said += 1
        mark = "" if text.startswith(("/", ".", "忘")) else f"（暗号{self.said}号{where(who, group)}）"
        self._run(self.world.say(text + mark, who, group))

    @rule(who=PEOPLE, group=GROUPS, shut=st.booleans())
    def nuan_dies_while_the_model_thinks(self, who: str, group: str, shut: bool) -> None:
        self.said += 1
        self.world.shut()
        self._run(self._thinking(who, group))
        self._run(self.world.crash(shut=shut))
        self._run(self.world.let_answer())

    async def _thinking(self, who: str, group: str) -> None:
        text = f"小暖，想想看（暗号{self.said}号{where(who, group)}）"
        await self.world.app.ingest.accept(self.world.message(text, who, group))
        for _ in range(60):  # a short wait comes before a turn, a longer one after a flood
            if self.world.model.held:
                break
            await self.world.clock.advance(250, self._still)
        assert self.world.model.held or self._left_alone(), text

    def _left_alone(self) -> bool:
        """Whether the newest turn failed because the model is not asked for a while: it had failed too often."""
        failures = [str(fields["detail"]) for _, event, fields in self.world.log.lines if event == "model_failed"]
        failed = self.world.rows("SELECT state FROM turn ORDER BY id DESC LIMIT 1") == [("failed",)]
        return failed and "is left alone" in failures[-1]

    async def _still(self) -> None:
        """Return when nothing moves but calls that wait at the shut gate, or no further call is let in."""
        while self.world.app._activity._count > self.world.model.held < SLOTS:
            await let_others_run()

    @rule(fault=FAULTS, who=PEOPLE, group=GROUPS)
    def the_model_fails(self, fault: str, who: str, group: str) -> None:
        self.world.model.script = lambda request: ModelError(fault, "…")  # type: ignore[arg-type]
        self.somebody_writes("小暖，在吗", who, group)
        self.world.model.script = clever

    @rule(seconds=st.sampled_from((1, 5, 59, 301, 1800, 30_000)))
    def time_passes(self, seconds: int) -> None:
        self._run(self.world.wait(seconds))

    @rule(how=st.sampled_from(("restart", "crash", "away", "away long")))
    def nuan_is_gone(self, how: str) -> None:
        match how:
            case "restart":
                self._run(self.world.restart())
            case "crash":
                self._run(self.world.crash())
            case _:
                self._run(self.world.close())
                self.world.away(4000 if how == "away long" else 10)
                self._run(self.world.open())

    @invariant()
    def one_turn_at_a_time_in_a_chat(self) -> None:
        many = "SELECT chat_id FROM turn WHERE state IN ('asked', 'answered') GROUP BY chat_id HAVING count(*) > 1"
        assert self.world.rows(many) == []

    @invariant()
    def nothing_is_left_hanging_at_rest(self) -> None:
        rows = self.world.rows
        assert rows("SELECT count(*) FROM call WHERE state = 'reserved'") == [(0,)]
        assert rows("SELECT count(*) FROM turn WHERE state IN ('asked', 'answered')") == [(0,)]
        due = "SELECT count(*) FROM event WHERE state = 'queued' AND due_at <= ?"
        assert rows(due, self.world.clock.now()) == [(0,)]
        assert rows("SELECT count(*) FROM outbox WHERE state IN ('pending', 'sending')") == [(0,)]
        assert not [line for line in self.world.log.lines if line[0] == "error"]

    def teardown(self) -> None:
        """The end: everybody is answered, every session digested once, nobody heard what was not for them."""
        try:
            self._run(self.world.let_answer())  # a step that failed may have left the gate shut
            self._run(self.world.wait(100_000))
            self.nothing_is_left_hanging_at_rest()
            self._one_digest_each()
            self._everyone_was_answered()
            logs_of(self.world.turns, failures=True)
            self._every_chat_hears_its_own()
        finally:
            self._run(self.world.close())
            self.loop.close()
            shutil.rmtree(self.folder)

    def _one_digest_each(self) -> None:
        rows = self.world.rows
        closed = rows("SELECT id FROM session WHERE state = 'closed' ORDER BY id")
        assert rows("SELECT count(*) FROM session WHERE state <> 'closed'") == [(0,)]
        assert rows("SELECT session_id FROM digest WHERE session_id IS NOT NULL ORDER BY session_id") == closed

    def _everyone_was_answered(self) -> None:
        rows = self.world.rows
        assert rows("SELECT count(*) FROM event WHERE state = 'queued'") == [(0,)]
        answered = rows("SELECT event_id FROM turn_event JOIN turn ON turn.id = turn_id WHERE turn.state = 'said'")
        assert max(Counter(answered).values(), default=1) == 1
        clicked = rows("SELECT count(*) FROM event WHERE text LIKE '%点了两下%' GROUP BY text")
        assert clicked == [(1,)] * len(clicked)
        # Every call is answered, by its own turn or with others', unless somebody stopped it or was told why not.
        left = rows(
            f"SELECT text, outcome FROM event WHERE kind = 'message' AND why IN {CALLS} AND hidden = '' AND id NOT IN "
            f"(SELECT event_id FROM turn_event JOIN turn ON turn.id = turn_id WHERE turn.state = 'said') "
            f"AND outcome NOT IN {ENDS}"
        )
        assert left == []
        # Nothing is said to nobody: each turn answers somebody, or is an entry where that is allowed.
        asked = f"event.why IN {(*CALLS, 'window', 'join', 'listen')}"
        nobody = rows(
            "SELECT id FROM turn WHERE state = 'said' AND id NOT IN (SELECT turn_event.turn_id FROM turn_event "
            f"JOIN event ON event.id = event_id WHERE {asked})"
        )
        assert nobody == []
        # A call by one person overtakes the follow-up of another, which waits for silence; nobody overtakes oneself.
        orders = rows(
            "SELECT event.chat_id || '/' || event.person_id, printf('%09d', event.id) FROM turn_event "
            "JOIN event ON event.id = event_id JOIN turn ON turn.id = turn_event.turn_id WHERE turn.state = 'said' "
            "ORDER BY turn.id, event.id"
        )
        for person in {person for person, _ in orders}:
            mine = [event for its, event in orders if its == person]
            assert mine == sorted(mine, key=str)

    def _every_chat_hears_its_own(self) -> None:
        """A mark names the chat it was written in; no request and no reply holds marks of two chats.

        A digest may cut a mark: what is left of it is the beginning of the same chat's word.
        """
        heard = ["".join(message.content for message in prompt) for prompt in self.world.prompts]
        said: dict[int, str] = {}
        for outgoing in self.world.talk.said:
            said[outgoing.chat_id] = said.get(outgoing.chat_id, "") + outgoing.text
        for text in (*heard, *said.values()):
            words = re.findall(r"暗号\d+号([a-z]+)", text)
            assert any(all(chat.startswith(word) for word in words) for chat in WHERE)


def where(who: str, group: str) -> str:
    """A word for the chat that this is written in."""
    return {"闲聊": "groupa", "别的群": "groupb"}.get(group) or {"小王": "dma", "阿明": "dmb", "阿红": "dmc"}[who]


# make torture does two thousand runs (row F7).
TestRandomTalk = Talking.TestCase
TestRandomTalk.settings = settings(
    max_examples=sized(6), stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
)
