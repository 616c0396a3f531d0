"""The web page in a real browser: by keyboard alone, legible, streaming, and asking nobody but nuan."""

import asyncio
import json
from pathlib import Path
from typing import cast

import pytest

from bot.config.settings import WebPage
from bot.web.server import open_server
from tests.browser import Tab, browser, find_chromium
from tests.fakes.clock import let_others_run
from tests.fakes.platform import StreamingModel
from tests.sizes import PATIENCE_S
from tests.webbed import Webbed
from tests.world import World

CHROMIUM = find_chromium()
PAGES = (
    "overview",
    "people/1",
    "live",
    "turns",
    "turns/1",
    "usage",
    "memories",
    "memories/1",
    "people",
    "promises",
    "dialogue",
    "chat",
    "persona",
    "settings",
)

CONTRAST = """
(() => {
  const parse = (text) => { const n = text.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const over = (top, under) => top.slice(0, 3).map((v, i) => v * top[3] + under[i] * (1 - top[3]));
  const part = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const back = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.checkVisibility() || node.closest(".skip, option, script")) continue;
    const under = back(node);
    const ink = over(parse(getComputedStyle(node).color), under);
    const [high, low] = [light(ink), light(under)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) faint.push(`${node.tagName} ${node.className} ${ratio.toFixed(2)} ${walker.currentNode.data}`);
  }
  return faint;
})()
"""
"""Texts on the page whose colour and background do not reach 4.5 : 1, WCAG AA, as the browser computed them."""

PHONE_WIDTH = 390

FOCUS = "(() => { const a = document.activeElement; return [a.tagName, a.id || a.getAttribute('href') || '']; })()"

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium: the web page was not tried in a browser")


async def log_in(tab: Tab, address: str) -> None:
    """By keyboard alone: the field has the focus."""
    await tab.go(address)
    assert await tab.run(FOCUS) == ["INPUT", "token"]
    await tab.type("a-token-that-only-the-test-knows")
    await tab.press("Enter")
    await tab.until("location.pathname === '/overview'")


async def test_the_page_works_in_a_browser(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    model = StreamingModel()
    world.model = model
    await world.open()
    page = await Webbed(world).open()
    (tmp_path / "web.token").write_text("a-token-that-only-the-test-knows")
    try:
        with open_server(WebPage(port=0), tmp_path) as served:
            async with (
                served.served(page.site._site_data, world.log),
                browser(CHROMIUM, tmp_path / "b") as tab,
            ):
                await log_in(tab, served.address)
                await talks_by_keyboard_and_sees_the_reply_grow(tab, served.address, world, model)
                await the_live_page_grows(tab, served.address, world)
                await searches_and_edits_by_keyboard(tab, served.address, world)
                await draws_the_plots(tab, served.address)
                for name in PAGES:
                    await is_legible_and_has_names(tab, f"{served.address}{name}")
                assert tab.complaints == []
                assert {
                    url.split("?")[0] for url in tab.requested if not url.startswith((served.address, "data:"))
                } == set()
    finally:
        await page.close()
        await world.close()


async def talks_by_keyboard_and_sees_the_reply_grow(
    tab: Tab, address: str, world: World, model: StreamingModel
) -> None:
    await tab.go(f"{address}chat")
    assert await tab.run(FOCUS) == ["TEXTAREA", "line"]
    await tab.type("记住我怕狗。你好呀，今天怎么样？")
    await tab.press("Enter")
    await tab.until("document.getElementById('lines').textContent.includes('今天怎么样')")
    await tab.until("document.getElementById('line').value === ''")
    async with asyncio.timeout(PATIENCE_S):
        while not model.writing:
            await let_others_run()
    model.write("我很好，")
    await world.clock.advance(200, let_others_run)
    await tab.until("document.getElementById('draft').textContent.includes('我很好')")
    model.write("<b>谢谢</b>你")
    await world.clock.advance(200, let_others_run)
    await tab.until("document.getElementById('draft').textContent.includes('<b>谢谢</b>你')")
    model.finish()
    await tab.until("document.getElementById('lines').textContent.includes('<b>谢谢</b>你')")
    await tab.until("document.getElementById('draft').hidden")


async def the_live_page_grows(tab: Tab, address: str, world: World) -> None:
    await tab.go(f"{address}live")
    await world.say("外面来的一句")
    await tab.until("document.getElementById('live').textContent.includes('外面来的一句')")


async def searches_and_edits_by_keyboard(tab: Tab, address: str, world: World) -> None:
    await tab.go(f"{address}memories")
    for _ in range(40):
        await tab.press("Tab")
        if await tab.run(FOCUS) == ["INPUT", "q"]:
            break
    else:
        raise AssertionError("the search field cannot be reached by keyboard")
    outline = (
        "getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth"
    )
    assert await tab.run(outline) == "solid3px", "one sees where one is"
    await tab.type("没有这个")
    await tab.until("!document.querySelector('#found a')")
    await tab.run("document.getElementById('q').value = ''")
    await tab.type("怕")
    await tab.until("document.querySelector('#found a[href=\"/memories/1\"]')")
    await tab.go(f"{address}memories/1")
    await tab.run("document.getElementById('wording').select()")
    await tab.type("我怕大狗")
    await tab.press("Tab")
    await tab.press("Space")
    await tab.until("document.getElementById('text')?.textContent === '我怕大狗'")
    assert world.peek.memories("text", "original") == [("我怕大狗", "我怕狗")]


async def draws_the_plots(tab: Tab, address: str) -> None:
    await tab.go(f"{address}usage")
    await tab.until("document.querySelectorAll('.plot canvas').length === 5")
    drawn = (
        "[...document.querySelectorAll('.plot canvas')].every((c) => "
        "c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some((v) => v))"
    )
    assert await tab.run(drawn)


async def is_legible_and_has_names(tab: Tab, address: str) -> None:
    await tab.go(address)
    await tab.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for dark in (False, True):
        await tab.dark(dark)
        assert await tab.run(CONTRAST) == [], f"{address} {'dark' if dark else 'light'}"
    nameless = await tab.run(
        "[...document.querySelectorAll('input:not([type=hidden]), select, textarea')].filter((one) => "
        "!one.labels.length).map((one) => one.outerHTML)"
    )
    assert nameless == [], address
    await tab.call(
        "Emulation.setDeviceMetricsOverride", width=PHONE_WIDTH, height=844, deviceScaleFactor=1, mobile=False
    )
    assert await tab.run("document.documentElement.scrollWidth <= innerWidth"), f"{address} on a phone"
    await tab.call("Emulation.clearDeviceMetricsOverride")
    levels = cast("list[int]", await tab.run("[...document.querySelectorAll('h1, h2, h3')].map((h) => +h.tagName[1])"))
    assert levels[0] == 1
    assert levels.count(1) == 1, json.dumps(levels)
