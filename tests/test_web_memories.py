"""Memories on the web page: searched, edited, forgotten and restored by the verbs that people have."""

import re

from tests.webbed import webbed
from tests.world import World


async def test_memories_are_searched_by_words_owner_kind_and_state(world: World) -> None:
    await world.say("记住我怕狗")
    await world.say("记住我喜欢喝乌龙茶")
    await world.say("记住100%_的果汁最好")
    await world.say("记住我养了一只貓", "阿明")
    async with webbed(world) as page:

        async def found(query: str) -> list[str]:
            answer = await page.visitor.get(f"/memories?{query}", hx_request="true")
            assert "<html" not in answer.text
            return re.findall(r'<a href="/memories/(\d+)">', answer.text)

        assert await found("") == ["4", "3", "2", "1"]
        assert await found("q=烏龍") == ["2"], "in either script"
        assert await found("q=猫") == ["4"]
        assert await found("q=%25_") == ["3"], "signs of a pattern are signs"
        assert await found("owner=1") == ["3", "2", "1"]
        assert await found("kind=emotion") == []
        assert await found("below=3") == ["2", "1"]
        await page.visitor.send("/memories/2/archive")
        assert (await found("q=茶"), await found("q=茶&state=archived")) == ([], ["2"])
        assert await found("state=nonsense&owner=x&below=-1&kind='") == []


async def test_an_edited_memory_keeps_its_sources_and_is_what_nuan_knows_from_then_on(world: World) -> None:
    await world.say("记住我住在上海")
    await world.say("你知道我住哪里吗")
    async with webbed(world) as page:
        done = await page.visitor.send("/memories/1/edit", text="  我住在\n北京 ")
        shown = (await page.visitor.get(done.headers["location"])).plain
        assert all(text in shown for text in ("新的说法已保存", "我住在 北京", "最初的说法", "我住在上海"))
        assert world.peek.edges("event_id", kind="memory") == [(1,)]
        await world.say("我住在哪里？")
        assert "我住在 北京" in "".join(message.content for message in world.prompts[-1])
        await page.visitor.send("/memories/1/forget")
    assert world.store.tombstones.covers("我住在上海")
    assert world.store.tombstones.covers("我住在 北京")


async def test_a_wording_that_cannot_be_taken_changes_nothing_and_says_why(world: World) -> None:
    await world.say("记住我怕狗")
    await world.say("记住我爱喝茶")
    await world.say("叫我老王")
    await world.say("记住我讨厌香菜")
    await world.say("彻底忘记 #4")
    async with webbed(world) as page:
        before = world.peek.memories("id", "text", "updated_at")
        for number, text, done in (
            (1, " ", "length"),
            (1, "长" * 2_001, "length"),
            (1, "我怕狗", "same"),
            (1, "我愛喝茶", "known"),
            (3, "小王", "named"),
            (1, "我讨厌香菜", "buried"),
        ):
            answer = await page.visitor.send(f"/memories/{number}/edit", text=text)
            assert answer.headers["location"] == f"/memories/{number}?done={done}", text
        assert (await page.visitor.send("/memories/99/edit", text="x")).status == 404
        assert (await page.visitor.send("/memories/1/explode")).status == 404
    assert world.peek.memories("id", "text", "updated_at") == before


async def test_what_is_forgotten_here_goes_with_every_copy_and_can_be_brought_back_for_some_days(world: World) -> None:
    await world.say("记住我怕狗")
    await world.say("嗯")
    async with webbed(world) as page:
        await page.visitor.send("/memories/1/forget")
        assert "我怕狗" not in "".join(str(row) for row in world.peek.events("text"))
        await world.say("我怕什么")
        assert "怕狗" not in "".join(message.content for message in world.prompts[-1])
        assert (await page.visitor.send("/memories/1/forget")).headers["location"].endswith("done=over")
        await page.visitor.send("/memories/1/restore")
        assert not world.store.tombstones.covers("我怕狗")
        await world.say("我怕什么？")
        assert "怕狗" in "".join(message.content for message in world.prompts[-1])
        await page.visitor.send("/memories/1/purge")
        assert world.peek.memories.count() == 0
        assert (await page.visitor.get("/memories/1")).status == 404
    assert "怕狗".encode() not in (world.folder / "nuan.db").read_bytes()


async def test_memories_are_put_away_protected_and_restored_as_by_the_command(world: World) -> None:
    await world.say("记住我怕狗")
    async with webbed(world) as page:
        assert (await page.visitor.send("/memories/1/protect")).headers["location"].endswith("done=protected")
        assert "受保护" in (await page.visitor.get("/memories/1")).plain
        await page.visitor.send("/memories/1/unprotect")
        await page.visitor.send("/memories/1/archive")
        await world.say(".ai mem archived")
        assert "#1" in world.replies[-1]
        await page.visitor.send("/memories/1/restore")
        await world.say(".ai mem")
        assert "我怕狗" in world.replies[-1]
        assert (await page.visitor.send("/memories/1/unmerge")).headers["location"].endswith("done=over")


async def test_beside_a_nuan_that_answers_elsewhere_everything_can_be_read_and_nothing_changed(world: World) -> None:
    await world.say("记住我怕狗")
    async with webbed(world, reads=True) as page:
        shown = await page.visitor.get("/memories/1")
        assert "我怕狗" in shown.plain
        assert "这里只能看" in shown.plain
        assert "<button>保存" not in shown.text
        for path in ("/memories/1/edit", "/memories/1/forget", "/chat"):
            answer = await page.visitor.send(path, text="x")
            assert (answer.status, "不能改" in answer.plain) == (409, True), path
        assert (await page.visitor.get("/chat")).status == 409
    assert world.peek.memories("text", "disabled_at") == [("我怕狗", None)]


async def test_no_sign_of_a_memory_turns_what_the_page_shows(world: World) -> None:
    await world.say("记住我怕\u202e狗<b>")
    async with webbed(world) as page:
        for path in ("/memories", "/memories/1"):
            answer = await page.visitor.get(path)
            assert "我怕狗&lt;b&gt;" in answer.text
            assert "\u202e" not in answer.text
