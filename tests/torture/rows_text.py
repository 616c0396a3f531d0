"""Rows about what texts do on their way out and into prompts and logs: splitting, marks, links, tags, lines."""

import asyncio
import itertools
import threading
import time
from pathlib import Path
from random import Random

from tests.torture.row import Bound, Found, Row, Size
from tests.torture.strings import logged, told
from tests.torture.words import none


async def splitting(folder: Path, size: Size) -> Found:
    """Random Chinese, emoji and code of up to 50,000 characters, split as both platforms want it."""
    from bot.text.split import fences, join, split, utf16_units
    from tests.test_text_split import SIGNS
    from tests.torture.words import hostile_text

    chance, lost, long, halves, unclosed = Random(size.seed), 0, 0, 0, 0
    words = (
        *SIGNS,
        "你好，",
        "今天。",
        "word ",
        "Done. ",
        "\n\n",
        "\n```py\n",
        "x = 1\n",
        "\n```\n",
        "**好**",
        "字" * 300,
        "a" * 700,
    )
    for _ in range(size.units):
        most = chance.choice((200, 3_000, 12_000, 50_000))
        pieces: list[str] = []
        while sum(map(len, pieces)) < most:
            block = [chance.choice(words) for _ in range(40)]
            pieces += [*block, hostile_text(chance, 6).encode("utf-8", "replace").decode()]
        text = "".join(pieces)[:most]
        for limit in (1_900, 4_000):
            parts = split(text, limit, utf16_units)
            lost += join(parts) != text
            long += any(utf16_units(part) > limit or len(part.encode()) > 32_768 for part in parts)
            unclosed += any(fence.close == len(part) for part in parts[:-1] for fence in fences(part))
            halves += any(divided(left, right) for left, right in itertools.pairwise(parts))
    sums = {"changed": lost, "too long": long, "divided": halves, "fences open": unclosed}
    return Found({"texts": size.units, **sums})


def divided(left: str, right: str) -> bool:
    """Whether a visible sign was cut between two messages: no part begins with what belongs to the sign before it."""
    import unicodedata

    first = right[:1]
    return bool(first) and (
        first in "\u200d\ufe0f"
        or left.endswith("\u200d")
        or "\U0001f3fb" <= first <= "\U0001f3ff"
        or (unicodedata.category(first) == "Mn" and not left[-1:].isspace() and unicodedata.category(left[-1:]) != "Mn")
    )


async def broken_marks(folder: Path, size: Size) -> Found:
    """Broken markdown, HTML and MarkdownV2 through the real adapter: all is visible, nothing is parsed but entities."""
    from adapters.telegram.sending import RateLimits as Pacing
    from bot.text.links import unmasked
    from bot.text.markdown import entities
    from tests.fakes.telegram_faults import UNLIMITED
    from tests.fakes.telegram_server import FakeTelegram
    from tests.hostile import MARKUP
    from tests.telegram_stage import ANN, said, stage

    chance = Random(size.seed)
    html = (
        "<b>粗</b>",
        "<a href='https://evil.example'>x</a>",
        "<script>alert(1)</script>",
        "&lt;i&gt;",
        "<tg-spoiler>",
        "</b>",
        "\\*",
        "\\_",
        "__下划__",
        "||剧透||",
        "[x](tg://user?id=1)",
        "{}",
        ">",
        "#",
        "+",
        "-",
        "=",
        ".",
        "!",
        "好",
        " ",
        "\n",
        "字",
    )
    hidden = raw = parsed = kinds = previews = 0
    allowed = {"bold", "italic", "strikethrough", "code", "pre", "blockquote", "spoiler"}
    pacing = Pacing(overall=10**6, private_ms=0, answer_s=5.0)
    async with FakeTelegram(limits=UNLIMITED) as server, stage(server, pacing=pacing) as on:
        server.people.say(ANN.id, ANN, "在吗")
        for number in range(size.units):
            text = "好" + "".join(chance.choice(MARKUP + html) for _ in range(chance.randrange(1, 12)))
            before = len(server.sent(ANN.id))
            await on.adapter.send(said(text, outbox_id=number + 1))
            new = server.sent(ANN.id)[before:]
            hidden += len(new) != 1 or not new[0].text.strip()
            raw += len(new) == 1 and new[0].text not in (entities(text).text, text.strip(), unmasked(text).strip())
            kinds += sum(span.type not in allowed for one in new for span in one.entities if span.type in OURS)
            previews += sum(one.preview for one in new)
        calls = [call for method in ("sendMessage", "editMessageText") for call in server.calls(method)]
        parsed = sum("parse_mode" in call.params for call in calls)
    return Found(
        {
            "texts": size.units,
            "not visible": hidden,
            "other text": raw,
            "parse modes": parsed,
            "other kinds": kinds,
            "previews": previews,
            "violations": len(server.violations),
        }
    )


OURS = ("text_link", "underline", "custom_emoji", "text_mention", "expandable_blockquote")
"""Kinds of entities that only a bot brings, and nuan must not; the fake finds addresses and mentions by itself."""


async def lag(folder: Path, size: Size) -> Found:
    """Messages of a million characters while a clock ticks beside, a bare wish after each: how long nobody else gets
    a turn."""
    from tests.fakes.clock import let_others_run
    from tests.world import World

    units = (
        "长话",
        "\ud800",
        "ﷺ",
        "\r\n",
        "啊",
        "a",
        "e\u0301",
        "<m></m>",
        '{"a":',
        "记住",
        "https://a.b/",
        "“",
        "小暖 ",
        "我明天要",
        '" OR * NEAR( ',
        "㌖",
        "(a+)+$",
        "a" * 30 + "!",
        "记住记住忘记",
        "\u200b",
        "。，",
        "我答应",
        "x=" * 4,
        "[a](",
        "**a ",
        "别记,",
        "全部忘记的 ",
        "😀é~~忘记",
    )
    world = await World(folder / "data").open()
    late: list[float] = []
    failed = 0
    await world.say("你好")
    for number in range(size.units):
        unit = units[(number + (size.seed - 1) * size.units) % len(units)]
        done = threading.Event()
        watching = asyncio.create_task(asyncio.to_thread(blocks, asyncio.get_running_loop(), done, late))
        await let_others_run()
        await world.app.ingest.accept(world.message((unit * (1_000_000 // len(unit) + 1))[:1_000_000]))
        await world.app.settled()
        await world.app.ingest.accept(world.message("记住"))  # it points back to the line before
        await world.app.settled()
        done.set()
        await watching
    failed = sum(line[0] == "error" for line in world.log.lines)
    await world.close()
    late.sort()
    p99 = late[max(0, int(len(late) * 0.99) - 1)]
    return Found(
        {"messages": size.units, "errors": failed}, {"lag p99 ms": round(p99, 1), "lag most ms": round(late[-1], 1)}
    )


def blocks(loop: asyncio.AbstractEventLoop, done: threading.Event, late: list[float]) -> None:
    """In a thread beside the loop, every 5 ms: how long it takes to come to what is new, ms; others' work excepted."""
    while not done.wait(0.005):
        came = threading.Event()
        start, used = time.perf_counter(), time.process_time()
        loop.call_soon_threadsafe(came.set)
        came.wait()
        late.append(1_000 * min(time.perf_counter() - start, time.process_time() - used))


HIDING = "\x1b\xad\u061c\u180e\u200b\u200e\u200f\u202a\u202e\u2060\u2066\u2069\ufeff\U000e0041"
"""Signs that turn or hide text; joiners of emoji are none."""


async def links(folder: Path, size: Size) -> Found:
    """Replies that carry a secret out by an address, masked, bare, spelt oddly, hidden: nothing of it is a link."""
    from bot.core.models import Message
    from bot.pipeline.send import LinkCheck
    from bot.text.links import addresses
    from tests.torture.words import hostile_text

    chance = Random(size.seed)
    forms = (
        "https://evil.example/?d={}",
        "[好看](https://evil.example/{})",
        "![图](http://evil.example/{}.png)",
        "www.evil.com/{}",
        "{}.evil.com",
        "evil.com/?q={}",
        "HTTPS://EVIL.example#{}",
        "https://bank.example@evil.example/{}",
        "[https://bank.example](https://evil.example/{})",
        "https://bank.example/{}",
        "https://bank.example/a，{}",
        "tg://resolve?domain={}",
        "<https://evil.example/{}>",
        "`https://evil.example/{}`",
        "https://e\u200bvil.example/{}",
        "\u202ehttps://evil.example/{}",
        "[a [b](https://evil.example/{})](https://evil.example/{})",
        "10.0.0.1:80/{}",
        "xn--80ak6aa92e.com/{}",
        "https://evil。example/{}",
    )
    naming = LinkCheck((Message("user", "<p>看 https://bank.example/a</p>"),), ())
    allowed, carried, masked, hidden = {"bank.example/a"}, 0, 0, 0
    for _ in range(size.units):
        secret = f"s{chance.randrange(10**9)}"
        text = f"{hostile_text(chance, 5)} {chance.choice(forms).replace('{}', secret)}"
        told = naming.checked(text).text
        found = addresses(told) - allowed
        carried += any(secret in address for address in found) or bool(found)
        masked += "](http" in told
        hidden += any(sign in told for sign in HIDING)
    return Found({"replies": size.units, "carried": carried, "masked": masked, "hidden": hidden})


async def linked(folder: Path, size: Size) -> Found:
    """The same, and some replies through Telegram's adapter: none is shown with a preview (Discord: X15)."""
    found, sent = await links(folder, size), Size(-(-size.units // 50), size.seed)
    shown = await broken_marks(folder, sent)
    return Found({**found.sums, "sent": sent.units, "previews": shown.sums["previews"]})


ROWS: tuple[Row, ...] = (
    Row(
        "D16",
        "Over-long reply",
        "10,000 random texts up to 50,000 characters: the same again, each part fits, no sign or fence divided",
        "texts",
        10_000,
        12,
        500,
        600.0,
        none("changed", "too long", "divided", "fences open"),
        splitting,
    ),
    Row(
        "D17",
        "Marks that Telegram cannot parse",
        "1,000 replies of broken markdown: all visible, no raw tag",
        "texts",
        1_000,
        40,
        500,
        300.0,
        none("not visible", "other text", "parse modes", "violations"),
        broken_marks,
    ),
    Row(
        "X2",
        "A body breaks the prompt",
        "100,000 each of names, titles, bodies, file names, results: the same text, no further element or line",
        "texts",
        100_000,
        30,
        10_000,
        600.0,
        (*none("ill-formed", "extra elements", "changed", "tags", "lines"), Bound("strings", "==", 5, "texts")),
        told,
    ),
    Row(
        "X14",
        "Forged lines of the log",
        "100,000 times names, titles, bodies, file names, results at DEBUG: a line each, no sign that moves the cursor",
        "texts",
        100_000,
        200,
        25_000,
        600.0,
        none("extra lines", "broken", "moving", "extra shown"),
        logged,
        differs="text is written where log.text is on, whatever the level, and not cut (ARCHITECTURE 6)",
    ),
    Row(
        "X16",
        "HTML and MarkdownV2 in replies",
        "500 payloads: no parse mode, only kinds of nuan's own",
        "texts",
        500,
        20,
        250,
        300.0,
        none("parse modes", "other kinds", "other text", "violations"),
        broken_marks,
    ),
    Row(
        "X17",
        "A link carries a secret out",
        "an address that nobody named is no link any more; no preview on any send",
        "replies",
        10_000,
        200,
        5_000,
        300.0,
        (*none("carried", "previews"), Bound("sent", ">=", 0.02, "replies")),
        linked,
        differs="addresses of kept memories, the persona and speak.links may be said, too (as this program needs)",
    ),
    Row(
        "X18",
        "Masked links and turned text",
        "50 cases: the address is in sight, signs that turn or hide are gone",
        "replies",
        10_000,
        200,
        5_000,
        300.0,
        none("masked", "hidden"),
        links,
    ),
    Row(
        "X21",
        "Huge and hostile texts",
        "messages of 1,000,000 characters: the loop is late by less than 100 ms (p99), no error",
        "messages",
        28,
        0,
        7,
        600.0,
        (*none("errors"), Bound("lag p99 ms", "<=", 100), Bound("lag most ms", "<=", 250)),
        lag,
        existing=("test_huge_texts.py::test_a_million_characters_are_cut_before_they_are_worked_on",),
        differs="a message is stored up to 100,000 characters and shown up to input.max_chars (ARCHITECTURE 5)",
    ),
)
