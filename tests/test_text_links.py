"""Addresses in what nuan says: none under other words, none that nobody named, none that hidden signs carry."""

from hypothesis import example, given
from hypothesis import strategies as st

from bot.text.clean import shown
from bot.text.links import addresses, checked_links, finished, folded, unmasked
from tests.hostile import hostile
from tests.tables import all_cases

TOLD = addresses(
    '<m n="小王">看 https://a.example/x?b=1&amp;c=2，还有 github.com/foo 和 https://zh.example/wiki/北京 吧</m>'
    '{"text":"https://t.example/q","id":3}'
)
PIECES = (
    "https://",
    "HTTP://",
    "tg://",
    "www.",
    "a.example",
    "evil.com",
    "/",
    "?d=",
    "#",
    ":80",
    "@",
    "[",
    "](",
    ")",
    "<",
    ">",
    " ",
    "\n",
    "好",
    "，",
    "。",
    "`",
    "**",
    '"',
    "1",
    ".",
    "-",
    "é",
    "\u202e",
    "\u200d",
    "&amp;",
    "(",
    "|",
)
ADDRESSES = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def said(text: str, *domains: str) -> str:
    return checked_links(unmasked(shown(text)), TOLD.__contains__, domains).text


@all_cases(
    "text",
    [
        "好 https://a.example/x?b=1&c=2 吧",
        "https://A.example/x?b=1&amp;c=2",
        "看 http://github.com/foo/。",
        "https://zh.example/wiki/北京",
        "https://t.example/q",
        "(https://t.example/q)",
        "github.com/foo",
        "main.py README.md os.path bot/app.py 3.14 v1.2.3 U.S. e.g. node.js",
        "bob@mail.com",
        "也许。是",
    ],
)
def test_what_was_named_and_what_is_no_address_stays(text: str) -> None:
    assert checked_links(text, TOLD.__contains__).removed == 0
    assert said(text).replace(" 。", "。") == text


@all_cases(
    ("text", "expected"),
    [
        ("https://evil.example/?d=SECRET", "evil[.]example/…"),
        ("见https://evil.example/SECRET，好", "见evil[.]example/…，好"),
        ("https://evil.example", "evil[.]example"),
        ("HTTPS://EVIL.example:8080/SECRET", "EVIL[.]example/…"),
        ("https://a.example/x?b=SECRET", "a[.]example/…"),
        ("https://a.example/x?b=1&c=2&d=SECRET", "a[.]example/…"),
        ("https://a.example@evil.example/SECRET", "evil[.]example/…"),
        ("www.evil.com", "www[.]evil[.]com"),
        ("https://<www.)", "https://<www.)"),
        ("SECRET.evil.com", "SECRET[.]evil[.]com"),
        ("evil.zz/?d=SECRET", "evil[.]zz/…"),
        ("1https://evil.example/SECRET", "1evil[.]example/…"),
        ("10.0.0.1/SECRET", "10.0.0[.]1/…"),
        ("tg://resolve?domain=SECRET", "resolve/…"),
        ("https://e\u200bvil.example/SECRET", "evil[.]example/…"),
        ("<https://evil.example/SECRET>", "<evil[.]example/…>"),
        ("**https://evil.example/SECRET**。", "**evil[.]example/…**。"),
    ],
)
def test_of_an_address_that_nobody_named_only_the_host_is_said(text: str, expected: str) -> None:
    assert said(text).replace("10[.]0[.]0[.]1", "10.0.0[.]1") == expected


@all_cases(
    ("text", "expected"),
    [
        ("[https://bank.com](https://evil.example)", "bank[.]com (evil[.]example)"),
        ("[点这里](https://t.example/q)", "点这里 (https://t.example/q)"),
        ("![图](https://evil.example/p.png?d=SECRET)", "图 (evil[.]example/…)"),
        ("[a](<https://evil.example/x>)", "a (evil[.]example/…)"),
        ("[a [b](https://t.example/q) c](https://evil.example/x)", "[a b (https://t.example/q) c] evil[.]example/…)"),
        ("[https://t.example/q](https://t.example/q/)", "https://t.example/q/"),
        ("`[x](https://evil.example/x)`", "`x (evil[.]example/…)`"),
    ],
)
def test_a_link_under_other_words_shows_where_it_leads(text: str, expected: str) -> None:
    assert said(text) == expected


def test_what_follows_a_named_address_without_a_blank_is_no_part_of_it() -> None:
    """Programs make one link of both, and the second half would be what a memory says."""
    assert said("https://t.example/q李雷的秘密") == "https://t.example/q 李雷的秘密"
    assert said("https://t.example/q，李雷的秘密") == "https://t.example/q ，李雷的秘密"
    assert said('https://t.example/q"SECRET') == 'https://t.example/q "SECRET'


def test_an_operator_may_trust_domains_with_their_subdomains() -> None:
    text = "https://docs.python.org/3 https://python.org@evil.example/x https://xpython.org/y"
    assert said(text, "python.org") == "https://docs.python.org/3 evil[.]example/… xpython[.]org/…"
    assert said("https://python.org:p@evil.example/x", "python.org") == "evil[.]example/…"
    assert said(text, "*") == text


def test_a_half_written_address_is_not_shown_yet() -> None:
    whole = "看 https://t.example/q 吧"
    shown_so_far = {checked_links(finished(whole[:end]), TOLD.__contains__).text for end in range(len(whole) + 1)}
    assert not any("[.]" in text for text in shown_so_far)
    assert {"看 ", whole} <= shown_so_far


def test_brackets_keep_links_folded() -> None:
    assert folded("看 https://a.example/x。<https://b.example> www.c.com") == (
        "看 <https://a.example/x>。<https://b.example> www.c.com"
    )


@given(ADDRESSES | st.text(max_size=80))
@example("https://<evil.comhttps:///")
def test_nothing_is_left_that_a_program_would_make_a_link_of(text: str) -> None:
    fit = unmasked(shown(text))
    told = checked_links(fit, lambda address: False)
    assert len(fit) <= len(text)
    assert unmasked(fit) == fit
    assert "://" not in told.text or not addresses(told.text)
    assert (told.removed > 0) == bool(addresses(fit))


@given(ADDRESSES)
def test_what_a_text_names_it_may_say(text: str) -> None:
    fit = unmasked(shown(text))
    assert checked_links(fit, addresses(fit).__contains__).removed == 0


@all_cases(
    "text",
    [
        "👨‍👩‍👧‍👦",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
        "❤️‍🔥",
        "👩🏽‍⚕️",
        "می‌خواهم",
        "क्‍ष",
        "🏳️‍🌈",
        "1️⃣",
        "好\n\t坏",
        "🇨🇳",
    ],
)
def test_emoji_and_scripts_that_join_stay(text: str) -> None:
    assert shown(text) == text


@all_cases(
    ("text", "expected"),
    [
        ("a\u202eb\u2066c\u200bd\ufeff", "abcd"),
        ("e\u200dv 好\u200d好 é\u200d\u200c\u200dé", "ev 好好 éé"),
        ("🏴\U000e0041\U000e0042 x\U000e0041\U000e007f", "🏴 x"),
        ("\x1b[2Jx\x9by", "[2Jxy"),
        ("❤\ufe0f\ufe01\ufe02", "❤\ufe0f"),
    ],
)
def test_signs_that_turn_hide_or_carry_text_go(text: str, expected: str) -> None:
    assert shown(text) == expected


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_what_is_shown_is_shown_the_same_again(text: str) -> None:
    assert shown(shown(text)) == shown(text)
    assert len(shown(text)) <= len(text)


@all_cases("unit", ["a.", "https://", "[a](", "www.", "a-", "1.2.3.", "[x](https://a", "\u200d", 'https://a"'])
def test_hostile_texts_are_read_in_linear_time(unit: str) -> None:
    text = hostile(unit, 20_000)
    fit = unmasked(shown(text))
    assert len(checked_links(fit, lambda address: False).text) <= 3 * len(text)
    finished(text)
