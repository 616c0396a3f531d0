"""What the web page shows and what its memories can be told to do, through the whole bot."""

import html
import json
import re
import tomllib
from urllib.parse import urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.config.settings import Settings
from bot.config.sources import settings_shown
from bot.core.files import resource_dir
from bot.core.people import SCRIPTS
from bot.web.requests import FOLDER
from tests.conftest import NewWorld
from tests.fakes.model import says
from tests.test_catalogue import holes
from tests.webbed import Answer, Webbed, webbed
from tests.world import World

HOSTILE = "<img src=x onerror=alert(1)>\"'</pre><script>alert(2)</script>"


def pieces(answer: Answer) -> list[tuple[str, str]]:
    """The parts of a turn's page: which, and the text a reader would copy."""
    found = re.findall(r'data-part="(\w+)".*?<pre tabindex="0">(.*?)</pre>', answer.text, re.DOTALL)
    return [(name, html.unescape(text)) for name, text in found]


async def test_a_turn_shows_exactly_what_the_model_saw_part_by_part(world: World) -> None:
    await world.say("记住我怕狗")
    await world.say("你好呀，我怕什么？")
    await world.say("今天天气真好 <b>&amp;")
    async with webbed(world) as page:
        first, second = [pieces(await page.visitor.get(f"/turns/{number}")) for number in (1, 2)]
    request = world.model.requests[-1]
    system, *log = request.prompt.messages
    said = dict(second)
    assert f"{said['system']}\n\n{said['bootstrap']}" == system.content
    assert said["tools"].splitlines() == [json.dumps(tool.wire(), ensure_ascii=False) for tool in request.prompt.tools]
    sent = [text for name, text in second if name not in ("system", "bootstrap", "tools")]
    assert "".join(sent[:-1]) == "".join(message.content for message in log), "and then she answered"
    assert [name for name, _ in second] == [
        "system",
        "bootstrap",
        "tools",
        "opening",
        "delta",
        "answer",
        "delta",
        "answer",
    ]
    assert second[: len(first)] == first, "a turn only appends"


async def test_a_turn_tells_why_she_spoke_what_was_cached_and_what_it_cost(world: World) -> None:
    await world.say("你好")
    await world.say("小暖 在吗", "阿明", group="家")
    async with webbed(world) as page:
        ((number, prompt, cached, output),) = world.rows(
            "SELECT turn_id, prompt_tokens, cached_tokens, output_tokens FROM call ORDER BY id DESC LIMIT 1"
        )
        text = (await page.visitor.get(f"/turns/{number}?lang=en")).plain
        assert "阿明 called me by name" in text
        assert f"{prompt} tokens in, {cached} of them cached" in text
        assert f"{output} out" in text
        assert "a new conversation begins" in text
        assert "小暖 在吗" in text
        listed = (await page.visitor.get("/turns")).plain
        assert listed.count("called me by name") == 1
        (chat,) = world.peek.chats("id", kind="group")
        assert "direct" not in (await page.visitor.get(f"/turns?chat={chat[0]}")).plain
        assert (await page.visitor.get("/turns/99")).status == 404
        assert (await page.visitor.get("/turns/９")).status == 404


async def test_what_was_forgotten_is_on_no_page(world: World) -> None:
    canary = "紫色的大象叫阿福"
    await world.say(f"记住{canary}")
    await world.say("你还记得我的大象吗")
    async with webbed(world) as page:
        pages = await page.every_page()
        assert canary in pages["/memories"].plain
        assert canary in pages["/live"].plain
        await world.say("忘记 #1")
        for path, answer in (await page.every_page()).items():
            assert answer.status == 200, path
            assert canary not in answer.plain, path
        assert "已经忘记" in (await page.visitor.get("/memories/1?lang=zh-Hans")).plain


async def test_what_is_not_to_be_recorded_is_not_told_to_the_operator_either(world: World) -> None:
    await world.say("我偷偷攒了三万块")
    await world.say("别记这个")
    async with webbed(world) as page:
        for path in ("/live", "/live/rows", "/turns"):
            assert "三万块" not in (await page.visitor.get(path)).plain, path


@pytest.mark.parametrize("lang", SCRIPTS)
async def test_whatever_people_write_stays_text(world: World, lang: str) -> None:
    await world.say(f"记住{HOSTILE}")
    await world.say(f"小暖 {HOSTILE}", HOSTILE, group=HOSTILE)
    world.model.script = lambda request: HOSTILE
    await world.say("/new")
    async with webbed(world) as page:
        await page.visitor.send("/chat", text=HOSTILE)
        await world.app.settled()
        for path, answer in (await page.every_page(lang)).items():
            assert answer.status == 200, path
            if path == "/usage.json":
                assert answer.headers["content-type"] == "application/json", "no browser reads it as a page"
                continue
            assert "<img" not in answer.text, path
            assert "<script>" not in answer.text, path
            assert "onerror=alert(1)>" not in answer.text, path
        for path in ("/memories", "/live", "/people", "/chat"):
            assert "<script>alert(2)</script>" in html.unescape((await page.visitor.get(path)).text), path


async def test_the_overview_says_who_talked_what_is_due_and_what_it_cost(world: World) -> None:
    world.model.script = lambda _: says("好呀", prompt_tokens=1_000)
    await world.say("小暖 在吗", "阿明", group="家")
    await world.wait(86_400)
    await world.say("明天早上8点提醒我带简历")
    async with webbed(world) as page:
        assert (await page.visitor.get("/")).headers["location"] == "/overview"
        told = (await page.visitor.get("/overview?lang=en")).plain
        ((tokens,),) = world.rows("SELECT sum(prompt_tokens + output_tokens) FROM call")
    for said in (
        "阿明",
        "console · 家",
        "console · in private",
        "带简历",
        "06-14 08:00",
        "Times are those of Asia/Shanghai.",
        f"{tokens:,} tokens",
        "Last 7 days",
        "does everything",
    ):
        assert said in told, said


async def test_a_person_s_page_has_what_holds_with_what_held_before_and_where_it_is_from(world: World) -> None:
    await world.say("记住我住在上海")
    await world.wait(3 * 86_400)
    await world.say("记住我住在北京")
    await world.say("记住我养了一只猫", "阿明")
    async with webbed(world) as page:
        text = (await page.visitor.get("/people/1?lang=en")).plain
        assert text.index("我住在北京") < text.index("我住在上海")
        assert all(said in text for said in ("until 2026-06-15", "asked for · 2026-06-12", "#1", "#2"))
        assert "猫" not in text
        now = (await page.visitor.get("/memories/2?lang=en")).plain
        assert "What held before" in now
        assert "What holds now: #2" in (await page.visitor.get("/memories/1?lang=en")).plain
        assert (await page.visitor.get("/people/99")).status == 404


async def test_the_figures_of_the_plots_add_up_to_the_ledger(world: World) -> None:
    await world.say("你好")
    await world.say("小暖 在吗", "阿明", group="家")
    await world.wait(86_400)
    await world.say("早")
    async with webbed(world) as page:
        plots = json.loads((await page.visitor.get("/usage.json?days=3")).text)
        ((prompt, cached, output),) = world.rows(
            "SELECT sum(prompt_tokens), sum(cached_tokens), sum(output_tokens) FROM call"
        )
        sums = {name: [sum(series) for series in plot["series"].values()] for name, plot in plots.items()}
        assert (sums["day"][1:], sum(sums["day"])) == ([cached, output], prompt + output)  # type: ignore[operator]
        assert plots["day"]["labels"] == ["06-11", "06-12", "06-13"]
        assert sum(sums["chat"]) == sum(sums["cause"]) == sum(sums["day"])
        assert len(plots["chat"]["series"]) == 2
        assert len(json.loads((await page.visitor.get("/usage.json?days=9999")).text)["day"]["labels"]) == 30


async def test_chats_beyond_the_largest_are_one_line_of_the_plot(world: World) -> None:
    for number in range(9):
        for _ in range(9 - number):
            await world.say("小暖，在吗？", "阿明", group=f"群{number}")
            await world.wait(1)
    async with webbed(world) as page:
        plots = json.loads((await page.visitor.get("/usage.json?days=2")).text)
    series = plots["chat"]["series"]
    assert [name.split()[-1] for name in series][:-1] == [f"群{number}" for number in range(5)]
    assert len(series) == 6
    assert sum(map(sum, series.values())) == sum(map(sum, plots["day"]["series"].values()))


async def test_a_page_of_people_goes_on_where_the_one_before_it_ended(world: World) -> None:
    for number in range(103):
        await world.say("大家好", f"人{number}", group="闲聊")
    async with webbed(world) as page:
        first, second = [(await page.visitor.get(f"/people?after={after}")).text for after in (0, 100)]
    assert 'href="/people?after=100"' in first
    assert "人99<" in first
    assert "人100<" not in first
    assert ("人99<" in second, "人100<" in second, "人102<" in second) == (False, True, True)
    assert "after=200" not in second


async def test_dialogue_memory_is_a_time_line_and_people_have_their_memories(world: World) -> None:
    await world.say("记住我怕狗")
    await world.say("我昨天去了苏州，看了一场评弹，晚上还吃了松鼠桂鱼")
    await world.say("明天我要去医院看牙，有点紧张")
    await world.say("/new")
    async with webbed(world) as page:
        ((summary,),) = world.peek.digests("summary")
        told = (await page.visitor.get("/dialogue")).plain
        assert summary
        assert str(summary) in told
        assert "2026-06-12" in told
        people = await page.visitor.get("/people?lang=en")
        assert "console:local" in people.plain
        assert "owner" in people.plain
        assert re.search(r'<a href="/people/1">[1-9]', people.text)


async def test_talks_that_were_rolled_up_are_inside_what_they_became(world: World) -> None:
    for text in ("我昨天去了苏州，看了一场评弹，晚上还吃了松鼠桂鱼", "明天我要去医院看牙，有点紧张，怕医生说要拔"):
        await world.say(text)
        await world.say("嗯，就是这样，想起来还是很开心的")
        await world.say("/new")
    await world.wait(2 * 86_400)
    async with webbed(world) as page:
        text = (await page.visitor.get("/dialogue?lang=en")).text
        rolled = world.rows("SELECT count(*) FROM digest WHERE into_id IS NOT NULL AND summary <> ''")
        assert rolled != [(0,)]
        assert "talks</span>" in text
        part, *_ = world.rows("SELECT summary FROM digest WHERE into_id IS NOT NULL ORDER BY id")
        assert html.escape(str(part[0])) in text[text.index("The talks in it") :]


async def test_promises_and_reminders_are_listed_until_they_are_over(world: World) -> None:
    await world.say("我保证明天把报告写完")
    await world.say("明天早上8点提醒我开会")
    await world.say("每天晚上十点提醒我吃药")
    await world.say("remind me in 20 minutes")
    async with webbed(world) as page:
        for path in ("/overview", "/promises"):
            assert "(no longer told)" not in (await page.visitor.get(f"{path}?lang=en")).plain
        told = (await page.visitor.get("/promises?lang=en")).plain
        assert told.count("报告") == 2, "the promise, and the reminder of it"
        assert told.index("吃药") < told.index("开会"), "the next first"
        assert all(text in told for text in ("2026-06-13 08:00", "every day at 10:00 PM", "once"))
        await world.say(".ai remind cancel 2")
        assert "开会" not in (await page.visitor.get("/promises")).plain


async def test_live_events_grow_from_where_they_were(world: World) -> None:
    await world.say("第一句")
    async with webbed(world) as page:
        answer = await page.visitor.get("/live")
        after = re.search(r"after=(\d+)", answer.text)
        assert after is not None
        await world.say("第二句")
        more = await page.visitor.get(f"/live/rows?after={after[1]}", hx_request="true")
        assert ("第二句" in more.plain, "第一句" in more.plain, "<html" in more.text) == (True, False, False)
        assert "跟我说话" in more.plain or "why" not in more.plain


async def test_settings_show_the_place_of_each_value_and_no_secret(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / "nuan.toml").write_text('[bot]\nowner = "王"\n[model]\nbase_url = "http://127.0.0.1:9/v1"\nname = "m"\n')
    (home / ".env").write_text("NUAN_MODEL__API_KEY=sk-canary-1\nNUAN_TELEGRAM__PROXY=http://me:canary-2@127.0.0.1:1\n")
    env = {"NUAN_WEB__PORT": "8400", "HOME": "/"}
    given = Settings.model_validate(
        {
            "bot": {"owner": "王"},
            "web": {"port": 8400},
            "telegram": {"proxy": "http://me:canary-2@127.0.0.1:1"},
            "model": {"base_url": "http://127.0.0.1:9/v1", "name": "m", "api_key": "sk-canary-1"},
        }
    )
    async with webbed(world) as page:
        page.shown = settings_shown(given, home / "nuan.toml", env)
        text = (await page.visitor.get("/settings?lang=en")).text
    rows = dict(re.findall(r"<code>([\w.]+)</code></th>(.*?)</tr>", text))
    assert "file</span> nuan.toml" in rows["bot.owner"]
    assert "environment</span> NUAN_WEB__PORT" in rows["web.port"]
    assert ".env</span> NUAN_MODEL__API_KEY" in rows["model.api_key"]
    assert "set (not shown)" in rows["model.api_key"]
    assert "not set" in rows["discord.token"]
    assert ">default</td>" in rows["web.host"]
    assert "canary" not in text
    assert "canary-1" not in str(page.shown)


async def test_the_persona_is_there_to_be_read(world: World) -> None:
    async with webbed(world) as page:
        text = (await page.visitor.get("/persona")).plain
    folder = resource_dir("data/persona") / "default"
    assert all(name in text for name in (str(folder), "SOUL.md", "skills/comfort.md"))
    assert (folder / "SOUL.md").read_text("utf-8").strip() in text


async def test_a_line_of_the_chat_box_is_answered_and_both_are_there(world: World) -> None:
    async with webbed(world) as page:
        world.model.script = lambda request: "在呀"
        answer = await page.visitor.send("/chat", text="你在吗")
        assert answer.headers["location"] == "/chat"
        await world.app.settled()
        text = (await page.visitor.get("/chat")).plain
        assert text.index("你在吗") < text.index("在呀")
        await page.visitor.send("/chat", text=".ai help")
        await world.app.settled()
        assert ".ai help remind" in (await page.visitor.get("/chat/lines")).plain
        assert (await page.visitor.send("/chat", text="  ")).status == 400
    assert world.rows("SELECT platform FROM place JOIN chat ON chat.id = chat_id WHERE kind = 'dm'") == [("web",)]


async def test_the_chat_box_is_the_person_of_the_terminal_in_a_chat_of_its_own(world: World) -> None:
    await world.say("记住我怕狗")
    async with webbed(world) as page:
        await page.visitor.send("/chat", text="我怕什么")
        await world.app.settled()
        assert "怕狗" in world.sent
        assert world.peek.people.count() == 1


async def test_every_text_of_the_pages_is_in_every_language() -> None:
    folder = resource_dir("prompts") / "web"
    texts = {name: tomllib.loads((folder / f"{name}.toml").read_text("utf-8")) for name in SCRIPTS}
    shapes = [{key: holes(text) for key, text in found.items()} for found in texts.values()]
    assert shapes[0] == shapes[1] == shapes[2]
    used: set[str] = set()
    for path in (*(FOLDER / "templates").glob("*.html"), *FOLDER.glob("*.py")):
        used |= set(re.findall(r'\bt\("([a-z_0-9]+)"(?! ~)', path.read_text("utf-8")))
    assert used - texts["en"].keys() == set()


async def test_no_page_shows_the_name_of_a_text_in_the_place_of_the_text(new_world: NewWorld) -> None:
    world = await new_world()
    await world.say("记住我怕狗")
    await world.say("叫我老王")
    await world.say("你好")
    async with webbed(world) as page:
        await page.visitor.send("/memories/1/archive")
        for lang in SCRIPTS:
            page.visitor.cookies["nuan_lang"] = lang
            for path, answer in (await page.every_page(lang)).items():
                missing = re.findall(
                    r"\b(?:nav|part|kind|seen|state|mark|source|slot|from|done|plot)_\w+", answer.plain
                )
                assert missing == [], path


QUERIES = st.dictionaries(
    st.sampled_from(["q", "owner", "kind", "state", "below", "chat", "days", "after", "before", "lang", "done"]),
    st.text(max_size=12) | st.integers(-(2**70), 2**70).map(str),
    max_size=4,
)


async def test_no_query_ever_fails(world: World) -> None:
    await world.say("记住我怕狗")
    async with webbed(world) as page:
        given_by: list[tuple[str, dict[str, str]]] = []

        @settings(max_examples=60)
        @given(st.sampled_from(["/memories", "/turns", "/dialogue", "/live/rows", "/usage.json"]), QUERIES)
        def collect(path: str, query: dict[str, str]) -> None:
            given_by.append((path, query))

        collect()
        for path, query in given_by:
            await _answers(page, path, query)
    assert world.log.named("web_failed") == []


async def _answers(page: Webbed, path: str, query: dict[str, str]) -> None:
    text = urlencode({name: value.encode("utf-8", "replace") for name, value in query.items()})
    assert (await page.visitor.get(f"{path}?{text}")).status == 200
