"""Who may see the web page, and what every answer of it says to a browser."""

import asyncio
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.errors import StoreError
from bot.web.requests import MOST_ADDRESSES, MOST_LOGINS, WRONG_TRIES, Login, Logins, open_token
from bot.web.server import HEADERS
from tests.fakes.clock import SimClock, let_others_run
from tests.sizes import PATIENCE_S
from tests.webbed import LISTS, TOKEN, Visitor, Webbed, webbed
from tests.world import NINE, World


def test_the_token_is_made_once_and_for_nobody_else_to_read(tmp_path: Path) -> None:
    token, fresh = open_token(tmp_path)
    assert (len(token) >= 40, fresh, open_token(tmp_path)) == (True, True, (token, False))
    assert stat.S_IMODE((tmp_path / "web.token").stat().st_mode) == 0o600


def test_a_token_that_was_written_by_hand_is_taken_and_closed_to_others_but_a_short_one_is_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / "web.token"
    path.write_text("0123456789abcdef\n")
    path.chmod(0o644)
    assert open_token(tmp_path) == ("0123456789abcdef", False)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("")
    with pytest.raises(StoreError, match="too short"):
        open_token(tmp_path)


async def test_nobody_sees_a_page_or_changes_anything_without_the_token(world: World) -> None:
    await world.say("记住我怕狗")
    async with webbed(world) as page:
        for path in (*LISTS, "/turns/1", "/memories/1"):
            answer = await page.stranger.get(path)
            assert (answer.status, answer.headers["location"], answer.text) == (303, "/login", ""), path
        for path in ("/memories/1/forget", "/memories/1/edit", "/chat", "/logout"):
            assert (await page.stranger.post(path, {"text": "x"})).status == 403
        assert (await page.stranger.get("/live/rows", hx_request="true")).headers["hx-redirect"] == "/login"
        assert (await page.stranger.get("/chat/stream")).status == 401
    assert world.peek.memories("text", "disabled_at") == [("我怕狗", None)]


async def test_wrong_tokens_are_counted_and_then_no_token_of_that_address_is_looked_at(world: World) -> None:
    async with webbed(world) as page:
        guesser = Visitor(page.app, "10.0.0.9")
        for _ in range(WRONG_TRIES):
            assert (await guesser.post("/login", {"token": "x"}, sec_fetch_site="cross-site")).status == 403
        tried = [await guesser.log_in(f"guess {number}") for number in range(WRONG_TRIES)]
        assert {answer.status for answer in tried} == {401}
        assert "口令不对" in tried[-1].plain
        refused = await guesser.log_in()
        assert (refused.status, refused.headers["retry-after"]) == (429, "300")
        assert "请过 300 秒再试" in refused.plain
        assert (await guesser.get("/live")).status == 303
        assert (await page.stranger.log_in()).status == 303, "another address is not held up"
        await world.wait(301)
        assert (await guesser.log_in()).status == 303
        assert (await guesser.get("/live")).status == 200
    assert TOKEN not in str(world.log.lines)
    assert world.log.named("web_login_refused")[-1] == {"address": "10.0.0.9", "limited": True}


def test_what_the_gate_remembers_is_bounded() -> None:
    gate = Logins(TOKEN, SimClock(NINE))
    for number in range(MOST_ADDRESSES + 50):
        gate.log_in("wrong", f"address {number}", 1)
    cookies = [gate.log_in(TOKEN, "me", 1) for _ in range(MOST_LOGINS + 1)]
    assert (len(gate._wrong), len(gate._logins)) == (MOST_ADDRESSES, MOST_LOGINS)
    assert (gate.login(str(cookies[0])), type(gate.login(str(cookies[-1])))) == (None, Login)


async def test_who_is_logged_in_at_one_process_is_asked_for_the_token_at_another_and_logged_out_nowhere(
    world: World,
) -> None:
    async with webbed(world) as page:
        other = Webbed(world, reads=True)
        visitor = Visitor(other.app)
        visitor.cookies.update(page.visitor.cookies)
        answer = await visitor.get("/live")
        assert (answer.status, answer.headers["location"]) == (303, "/login")
        assert (await page.visitor.get("/live")).status == 200
        await visitor.log_in()
        assert (await visitor.get("/live")).status == 200


async def test_the_cookie_is_for_this_page_alone_and_ends_with_logging_out_and_with_its_hours(world: World) -> None:
    async with webbed(world) as page:
        (cookie,) = (await page.stranger.log_in()).cookies
        assert cookie.startswith("nuan_8390=")
        assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Path=/"))
        before = dict(page.stranger.cookies)
        assert (await page.stranger.send("/logout")).headers["location"] == "/login"
        page.stranger.cookies = before
        assert (await page.stranger.get("/live")).status == 303
        assert (await page.visitor.get("/live")).status == 200
        await world.wait(12 * 3600 + 1)
        assert (await page.visitor.get("/live")).status == 303


async def test_a_form_that_was_not_made_for_this_login_changes_nothing(world: World) -> None:
    await world.say("记住我怕狗")
    async with webbed(world) as page:
        await page.stranger.log_in()
        other = (await page.stranger.get("/live")).text.split('name="csrf" value="')[1].split('"')[0]
        for csrf in ("", "guess", other):
            answer = await page.visitor.post("/memories/1/forget", {"csrf": csrf})
            assert (answer.status, "什么都没有改" in answer.plain) == (403, True)
        assert world.peek.memories("disabled_at") == [(None,)]
        assert (await page.visitor.send("/memories/1/forget")).status == 303
    assert world.rows("SELECT disabled_at IS NULL FROM memory") == [(0,)]


async def test_every_answer_tells_the_browser_to_trust_nobody_else(world: World) -> None:
    async with webbed(world) as page:
        page.visitor.cookies.clear()
        answers = [await page.visitor.get(path) for path in ("/", "/login", "/live", "/static/nuan.css", "/nowhere")]
        page.visitor.host = "evil.example"
        answers.append(await page.visitor.get("/login"))
    assert [answer.status for answer in answers] == [303, 200, 303, 200, 404, 421]
    for answer in answers:
        kept = {name: value for name, value in HEADERS.items() if name != "cache-control"}
        assert kept.items() <= answer.headers.items()
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert "://" not in answer.headers["content-security-policy"]


async def test_a_form_that_is_too_large_or_none_is_refused_with_a_clear_line(world: World) -> None:
    async with webbed(world) as page:
        large = await page.visitor.post("/login", {"token": "x" * 5_000})
        assert (large.status, "太长了" in large.plain) == (413, True)
        none = await page.visitor.ask("POST", "/login", b"\xff\xfe", {})
        assert (none.status, "看不懂" in none.plain) == (400, True)


async def test_a_stream_ends_when_its_login_does(world: World) -> None:
    async with webbed(world) as page:
        streaming = asyncio.create_task(page.visitor.get("/chat/stream"))
        await let_others_run()
        await page.visitor.send("/logout")
        await world.wait(16)
        assert (await asyncio.wait_for(streaming, PATIENCE_S)).text == ": here\n\n" * 2


async def test_no_form_however_odd_gets_in_or_fails(world: World) -> None:
    bodies: list[bytes] = []

    @settings(max_examples=40)
    @given(st.binary(max_size=200) | st.text(max_size=80).map(lambda text: f"token={text}".encode("utf-8", "replace")))
    def collect(body: bytes) -> None:
        bodies.append(body)

    collect()
    async with webbed(world) as page:
        for number, body in enumerate(bodies):
            page.stranger.address = f"10.1.0.{number}"
            assert (await page.stranger.ask("POST", "/login", body, {})).status in (400, 401)
    assert world.log.named("web_failed") == []


async def test_a_page_that_cannot_be_made_says_so_in_a_line_and_the_log_says_why(tmp_path: Path) -> None:
    world = await World(tmp_path / "data").open()
    async with webbed(world) as page:
        await world.close()
        answer = await page.visitor.get("/memories")
    assert (answer.status, "原因在日志里" in answer.plain, "Traceback" in answer.text) == (503, True, False)
    assert world.log.named("web_failed")[0]["path"] == "/memories"
