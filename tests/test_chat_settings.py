"""What owners set in a chat: checked like the file, above it, with who said it and when, until it is taken back."""

from dataclasses import dataclass, replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from bot.cli.reload import chat_setting_findings
from bot.commands.registry import COMMANDS
from bot.commands.settings import SETTING_WORDS, InvalidWords, parse_setting
from bot.config.checks import value_fits
from bot.config.settings import Settings
from bot.text.codes import without_keys
from tests.reloading import SERVER, TOML, Filed
from tests.tables import all_cases
from tests.world import Talk, World

LOOPBACK = 'base_url = "http://127.0.0.1:9/v1"\nname = "{}"\n'
MODELS = f"""{SERVER.format(name="groß-1")}
[fallback]
name = "mittel-1"
[small]
{LOOPBACK.format("klein-1")}"""


async def said(world: Filed, text: str, who: str = "小王", group: str = "") -> str:
    """The answer to a command."""
    await world.say(text, who, group)
    return world.replies[-1]


async def test_what_is_set_holds_at_once_lasts_and_is_taken_back(filed: Filed) -> None:
    assert await said(filed, ".ai max") == "一次回答最长：512 token（按配置）"
    assert await said(filed, ".ai max 800") == "一次回答最长：800 token（小王 06-12 09:00 说的）"
    await filed.say("在吗")
    assert filed.model.requests[-1].max_tokens == 800
    filed.write("[model]\nmax_output_tokens = 300\n")
    assert (await filed.reload()).problems == ()
    await filed.restart()
    assert "800 token" in await said(filed, ".ai max")
    assert await said(filed, ".ai budget maxtokens 900") == "一次回答最长：900 token（小王 06-12 09:00 说的）"
    assert await said(filed, ".ai max reset") == "一次回答最长：300 token（按配置）"
    await filed.say("还在吗")
    assert filed.model.requests[-1].max_tokens == 300


@all_cases(
    "words",
    [
        "max 19",
        "max -5",
        "max x",
        "max 1.5",
        "max 5 5",
        "max 1e3",
        "max 99999999999",
        "max off",
        "reply maxlen 59",
        "reply 100",
        "reply maxlen",
        "tools maybe",
        "budget day",
        "budget day 5 EUR",
        "budget day -1",
        "budget day 200k",
        "budget day 1.5 tok",
        "budget day 5 5",
        "budget currency EURO",
        "budget pricein x priceout 2",
        "budget day nan",
        "budget maxtokens 63",
        "budget notify 3",
        "budget month 五块",
        "budget foo 3",
        "budget day 5元",
    ],
)
def test_what_is_no_value_sets_nothing_and_says_how_it_would_be_right(words: str) -> None:
    name, *rest = words.split()
    found = parse_setting(name, tuple(rest), Settings())
    assert isinstance(found, InvalidWords)
    assert found.example.startswith(f".ai {name}")


async def test_wrong_words_others_and_contradictions_change_nothing(filed: Filed) -> None:
    await filed.say("Let me tell you about it")
    before = filed.rows("SELECT * FROM setting")
    line = "I can't use “5 EUR” there, so nothing has changed; for example: .ai budget day 5, .ai budget day 200k tok"
    assert await said(filed, ".ai budget day 5 EUR") == line
    assert "the least is 20," in await said(filed, ".ai max 5")
    assert (await said(filed, ".ai max 99999999")).startswith("I can't use “99999999” there")
    refused = await said(filed, ".ai max 999999")
    assert refused.startswith("That does not go together")
    assert "model.window_tokens" in refused
    for words in (
        "max 800",
        "reply maxlen 100",
        "tools off",
        "budget day 5",
        "budget resetday",
        "model small",
        "off all",
        "trace on",
        "base",
    ):
        for group in ("", "家"):
            assert "主人" in await said(filed, f".ai {words}", "阿明", group), words
    assert filed.rows("SELECT * FROM setting") == before == []
    assert filed.peek.recounts.count() == 0


async def test_a_budget_is_set_shown_with_its_place_and_counts_anew(tmp_path: Path) -> None:
    filed = await Filed(tmp_path, SERVER.format(name="groß-1")).open()
    try:
        for price in ("pricein", "priceout"):
            *_, missing, both = (await said(filed, f".ai budget {price} 1")).splitlines()
            assert ": missing" in missing
            assert both == "两个价格一起说：.ai budget pricein 0.5 priceout 2"
        await said(filed, ".ai budget pricein 1 priceout 3")
        assert await said(filed, ".ai budget priceout 2") == "输出价格：每百万 token 2 USD（小王 06-12 09:00 说的）"
        assert await said(filed, ".ai budget day 0.0018") == "每天上限：0.0018 USD（小王 06-12 09:00 说的）"
        assert (
            await said(filed, ".ai budget month 200k tok") == "每月 token 上限：200000 token（小王 06-12 09:00 说的）"
        )
        await filed.say("在吗")
        before = len(filed.model.requests)
        filed.write(SERVER.format(name="groß-1") + "[budget]\nday_money = 9\n")
        await filed.restart()
        shown = await said(filed, ".ai budget show")
        assert "0.0018 USD" in shown
        assert "输入价格：每百万 token 1 USD（小王 06-12 09:00 说的）" in shown
        assert "小王" not in await said(filed, ".ai budget", "阿明")
        await filed.say("讲个故事")
        assert len(filed.model.requests) == before
        assert await said(filed, ".ai budget resetday") == (
            "今天的重新从零数起；正在进行的还算，用过的在 .ai calls 里都还在"
        )
        assert "今天从 06-12 09:00 起重新数（小王）" in await said(filed, ".ai budget")
        await filed.say("再讲一个")
        assert len(filed.model.requests) > 0
        (finding,) = [each for each in chat_setting_findings(tmp_path / "data") if "budget.day_money" in each.text]
        assert finding.text == "budget.day_money = 0.0018, said by 小王 on 2026-06-12: `nuan unset budget.day_money`"
        assert "每天上限：9 USD（按配置）" in await said(filed, ".ai budget reset")
        assert filed.peek.settings.count() == 0
    finally:
        await filed.close()


async def test_any_configured_model_answers_first_and_no_other(tmp_path: Path) -> None:
    filed = await Filed(tmp_path, MODELS).open()
    try:
        before = await said(filed, ".ai model")
        assert before == "→ model：groß-1\n  fallback：mittel-1\n  small：klein-1\n先回答的是：model（按配置）"
        assert await said(filed, ".ai model klein-1") == (
            "从下一句起由 klein-1 来答\n先回答的是：small（小王 06-12 09:00 说的）"
        )
        settings = filed.app.parts.current.settings
        assert (settings.model.name, settings.fallback.name, settings.small.name) == ("klein-1", "groß-1", "")
        assert settings.fallback.base_url == "http://127.0.0.1:9/v1"
        await said(filed, ".ai budget pricein 3 priceout 4")
        assert filed.rows("SELECT key FROM setting ORDER BY key") == [
            ("model.use",),
            ("small.price_input",),
            ("small.price_output",),
        ]
        assert (await said(filed, ".ai model gross-9")).startswith("没有配“gross-9”这个模型")
        assert await said(filed, ".ai base") == "我问的是 http://127.0.0.1:9/v1"
        for words in ("base http://evil.example/v1", "base http://127.0.0.1:9/v1"):
            assert "model.base_url" in await said(filed, f".ai {words}")
        filed.write(SERVER.format(name="groß-1"))
        (problem, *_) = (await filed.reload()).problems
        assert problem.startswith("model.use: names [small], where no model is configured (set by a chat; `nuan unset")
        assert filed.app.parts.current.settings.model.name == "klein-1"
        assert "从下一句起由 groß-1 来答" in await said(filed, ".ai model reset")
        assert filed.app.parts.current.settings.model.name == "groß-1"
    finally:
        await filed.close()


async def test_replies_are_bounded_and_tools_go(filed: Filed) -> None:
    await said(filed, ".ai reply maxlen 60")
    filed.model.script = lambda request: "今天天气很好。我们去公园散步吧！" * 8
    long = await said(filed, "说说今天")
    assert len(long) <= 60
    assert long.endswith(("。…", "！…"))
    await filed.say("再说说")
    assert filed.turns[-1][-2].content == long, "the log holds what people saw"
    await said(filed, ".ai reply reset")
    assert len(await said(filed, "又怎么样")) > 60
    assert await said(filed, ".ai tools off") == "工具：关（小王 06-12 09:00 说的）"
    await filed.say("现在呢")
    assert filed.model.requests[-1].prompt.tools == ()
    assert await said(filed, ".ai tools on") == "工具：开（小王 06-12 09:00 说的）"
    await filed.say("那现在呢")
    assert filed.model.requests[-1].prompt.tools != ()


async def test_off_everywhere_reads_on_answers_nobody_and_still_reminds(filed: Filed) -> None:
    await said(filed, "提醒我十分钟后喝水")
    assert await said(filed, ".ai off all") == (
        "好，所有地方我都先安静：还会听着，指令照样能用，你们要的提醒也照样来；.ai on all 叫醒我"
    )
    before = len(filed.replies), len(filed.model.requests)
    await filed.say("小暖，在吗", "阿明", "家")
    await filed.say("在吗")
    assert (len(filed.replies), len(filed.model.requests)) == before
    assert filed.peek.events.count(text="小暖，在吗") == 1
    await filed.restart()
    await filed.say("小暖，在吗", "阿明", "家")
    assert len(filed.replies) == before[0]
    assert "所有地方都关着" in await said(filed, ".ai on")
    await filed.wait(600)
    assert "喝水" in filed.replies[-1]
    await said(filed, ".ai on all")
    await filed.say("小暖，还在吗", "阿明", "家")
    assert filed.replies[-1] == "好的"


@dataclass
class Ruled(Talk):
    """A platform that knows who looks after its groups, when it can be asked."""

    admins: frozenset[str] = frozenset()
    away: bool = False

    async def is_admin(self, external_chat_id: str, account: str) -> bool:
        """As the platform says."""
        if self.away:
            raise OSError("away")
        return external_chat_id == "group:家" and account in self.admins


async def test_a_group_is_switched_by_its_admins_and_everything_by_owners(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.talk = talk = Ruled(admins=frozenset({"person:阿明"}))
    await world.open()
    try:
        for who, group, answer in (
            ("小李", "家", "管理员"),
            ("阿明", "外", "管理员"),
            ("阿明", "家", "先不说话"),
            ("小李", "家", "管理员"),
        ):
            await world.say(".ai off", who, group)
            assert answer in world.replies[-1], (who, group)
        before = len(world.replies)
        await world.say("小暖，在吗", "小李", "家")
        assert len(world.replies) == before
        talk.away = True
        await world.say(".ai on", "阿明", "家")
        assert "再试一次" in world.replies[-1]
        talk.away = False
        await world.say(".ai on", "阿明", "家")
        await world.say(".ai off all", "阿明", "家")
        assert "主人" in world.replies[-1]
        await world.say("小暖，在吗", "小李", "家")
        assert world.replies[-1] == "好的"
    finally:
        await world.close()


async def test_an_owner_is_told_of_each_turn_in_private_alone(filed: Filed) -> None:
    assert "私聊" in await said(filed, ".ai trace on", group="家")
    await said(filed, ".ai trace on")
    await filed.say("小暖，我的秘密是荷花", "阿明", "家")
    reply, line = filed.talk.said[-2:]
    assert reply.text == "好的"
    assert line.external_chat_id == "local"
    assert line.text.startswith("⋯ 聊天 ")
    assert "荷花" not in line.text
    assert "阿明" not in line.text
    await filed.restart()
    await filed.say("在吗")
    assert [each.text.startswith("⋯") for each in filed.talk.said[-2:]] == [False, True]
    assert "⋯" not in filed.sent
    filed.write("", TOML.replace("[bot]\n", '[bot]\nowners = ["console:other"]\n'))
    await filed.reload()
    await filed.say("还在吗")
    assert filed.replies[-1] == "好的", "who is no owner any more is told nothing"
    filed.write("")
    await filed.reload()
    await said(filed, ".ai trace off")
    await filed.say("那现在呢")
    assert filed.replies[-1] == "好的"


KEY = "sk-abcdefghij0123456789CANARY"
PLAIN = "deadbeef01CANARY"


PASTED = (
    f".ai key {KEY}",
    f"。AI ｋｅｙ\n{KEY}",
    f".ai token {KEY}",
    f".ai kye {PLAIN}",
    f".ai key={KEY}",
    f".ai api-key:{PLAIN}",
    f"/ai base http://x/v1 {KEY}",
    f"/ai_key {PLAIN}",
    f"/ai_key@nuan_bot {PLAIN}",
    f"/key {PLAIN}",
    f".ai@nuan_bot key {PLAIN}",
    f".aikey {PLAIN}",
    f"．ａｉ ｋｅｙ {PLAIN}",
    f".a\u200bi key {PLAIN}",
    f"@小暖 .ai key {PLAIN}",
    f"。AI密钥 {PLAIN}",
    f".ai 金鑰 {PLAIN}",
    f".ai 钥匙{PLAIN}",
    f".ai set key {PLAIN}",
    f".ai model api_key={PLAIN}",
    f"你好\n.ai key {PLAIN}",
    f"`.ai key {PLAIN}`",
    f"> .ai key {PLAIN}",
    f"小暖，.ai key {PLAIN}xyz",
    f".ai budget key {PLAIN}",
)


@all_cases("text", PASTED)
def test_a_key_is_cut_out_of_every_command(text: str) -> None:
    assert "CANARY" not in without_keys(text)
    assert without_keys("我的 .ai key 是什么") == "我的 .ai key 是什么"
    for plain in (".ai mem key under the mat", "/keys/foo is a path", ".ai key", "小暖，密钥是什么", "a.ai keyboard"):
        assert without_keys(plain) == plain
    for command in COMMANDS:
        if command.name != "key":
            assert without_keys(f".ai {command.name} 5 家") == f".ai {command.name} 5 家"


async def test_a_key_in_a_chat_is_refused_and_stays_nowhere(filed: Filed) -> None:
    for who, group in (("小王", ""), ("小王", "家"), ("阿明", "家")):
        assert "删掉" in await said(filed, f".ai key {KEY}", who, group)
    assert "删掉" in await said(filed, f".ai kye {PLAIN}")
    await filed.say("什么意思", quote=f".ai key {KEY}")
    edit = filed.message("", external_id="", target="m1")
    await filed.say("在吗", external_id="m1")
    await filed.app.ingest.accept(replace(edit, kind="event", label="edit", text=f".ai key {KEY}"))
    await filed.app.settled()
    assert await said(filed, ".ai key") == "密钥不在聊天里设：请在我住的机器上用 `nuan init`"
    await filed.close()
    assert "CANARY" not in filed.sent + repr(filed.log.lines) + "".join(filed.replies)
    assert [path for path in filed.home.rglob("*") if path.is_file() and b"CANARY" in path.read_bytes()] == []
    await filed.open()


@given(
    st.sampled_from(sorted(SETTING_WORDS)),
    st.lists(
        st.one_of(
            st.sampled_from(
                ["day", "month", "5", "200k", "tok", "off", "reset", "usd", "$3", "pricein", "on", "maxlen", "万"]
            ),
            st.text(max_size=12),
        )
    ),
)
def test_whatever_is_said_either_fits_or_sets_nothing(name: str, words: list[str]) -> None:
    found = parse_setting(name, tuple(" ".join(words).split()), Settings())
    if isinstance(found, InvalidWords):
        return
    assert all(value is None or value_fits(key, value) for key, value in found.items())
