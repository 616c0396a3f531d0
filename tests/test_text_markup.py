"""Model markdown on Telegram and Discord: marks become formatting, nothing that people should read is lost."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from bot.text.markdown import EntityText, TextEntity, discord, entities, preview
from bot.text.split import split, utf16_units
from tests.hostile import MARKUP, crossed, hostile
from tests.tables import all_cases

WORDS = (
    "你好",
    "暖",
    "word",
    "👍🏽",
    "e\u0301",
    "3",
    "。",
    "“好”",
    "x_y",
    " ",
    " ",
    "\n",
    "\n\n",
    "(",
    ")",
    "<b>",
    "\\",
    "@everyone",
)
MARKS = ("**", "*", "_", "__", "~~", "||", "`", "``", "|", "[", "]", "](", "\\*", "***", "<@1>", "!")
BLOCKS = (
    "\n# ",
    "\n#### ",
    "\n- ",
    "\n1. ",
    "\n> ",
    "\n> > ",
    "\n---\n",
    "\n|a|b|\n|-|-|\n|1|2|\n",
    "\n```\n",
    "\n```py\n",
    "\r\n",
)
LINKS = ("[站](https://a.example/x)", "[x](javascript:alert)", "[tg](tg://user?id=1)", "![图](https://a.example/p.png)")
MIXED = st.lists(st.sampled_from(WORDS + MARKS + BLOCKS + LINKS), max_size=60).map("".join)
NO_TARGETS = st.lists(st.sampled_from(WORDS + MARKS + BLOCKS[:-3]), max_size=60).map("".join)
ANY = st.text(st.characters(exclude_categories=()), max_size=200) | MIXED


def shown(marked: EntityText) -> list[tuple[str, str]]:
    """Each span with the text under it."""
    return [(span.kind, under(marked, span)) for span in marked.spans]


def under(marked: EntityText, span: TextEntity) -> str:
    units = marked.text.encode("utf-16-le", "surrogatepass")
    return units[2 * span.offset : 2 * (span.offset + span.length)].decode("utf-16-le", "surrogatepass")


def letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


@given(ANY)
def test_spans_are_what_telegram_accepts(markdown: str) -> None:
    marked = entities(markdown)
    for span in marked.spans:
        text = under(marked, span)
        assert span.length > 0
        assert 0 <= span.offset <= span.offset + span.length <= utf16_units(marked.text)
        assert text == text.strip() or (span.kind == "pre" and text.strip() and text == text.rstrip())
    for outer, inner in combinations(marked.spans, 2):
        if outer.offset + outer.length > inner.offset:
            assert inner.offset + inner.length <= outer.offset + outer.length
            assert outer.kind not in ("code", "pre")
            assert inner.kind not in ("code", "pre") or outer.kind == "blockquote"
            assert inner.kind != outer.kind


@given(ANY)
def test_the_text_shown_is_never_longer_and_never_blank_unless_the_markdown_is(markdown: str) -> None:
    marked = entities(markdown)
    assert utf16_units(marked.text) <= utf16_units(markdown)
    assert bool(marked.text.strip()) == bool(markdown.strip())


@given(NO_TARGETS)
def test_no_letter_is_lost(markdown: str) -> None:
    assert letters(entities(markdown).text) == letters(markdown)
    assert letters(discord(markdown)) == letters(markdown)


@given(st.text("你a 1。,(){}<&$%@^+=:;?/'\"", max_size=100))
def test_text_without_marks_is_shown_as_it_is(text: str) -> None:
    assert entities(text) == EntityText(text.strip("\n").rstrip() if text.strip() else "", ())
    assert discord(text) == text


@given(MIXED, st.integers(40, 200))
def test_the_parts_of_a_reply_can_be_marked_one_by_one(markdown: str, limit: int) -> None:
    for part in split(discord(markdown), limit, utf16_units):
        assert utf16_units(entities(part).text) <= limit


@given(MIXED)
def test_what_discord_shows_is_not_changed_twice(markdown: str) -> None:
    assert discord(discord(markdown)) == discord(markdown)


@given(ANY)
def test_a_preview_never_fails_and_invents_no_letter(markdown: str) -> None:
    for end in range(0, len(markdown), 7):
        rest = iter(letters(markdown[:end]))
        assert all(char in rest for char in letters(preview(markdown[:end])))
        entities(preview(markdown[:end]))


@all_cases(
    ("markdown", "text", "spans"),
    [
        ("**粗**和*斜*和_倾_", "粗和斜和倾", [("bold", "粗"), ("italic", "斜"), ("italic", "倾")]),
        ("a _b_ c", "a b c", [("italic", "b")]),
        ("~~删~~ ||密||", "删 密", [("strikethrough", "删"), ("spoiler", "密")]),
        ("***都***", "都", [("bold", "都"), ("italic", "都")]),
        ("**粗*斜*粗**", "粗斜粗", [("bold", "粗斜粗"), ("italic", "斜")]),
        ("是**“重要”**的", "是“重要”的", [("bold", "“重要”")]),
        ("`a*b*` ``c`d``", "a*b* c`d", [("code", "a*b*"), ("code", "c`d")]),
        ("**用 `x` 吧**", "用 x 吧", [("bold", "用"), ("code", "x"), ("bold", "吧")]),
        ("# 标题 **粗** `码`", "标题 粗 码", [("bold", "标题 粗"), ("code", "码")]),
        ("###### 深 ##", "深", [("bold", "深")]),
        ("- 一\n  * 二\n1. 三", "• 一\n  • 二\n1. 三", []),
        ("> 引 *斜*\n> 文\n后", "引 斜\n文\n后", [("blockquote", "引 斜\n文"), ("italic", "斜")]),
        ("> > 深", "深", [("blockquote", "深")]),
        ("[站](https://a.example/x_(1))", "站 (https://a.example/x_(1))", []),
        ('[**站**](http://a.example "t")', "站 (http://a.example)", [("bold", "站")]),
        ("[a [b](http://b.example) c](http://c.example)", "[a b (http://b.example) c] http://c.example)", []),
        ("[`f`](https://a.example)", "f (https://a.example)", [("code", "f")]),
        ("[https://a.example](https://a.example/)", "https://a.example/", []),
        ("_看_ https://a.example/_x_/**y**", "看 https://a.example/_x_/y", [("italic", "看"), ("bold", "y")]),
        ("👍🏽**好**", "👍🏽好", [("bold", "好")]),
        ("```py\n  x = 1\n```\n完", "  x = 1\n完", [("pre", "  x = 1")]),
        ("```\n没关", "没关", [("pre", "没关")]),
        ("|a|b|\n|-|-|\n|1|2|\n完", "|a|b|\n|-|-|\n|1|2|\n完", [("pre", "|a|b|\n|-|-|\n|1|2|")]),
        ("> ```\n> x\n> ```", "x", [("blockquote", "x"), ("pre", "x")]),
    ],
)
def test_marks_become_formatting(markdown: str, text: str, spans: list[tuple[str, str]]) -> None:
    marked = entities(markdown)
    assert (marked.text, shown(marked)) == (text, spans)


@all_cases(
    "text",
    [
        "**开",
        "a ** b ** c",
        "2*3*4 = 24",
        "2**3 和 2**4",
        "snake_case_name",
        "__init__",
        "(>_<) ^_^ T_T",
        "(*^▽^*)",
        "¯\\_(ツ)_/¯",
        "a||b||c",
        "`开",
        "``",
        "****",
        "[x](javascript:alert)",
        "[x](data:,a)",
        "[x](/a)",
        "[](https://a.example)",
        "[x]",
        "<b>粗</b> &amp; <script>",
        "#标签 #tag",
        ">_<",
        ">ω<",
        ">。<",
        ">>> import os",
        "a\n> \nb",
        "+ 1",
        "---",
        "* * *",
        "~一~",
        "# ",
        "> ",
        "```\n```",
        "@everyone <@1> <#2> <@&3>",
        "a | b",
        "\\(x^2\\)",
    ],
)
def test_what_is_not_markup_stays_as_it_is(text: str) -> None:
    assert entities(text) == EntityText(text.strip(), ())


def test_languages_go_with_their_span_in_utf16_units() -> None:
    assert entities("😀[**站**](https://a.example)\n```py\nx\n```") == EntityText(
        "😀站 (https://a.example)\nx", (TextEntity("bold", 2, 1), TextEntity("pre", 24, 1, language="py"))
    )


def test_an_escaped_mark_is_shown_without_its_backslash() -> None:
    assert entities("\\*不斜\\* \\# C:\\dir") == EntityText("*不斜* # C:\\dir", ())


def test_words_behind_an_opening_fence_are_not_lost() -> None:
    assert entities("```先看这个 再说\nx\n```").text == "先看这个 再说\nx"


@all_cases(
    ("markdown", "expected"),
    [
        ("**粗** ||密|| [a](https://a.example) @everyone <@1>", "**粗** ||密|| a (https://a.example) @everyone <@1>"),
        ("# 一\n### 三\n> 引\n- 点", "# 一\n### 三\n> 引\n- 点"),
        ("#### 四 **粗**\n字", "**四 粗**\n字"),
        ("表：\n|a|b|\n|:-|-|\n|1|2|\n\n完", "表：\n```\n|a|b|\n|:-|-|\n|1|2|\n```\n\n完"),
        ("```md\n|a|b|\n|-|-|\n#### x\n```", "```md\n|a|b|\n|-|-|\n#### x\n```"),
    ],
)
def test_discord_gets_what_it_can_show(markdown: str, expected: str) -> None:
    assert discord(markdown) == expected


@all_cases(
    ("so_far", "expected"),
    [
        ("**粗", "**粗**"),
        ("**粗*", "**粗**"),
        ("字 **", "字"),
        ("*斜 **粗", "*斜 **粗***"),
        ("~~删", "~~删~~"),
        ("||密", "||密||"),
        ("||密|", "||密||"),
        ("`cod", "`cod`"),
        ("字 `", "字"),
        ("字\n```py", "字"),
        ("```py\nx = ", "```py\nx =\n```"),
        ("```\nx\n``", "```\nx\n```"),
        ("看[这里](https://a.exa", "看这里"),
        ("**一**\n\n- *二", "**一**\n\n- *二*"),
        ("# *题", "# *题*"),
        ("**完**，`好`。", "**完**，`好`。"),
        ("```\nx\n```", "```\nx\n```"),
        ("", ""),
        ("**", ""),
        ("好 ", "好"),
    ],
)
def test_half_written_markdown_can_be_shown(so_far: str, expected: str) -> None:
    assert preview(so_far) == expected


@all_cases("unit", MARKUP)
def test_hostile_markdown_becomes_something_that_can_be_sent(unit: str) -> None:
    text = hostile(unit, 5_000)
    marked = entities(text)
    assert all(0 <= span.offset < span.offset + span.length <= utf16_units(marked.text) for span in marked.spans)
    assert len(discord(text)) <= 2 * len(text) + 10
    assert len(preview(text)) <= 2 * len(text)


def test_marks_closed_in_the_wrong_order_and_code_between_them_stay_few() -> None:
    assert len(entities(crossed(20_000)).spans) < 10_000
