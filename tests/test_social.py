"""Three people on two platforms, one of them hostile: whatever is linked, unlinked, allowed, approved and guessed, nobody
has another's memory or rank."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from bot.config.settings import Settings
from tests.sizes import sized
from tests.world import World

PLATFORMS = ("telegram", "discord")
HONEST, HOSTILE = ("阿明", "阿红"), "贼"
CODE = re.compile(r"\b[2-9A-HJKMNP-Z]{8}\b")
ASKED = re.compile(r"\.ai link yes ([2-9A-HJKMNP-Z]{8})")

Account = tuple[str, str]
"""A platform, and who sits there."""

accounts = st.tuples(st.sampled_from(PLATFORMS), st.sampled_from(HONEST))
hostile = st.tuples(st.sampled_from(PLATFORMS), st.just(HOSTILE))


class SocialWays(RuleBasedStateMachine):
    """Honest people say yes to a link only where both accounts that they are told are their own."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = TemporaryDirectory()
        self.codes: list[str] = []
        self.told: dict[Account, list[str]] = {}
        self.count = 0

    @initialize()
    def begin(self) -> None:
        """All may talk; 阿明 owns nuan on Telegram."""
        allow = {name: {"allow": [f"{name[0]}-{who}" for who in HONEST]} for name in PLATFORMS}
        bot = {"timezone": "Asia/Shanghai", "owners": ["telegram:t-阿明"]}
        self.world = World(Path(self.folder.name) / "data", Settings.model_validate({"bot": bot, **allow}), PLATFORMS)
        self.loop.run_until_complete(self.world.open())

    def say(self, account: Account, text: str) -> str:
        """Somebody writes in private; what they are told, with all codes that anybody learns from it."""
        platform, who = account
        before = len(self.world.talk.said)
        self.loop.run_until_complete(self.world.say(text, who, platform=platform))
        said = self.world.talk.said[before:]
        mine = [out.text for out in said if out.platform == platform and out.external_chat_id == f"dm:{who}"]
        self.codes += [code for text in mine for code in CODE.findall(text)]
        return "\n".join(mine)

    @rule(account=accounts)
    def tells(self, account: Account) -> None:
        """An honest person has something of theirs kept."""
        self.count += 1
        word = f"怕妖怪{self.count}号"
        if self.say(account, f"记住我{word}").startswith("记住啦"):
            self.told.setdefault(account, []).append(word)

    @rule(account=accounts, data=st.data())
    def tells_again(self, account: Account, data: st.DataObject) -> None:
        """An honest person tells from this account what they told from another."""
        other = (next(each for each in PLATFORMS if each != account[0]), account[1])
        if self.told.get(other):
            word = data.draw(st.sampled_from(self.told[other]))
            if "记" in self.say(account, f"记住我{word}") and word not in self.told.setdefault(account, []):
                self.told[account].append(word)

    @rule(account=st.one_of(accounts, hostile))
    def asks_for_a_code(self, account: Account) -> None:
        """Anybody asks for a code; others may learn of it."""
        self.say(account, ".ai link")

    @rule(account=hostile, data=st.data(), form=st.sampled_from(["{}", "/start {}", ".ai link {}", ".ai link yes {}"]))
    def tries_a_code(self, account: Account, data: st.DataObject, form: str) -> None:
        """The hostile one uses any code that was ever seen, in any form."""
        if self.codes:
            self.say(account, form.format(data.draw(st.sampled_from(self.codes))))

    @rule(account=accounts, data=st.data(), form=st.sampled_from(["{}", "/start {}", ".ai link {}"]))
    def is_talked_into_a_code(self, account: Account, data: st.DataObject, form: str) -> None:
        """An honest person sends a code that somebody gave them, and agrees only where both accounts are theirs."""
        if self.codes:
            answer = self.say(account, form.format(data.draw(st.sampled_from(self.codes))))
            asked = ASKED.search(answer)
            if asked and not set(re.findall(r"(\w+) \((?:telegram|discord):", answer)) - {account[1]}:
                for platform in PLATFORMS:
                    self.say((platform, account[1]), f".ai link yes {asked[1]}")

    @rule(who=st.sampled_from(HONEST))
    def links_their_own(self, who: str) -> None:
        """An honest person links their two accounts."""
        for code in self.used_by(who, who):
            self.say(("telegram", who), f".ai link yes {code}")

    @rule(who=st.sampled_from(HONEST), taker=st.sampled_from([*HONEST, HOSTILE]))
    def used_by_another(self, who: str, taker: str) -> None:
        """Somebody else uses the code of an honest person, and agrees; the honest one does not."""
        if taker != who:
            self.used_by(who, taker)

    def used_by(self, who: str, taker: str) -> list[str]:
        """The code that somebody asks for on Telegram, when it was used on Discord and agreed to there."""
        self.loop.run_until_complete(self.world.wait(3_601))  # wrong codes count for an hour
        codes = CODE.findall(self.say(("telegram", who), ".ai link"))
        for code in codes:
            self.say(("discord", taker), f".ai link {code}")
            self.say(("discord", taker), f".ai link yes {code}")
        return codes

    @rule(account=st.one_of(accounts, hostile))
    def unlinks(self, account: Account) -> None:
        """Anybody takes their newest link back."""
        self.say(account, ".ai unlink")

    @rule(account=hostile, command=st.sampled_from(["allow", "deny", "approve"]), data=st.data())
    def decides(self, account: Account, command: str, data: st.DataObject) -> None:
        """The hostile one tries what only owners may."""
        whom = data.draw(st.sampled_from(["telegram:t-贼", "discord:d-贼", "telegram:t-阿红", *self.codes[-3:]]))
        answer = self.say(account, f".ai {command} {whom}")
        assert "可以跟我聊天" not in answer
        assert "不理" not in answer

    @rule(name=st.sampled_from([*HONEST, "telegram:t-阿明"]))
    def takes_a_name(self, name: str) -> None:
        """The hostile one calls themselves like somebody else; the owner means the other one by it."""
        place = self.world.message("你好", HOSTILE, platform="discord")
        sender = place.sender
        assert sender is not None
        self.loop.run_until_complete(self.world.app.ingest.accept(replace(place, sender=replace(sender, name=name))))
        self.loop.run_until_complete(self.world.app.settled())
        self.say(("telegram", "阿明"), f".ai allow {name}")

    @invariant()
    def nobody_has_what_is_not_theirs(self) -> None:
        """Of memories only what one's own accounts told; no rank and no way in for the hostile one."""
        if not hasattr(self, "world"):
            return
        rows = self.world.rows(
            "SELECT memory.text, account.platform, external_id FROM memory JOIN account ON "
            "account.person_id = memory.owner_id WHERE disabled_at IS NULL"
        )
        whose = {word: account[1] for account, words in self.told.items() for word in words}
        for text, platform, external_id in rows:
            assert external_id == f"{str(platform)[0]}-{whose[str(text).removeprefix('我')]}", (text, external_id)
        held = {(word, str(platform)) for text, platform, _ in rows for word in [str(text).removeprefix("我")]}
        assert held >= {(word, account[0]) for account, words in self.told.items() for word in words}
        owners = self.world.rows(
            "SELECT external_id FROM account WHERE person_id IN (SELECT person_id FROM account WHERE "
            "external_id = 't-阿明' OR owner = 1)"
        )
        assert {name for (name,) in owners} <= {"t-阿明", "d-阿明"}
        hostile_ones = "SELECT count(*) FROM account JOIN person ON person.id = person_id WHERE external_id LIKE '%贼'"
        assert self.world.rows(f"{hostile_ones} AND access = 'allowed'") == [(0,)]

    def teardown(self) -> None:
        """What the index holds is what it would hold if it were made anew."""
        if hasattr(self, "world"):
            self.loop.run_until_complete(self.world.close())
        self.loop.close()
        self.folder.cleanup()


SocialWays.TestCase.settings = settings(max_examples=sized(12), stateful_step_count=25, deadline=None)
test_three_people_on_two_platforms = SocialWays.TestCase
