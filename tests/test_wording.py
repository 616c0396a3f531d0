"""What people read, against the list of faults that it once had: none is left, in no language."""

import re
import tomllib
import unicodedata
from collections.abc import Iterator

import pytest

from bot.commands.command import TOPICS
from bot.commands.registry import COMMANDS
from bot.core.files import resource_dir
from bot.core.people import SCRIPTS
from bot.text.fold import simplified
from tests.world import World

FOLDERS = ("messages", "offline", "web")
COLUMNS, LINES = 60, 12
"""What fits a phone; a Chinese character takes two columns."""

OWNERS = (
    "background_ base_ budget_ calls_ console_cost context_ ctx_ init_ key_ limit limits_ model_ recalled "
    "set_ step_ trace_ usage_"
)
"""Texts about models, money and the machine, which only owners and those who look inside are told."""
HAN = "[\u3400-\u9fff]"
MAINLAND = (
    "信息|默认|默認|文件夹|文件夾|服务器|服務器|設置|緩存|賬號|登錄|群裡|消息|程序|視頻|網絡|軟件|硬件|數據|保存|"
    "運行|終端(?!機)|刷新|退出|口令|身份|通過率|回車|文件|鏈接|郵箱|短信|屏幕|在線|離線模式|調用|調試|字符|變量|命令|"
    "發 ?(?:\\.ai|/)|發給|發在|文本框|鼠標|點擊|質量|人格|夏令时"
)
"""Words that Taiwan says otherwise (訊息, 預設, 資料夾, 伺服器, 設定, 快取, 帳號, 登入, 群組, …)."""
DEVELOPERS = (
    r"\b(?:bootstrap|prefix|signature|settled|warm|tok|epoch|backoff)\b|\bopen\b|P\{|"
    "前缀|前綴|签名|簽名|窗口|視窗|配额|配額|退避|入库|入庫"
)
ENGLISH_NAMES = (
    "ai nuan token tokens tok Telegram Discord OpenAI Enter London Asia Tokyo full clear list all on ctrl Ctrl English "
    "USD env https http com example api init pages window called join recent recentmax Shift web id ID CODE"
)
"""Latin words that a Chinese text may hold: names, and what is typed as it stands."""
TYPED = (
    r"(?m)^\.ai.*$|`[^`]*`|\{[^}]*\}|\.ai[ a-z0-9|#]*|o(?:n|ff) all|/[a-z]+|https?://\S+|[a-z]+(?:[._][a-z_]+)+|\.env"
)
NOT_READ = ("day_signs", "init_language", "near_days")
"""What names the languages, each in itself, and tables of words and signs that are looked for."""
PLURALS = r"\{n\} (?:calls|lines|memories|messages|reminders|signs|talks|tools|turns)\b"
SLIPS = r"(?i)\b(?:an? the|the the|a a|informations|advices|canceled|behaviour|colou?r|favou?rite|hav|dont|wont|cant|its'|organi[sz]e)\b|  +\w| [,;!?]"
RECEIPTS = {
    "promise_did_done promise_did_doing promise_did_fail promise_did_open": "text",
    "mem_did_protect mem_did_unprotect mem_did_fade mem_did_archive mem_did_restore mem_did_share": "what",
    "mem_did_unshare_private mem_did_unshare_chat unsaid unsaid_undo aside aside_forgot forgot_matter": "what",
    "forgot forgot_several forgot_beside forgot_forever unkept promise_said_done promise_said_failed remind_cancelled": "list",
    "back_set back_moved back_cancelled back_promised back_settled": "list",
    "forgot_promise forgot_reminder": "quote",
}
"""What a receipt names of that which it confirms."""
FILLED = (
    ("remind_late", {"text": "remind_now", "late": "late_hours_one"}),
    ("remind_late", {"text": "remind_promise", "late": "late_hours_one"}),
    ("remind_to", {"text": "remind_now"}),
    ("remind_to", {"text": "remind_promise"}),
    ("remind_cancelled", {"list": "remind_of"}),
    ("back_set", {"list": "remind_of_promise"}),
    ("forgot_matter", {"what": "matter_named", "gone": "gone_memories"}),
    ("forgot_matter", {"what": "matter_this", "gone": "gone_lines"}),
    ("found", {"lines": "of_you"}),
    ("known", {"lines": "of_you"}),
    ("todo", {"lines": "of_you"}),
    ("unsaid", {"what": "quote"}),
)
"""Sentences that are put together: what fills them is a sentence of its own."""


def texts(language: str, folders: tuple[str, ...] = FOLDERS) -> Iterator[tuple[str, str]]:
    """Every text with its key; a list is several."""
    for folder in folders:
        path = resource_dir("prompts") / folder / f"{language}.toml"
        for key, value in tomllib.loads(path.read_text(encoding="utf-8")).items():
            yield from ((key, one) for one in (value if isinstance(value, list) else [value]))


def faults(language: str, pattern: str, *, owners: bool = True, folders: tuple[str, ...] = FOLDERS) -> list[str]:
    """The texts in which it is found."""
    left_out = () if owners else tuple(OWNERS.split())
    return [
        f"{key}: {text}"
        for key, text in texts(language, folders)
        if re.search(pattern, text) and not (left_out and key.startswith(left_out))
    ]


def width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def colons(text: str) -> int:
    """The most of one sentence; a bracket is one of its own."""
    sentences = re.split(r"[\n。；;.·—]|[（(][^（()）]*[)）]", text)
    return max(len(re.findall("：|:(?= )", sentence)) for sentence in sentences)


def test_no_simplified_character_stands_in_a_traditional_text_nor_the_reverse() -> None:
    table = simplified()
    everywhere = (*FOLDERS, "opening")
    plain = {char for char in table.values() if not char.encode("big5", "ignore")} | set("么听")
    mixed = [f"{key}: {text}" for key, text in texts("zh-Hant", everywhere) if plain & set(text)]
    mixed += [
        f"{key}: {text}" for key, text in texts("zh-Hans", everywhere) if any(ord(char) in table for char in text)
    ]
    assert [each for each in mixed if not each.startswith(NOT_READ)] == []


def test_taiwan_reads_its_own_words() -> None:
    assert faults("zh-Hant", MAINLAND) == []


@pytest.mark.parametrize("language", ["zh-Hans", "zh-Hant"])
def test_chinese_has_chinese_punctuation(language: str) -> None:
    half = rf"{HAN}(?:(?<!平台)[:,;!?~()]|\.(?!ai)|\.\.\.)(?:{HAN}|\{{|\Z)|{HAN} — {HAN}|\}} — {HAN}"
    assert faults(language, half) == []
    assert faults(language, "[。，；！？]…|…[。，；]|[。，；：]{2}") == []


@pytest.mark.parametrize(("language", "foreign"), [("zh-Hans", '[「」『』"]'), ("zh-Hant", '[“”"]'), ("en", '[「」"]')])
def test_each_language_has_one_kind_of_quotation_marks(language: str, foreign: str) -> None:
    assert faults(language, foreign, folders=("messages", "offline")) == []


@pytest.mark.parametrize("language", SCRIPTS)
def test_no_sentence_has_two_colons_once_it_is_filled_in(language: str) -> None:
    assert [f"{key}: {text}" for key, text in texts(language) if colons(text) > 1] == []
    known = dict(texts(language, ("offline", "messages")))
    whole = [
        known[key].format_map(Filled({hole: known[name] for hole, name in holes.items()})) for key, holes in FILLED
    ]
    assert [text for text in whole if colons(text) > 1] == []


def latin_words(text: str) -> set[str]:
    return set(re.findall("[A-Za-z]{2,}", re.sub(TYPED, " ", text)))


class Filled(dict[str, str]):
    """Holes that nothing fills stay empty."""

    def __missing__(self, key: str) -> str:
        return ""


@pytest.mark.parametrize("language", SCRIPTS)
def test_people_read_no_word_of_developers(language: str) -> None:
    people = faults(language, DEVELOPERS, owners=False, folders=("messages", "offline"))
    assert [text for text in people if re.search(DEVELOPERS, re.sub(r"\.ai [a-z]+[^\n]*", "", text))] == []


@pytest.mark.parametrize("language", ["zh-Hans", "zh-Hant"])
def test_a_chinese_sentence_has_no_english_word_but_names_and_what_is_typed(language: str) -> None:
    found = faults(language, HAN, owners=False)
    assert [text for text in found if not latin_words(text.partition(": ")[2]) <= set(ENGLISH_NAMES.split())] == []


def test_english_has_no_slips_and_says_nothing_wrong_of_one() -> None:
    assert faults("en", SLIPS, folders=("messages", "offline", "web")) == []
    assert faults("en", PLURALS, owners=False, folders=("messages",)) == []
    assert faults("en", HAN, owners=False, folders=("offline", "web")) == []


@pytest.mark.parametrize("language", SCRIPTS)
def test_a_receipt_says_what(language: str) -> None:
    known = dict(texts(language, ("messages",)))
    wanted = ((key, hole) for keys, hole in RECEIPTS.items() for key in keys.split())
    assert [key for key, hole in wanted if f"{{{hole}}}" not in known[key]] == []


@pytest.mark.parametrize(
    ("hello", "keep", "plan"),
    [
        ("我说的话", "记住我怕狗", "明天下午三点提醒我开会"),
        ("我說的話還沒說完", "記住我對這種狗過敏", "請記得明天下午三點提醒我開會"),
        ("what I said", "remember I am afraid of dogs", "remind me tomorrow at 3pm to go to the meeting"),
    ],
)
async def test_what_people_may_ask_fits_a_phone(world: World, hello: str, keep: str, plan: str) -> None:
    """All but the persona's own words, and what is asked for word for word."""
    left_out = ("new", "clear", "off", "reload", "export", "forget", "personality")
    for who, may in (("阿明", ("anyone", "own")), ("", ("anyone", "own", "admins", "owner"))):
        for line in (hello, keep, plan, hello):
            await world.say(line, *[who] * bool(who))
        listed = [each.name for each in COMMANDS if each.listed and each.who in may and each.name not in left_out]
        wide: list[str] = []
        more = ("mem #1", "mem #1 stats", "mem stats", "mem recent x y", "promise x", "budget show", "forget me")
        for words in (*(f"help {topic}" for topic in TOPICS), *listed, *more):
            before = len(world.replies)
            await world.say(f".ai {words}", *[who] * bool(who))
            lines = [line for reply in world.replies[before:] for line in reply.splitlines()]
            wide += [f"{words}: {line}" for line in lines if width(line) > COLUMNS]
            wide += [f"{words}: {len(lines)} lines"] if len(lines) > LINES else []
        assert wide == []


async def test_help_about_forgetting_tells_how_to_forget_one_thing(world: World) -> None:
    await world.say(".ai help forget")
    assert "忘记…" in world.replies[-1]
    assert ".ai forget me" in world.replies[-1]
