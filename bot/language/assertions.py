"""What people's own words assert, clause by clause: terms, numbers, denial, doubt and whom a clause is about. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from bot.language.time.parts import count_en, count_zh
from bot.text.catalogue import LazyPattern, read_table
from bot.text.fold import fold
from bot.text.terms import STOP_WORDS, proper_names, runs, stem

SENTENCE_CHARS = 600
"""A longer sentence is no talk: nothing is read in it."""
SHORT_QUOTE = 10
"""A quotation of so many characters may be a name or a title, and stays."""
_PREFIX = 6
"""Latin words are the same when they begin with the same letters: allergy and allergic."""

LINK = LazyPattern(
    r"\b[a-z][a-z0-9+.-]{0,20}://\S*|\bwww\.\S+|\b[a-z0-9-]{1,60}\.(?:com|net|org|io|cn|dev|ly|gg|me)\b\S*",
    re.IGNORECASE,
)
_SET_APART = LazyPattern(r"^\s*[>#$|]|```")
_QUOTED = LazyPattern('“([^”]*)”|「([^」]*)」|『([^』]*)』|"([^"]*)"|`([^`]*)`|【([^】]*)】')
_PERSON = LazyPattern(r"[我你您他她它]|\b(?:i|i'm|you|my|he|she|is|are)\b|[,.:!?。]")
_SHORTENED = LazyPattern(r"\b(st|dr|mr|mrs|ms|jr|vs|no|mt|a\.m|p\.m)\.(?= )")
_FOLDED_SENTENCE = LazyPattern(r"((?:[^。!?;\n.]|\.(?!\s|$|\.))+)([。!?;.]*)")
"""A sentence and its end; folded, … is three dots, which end one also within a line."""
_WORD = LazyPattern(r"[a-z\u00c0-\u024f][a-z0-9\u00c0-\u024f'-]*")
_LATIN_NAME = LazyPattern(rf"(?<![a-z0-9]){_WORD.text}")
"""A unit right behind its figure is no name: 3.9kg."""
_HAN = LazyPattern("[㐀-鿿]+")
_KIN_LATIN = LazyPattern("[a-z]+")
_PROPER = LazyPattern(r"(?<=[a-z,;:] )[A-Z][\w'’-]*")
_TITLE = LazyPattern("《([^》]{1,40})》")

_MY = "(?:我(?:们?家?的?|那?个?|[养领]养?的?)?)?"

_DIGITS = LazyPattern(r"\d+(?:[.,]\d+)*")
_HAN_NUMBER = LazyPattern("(?<!周)(?<!期)(?<!拜)[零〇一二两俩三四五六七八九十百千万亿]+")
MEASURE = "个只岁点号月年日天次元块万亿斤口条套辆分秒周小杯碗本张件位名楼层室门平公里米度页章集瓶颗台双份期折倍克升吨盒包首科级届回场轮"
_ONES = "two three four five six seven eight nine"
_EN_NUMBERS = (
    f"{_ONES} ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty "
    "fifty sixty ninety"
).split()
_EN_NUMBER = LazyPattern(
    rf"\b(?:{'|'.join(sorted(_EN_NUMBERS, key=len, reverse=True))})\b(?:[- ](?:one|{_ONES.replace(' ', '|')})\b)?"
)
_SCALES = {"万": 10_000, "千": 1_000, "百": 100, "亿": 100_000_000, "k": 1_000, "w": 10_000}
_SCALE = LazyPattern(r"[万千百亿]|[kw](?![a-z])")
"""A k in kg or km is no thousand."""

_EMPTY = frozenset("的了我你您他她它们是在也都就很还又把被吗呢吧啊一个这那着过得地和跟与")
"""A pair with one of these tells nothing."""

LIGHT_VERBS = frozenset("做在有是去")
"""A verb of one of these alone tells of no thing: 做 keto, 有車."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """grounding.toml as it is used; `alike` gives for a word the rows that it stands in."""

    plain: frozenset[str]
    plain_han: tuple[str, ...]
    rows: tuple[frozenset[str], ...]
    alike: Mapping[str, tuple[int, ...]]
    slots: Mapping[str, tuple[str, ...]]
    short: Mapping[str, str]
    who: Mapping[str, frozenset[str]]
    patterns: Mapping[str, LazyPattern]


def _vocabulary() -> Vocabulary:
    found = read_table("bot.language", "grounding")
    english, han = found["plain"]["en"].split(), found["plain"]["zh"].split()
    rows = tuple(
        frozenset(stem(word) if word.isascii() else word for word in row.split()) for row in found["alike"]["rows"]
    )
    alike: dict[str, tuple[int, ...]] = {}
    for number, row in enumerate(rows):
        for word in row:
            alike[word] = (*alike.get(word, ()), number)
    return Vocabulary(
        (frozenset(english) | {stem(word) for word in english}) - {stem("quit")}
        | frozenset(word for word in STOP_WORDS if word.isascii()),
        tuple(dict.fromkeys(han)),
        rows,
        alike,
        {slot: tuple(words) for slot, words in found["slots"].items()},
        dict(pair.strip().split(" ", 1) for pair in found["short"]["words"].split(",")),
        {name: frozenset(words) for name, words in found["who"].items()},
        {name: LazyPattern("|".join(f"(?:{part})" for part in parts)) for name, parts in found["pattern"].items()},
    )


VOCABULARY = _vocabulary()
_SAYS = VOCABULARY.patterns
_KIN, _KIN_EN_WORDS = (_SAYS[name].text for name in ("kin", "kin_en"))

_SHORT = LazyPattern("|".join(rf"\b{word}\b" if word.isascii() else word for word in VOCABULARY.short))

_LEAD = rf"[\W_]*(?:{_SAYS['lead'].text})*"
_KIN_EN = (
    rf"(?:(?:my|our|his|her|their) {_KIN_EN_WORDS}(?!\w)(?:,? [a-z][\w-]*(?='s|,| is| has| was| will))?"
    rf"|(?:the |a |an )?{_KIN_EN_WORDS}(?='s\b| (?:{_SAYS['does'].text}|and|comes?|told)\b))"
)
_SELF = (
    rf"我(?!(?:们?家?的?|那?个?|[养领]养?的?)(?:{_KIN}))|本人|俺|咱"
    rf"|(?:i|i'm|i've|i'll|i'd|im|ive|me|we|we're|we've)(?![\w'])|my (?!{_KIN_EN_WORDS}(?!\w))"
)
_OTHER = "|".join(
    (
        rf"{_MY}(?:{_KIN})",
        # 隔壁班王老师说
        rf"(?:隔壁|楼[上下])?[^\W\da-z_我你您看回去见陪找接送带给跟和]{{0,5}}?(?:{_KIN})"
        rf"(?={_SAYS['told_after'].text})",
        rf"[他她它]们?|{_KIN_EN}|(?:he|she|they|it)(?!\w)",
        rf"(?!(?:{_SAYS['no_name'].text}|he|she|let|life|work|time)'s)[a-z]{{2,20}}(?='s [a-z])",
        rf"(?!{_SAYS['no_name'].text})[a-zà-ÿ]{{2,20}}(?: and [a-z]{{2,20}})?(?= (?:{_SAYS['does'].text}) )",
        rf"(?!{_SAYS['no_name'].text})[a-zà-ÿ]{{2,20}}(?= from (?:my|our|the) [a-z]+ )",
        r"[一-鿿]{2,3}(?=的(?:生日|手机|电话|地址|家|公司|名字|婚礼))",
    )
)
_NEAR = LazyPattern(rf"{_KIN}|\b(?:{_KIN_EN_WORDS}|s?he)\b|[他她]")
_SUBJECT = LazyPattern(
    rf"{_LEAD}(?:(?P<self>{_SELF})|(?P<you>[你您](?!知道|看|说|猜)|you(?!\w)|your\b)|(?P<other>{_OTHER}))"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of somebody's own words, folded. `subject`: whom it is about, as far as it says so; `who` are the
    words for another."""

    line: int
    folded: str
    terms: frozenset[str]
    subject: str
    who: str
    hedged: bool
    planned: bool

    @property
    def denied(self) -> bool:
        """Whether it says that something is not."""
        return denied(self.folded)


@lru_cache(maxsize=1024)  # here and below: every statement of an answer is held against the same lines
def folded_plain(text: str) -> str:
    """Folded, with one kind of apostrophe; what is written short or in dialect is written out: doesnt, bday, 聽日."""
    plain = _SHORTENED.sub(r"\1", fold(text).replace("’", "'").replace("‘", "'").replace("俩", "两"))
    return _SHORT.sub(lambda found: VOCABULARY.short[found[0]], plain)


def parts_of(line: int, words: str, *, beside_irony: bool = False) -> tuple[Clause, ...]:
    """What somebody plainly says in their own words, clause by clause: no quotation, question, play or link.

    A sign of irony takes its whole sentence with it, or, `beside_irony`, its clause alone: what the rest means is judged
    elsewhere.
    """
    found: list[Clause] = []
    for row in folded_plain(words).split("\n"):
        if _SET_APART.search(row):
            continue
        row = _QUOTED.sub(_short, LINK.sub(" ", row))
        for match in _FOLDED_SENTENCE.finditer(row):
            found += _sentence(line, match[1], "?" in match[2], beside_irony=beside_irony)
    return tuple(found)


def _short(match: re.Match[str]) -> str:
    inside = next((group for group in match.groups() if group), "")
    return inside if len(inside) <= SHORT_QUOTE and not _PERSON.search(inside) else " "


def _sentence(line: int, sentence: str, asked: bool, *, beside_irony: bool) -> Iterator[Clause]:
    if len(sentence) > SENTENCE_CHARS or _SAYS["never"].search(sentence):
        return
    if not beside_irony and _SAYS["ironic"].search(sentence):
        return
    clauses = [one for one in _clauses(sentence) if one]
    # What hangs on an "if" follows it, or stands right before one that begins its clause (not in Chinese).
    if_at = next((at for at, clause in enumerate(clauses) if _SAYS["if"].search(clause)), len(clauses))
    if_at -= if_at and if_at < len(clauses) and clauses[if_at].startswith(("if ", "unless ", "suppose "))
    before: tuple[str, str] = ("", "")
    hedged = planned = False
    for number, clause in enumerate(clauses):
        last = number == len(clauses) - 1
        if (asked and last) or _SAYS["doubtful"].search(clause) or _SAYS["ironic"].search(clause):
            continue
        after = clauses[number + 1] if not last else ""
        # A clause that is nothing but doubt casts it on the one before.
        tail = _SAYS["hedged"].search(after) is not None and not terms(_SAYS["hedged"].sub(" ", after))
        subject, who = subject_of(clause)
        # Doubt and plans go on through clauses that name no subject of their own.
        goes_on = not subject and _SAYS["anew"].match(clause) is None
        hedged = (hedged and goes_on) or _SAYS["hedged"].search(clause) is not None
        planned = (planned and goes_on) or _SAYS["planned"].search(clause) is not None
        if subject:
            before = ("", "") if clause.endswith("说的") else (subject, who)
        elif before[0] == "other":
            subject, who = before
        yield Clause(line, clause, terms(clause), subject, who, number >= if_at or tail or hedged, planned)


def _clauses(folded: str) -> list[str]:
    """What a folded sentence says one by one, without the marks between."""
    return [one.strip(" ,:、~()") for one in _SAYS["between"].split(folded)]


def subject_of(clause: str) -> tuple[str, str]:
    """("self" | "you" | "other" | "", the words for the other)."""
    found = _SUBJECT.match(clause)
    if found is None:
        return "", ""
    if found["other"]:
        rest = clause[found.start("other") :]
        if report := _SAYS["report"].match(clause, found.end("other")):
            told = subject_of(clause[report.end() :])
            return told if told[0] else ("other", found["other"])
        return ("self" if _SAYS["of_me"].search(rest) else "other"), found["other"]
    return ("self" if found["self"] else "you"), ""


def reported(clause: str) -> bool:
    """Whether somebody else is told to say or think it."""
    found = _SUBJECT.match(clause)
    return bool(found and found["other"] and _SAYS["report"].match(clause, found.end("other")))


def relative(who: str) -> bool:
    """Whether the words for another mean somebody near, or a person named before: my cousin, she."""
    return _NEAR.search(who) is not None


def relatives(folded: str) -> frozenset[str]:
    """The words for such people, as they stand in a text."""
    return frozenset(found[0] for found in _NEAR.finditer(folded))


def without_possessive(who: str) -> str:
    """Without whose they are."""
    return _SAYS["whose"].sub("", who)


def has_pronoun(folded: str) -> bool:
    """Whether a pronoun speaks of somebody else."""
    return _SAYS["pronoun"].search(folded) is not None


def denied(folded: str) -> bool:
    """Whether a clause says that something is not, or no longer."""
    return (len(_denials(folded)) % 2 == 1) != (_SAYS["ended"].search(folded) is not None)


def poles(folded: str, *, told: bool = False) -> frozenset[bool]:
    """Whether a clause says that something is not; both where a "no" may answer what was said before, where several
    things are denied, or, as it is `told` by others, where what ended is."""
    plain, answer = denied(folded), _SAYS["answer"].match(folded)
    found = {plain}
    if answer:
        found.add(denied(folded[answer.end() :]))
    denials = _denials(folded)
    if len(denials) > 1 or (told and denials and _SAYS["ended"].search(folded)):
        found.add(not plain)
    return frozenset(found)


def subject_characters(folded: str) -> frozenset[str]:
    """What a text is of, each character or word by itself: 养猫 is of what 猫送人了，不养了 is of."""
    return frozenset(one for term in terms(folded) if term[0] != "=" for one in (term if term[0] >= "㐀" else (term,)))


def _denials(folded: str) -> list[str]:
    plain = "".join(_pieces(folded))
    return [match[0] for match in _SAYS["denial"].finditer(plain)]


def _pieces(folded: str) -> Iterator[str]:
    at = 0
    for match in _SAYS["no_denial"].finditer(folded):
        yield folded[at : match.start()] + " "
        at = match.end()
    yield folded[at:]


def negated(folded: str) -> list[tuple[str, ...]]:
    """What a text denies, each as the words right behind the denial: 不用上大夜 gives 上大, "don't drink coffee" drink
    and coffe."""
    plain, found = _bare("".join(_pieces(_SAYS["answer"].sub("", folded, 1)))), list[tuple[str, ...]]()
    for match in _SAYS["negated"].finditer(plain):
        if match["han"]:
            if not _PLAIN_CHARS.issuperset(match["han"]):
                found.append((match["han"][:2],))
        elif words := [stem(word) for word in match["words"].split() if word not in VOCABULARY.plain]:
            found.append(tuple(words[:2]))
    return found


def asserts(folded: str, key: tuple[str, ...]) -> bool:
    """Whether a text says all these words, and not right behind a denial."""
    plain = _SAYS["negated"].sub(" ", _bare("".join(_pieces(folded))))
    if key[0][0] >= "㐀":
        return key[0] in plain
    return set(key) <= {stem(word) for word in _WORD.findall(plain)}


def _bare(folded: str) -> str:
    """Without the particles inside Chinese verbs: 拔了智齿, 没拔过智齿."""
    return re.sub("(?<=[一-鿿])[了着过](?=[一-鿿])", "", folded)


@lru_cache(maxsize=4096)
def terms(folded: str) -> frozenset[str]:
    """The telling terms of a folded text: stems of Latin words, pairs of Chinese characters, rows of like words."""
    found: set[str] = set()
    for run, word in runs(folded):
        if word:
            root = stem(word)
            if word not in VOCABULARY.plain and root not in VOCABULARY.plain and not word.isdigit():
                found.add(root[:_PREFIX])
            found.update(f"={number}" for number in VOCABULARY.alike.get(root, ()))
            continue
        found.update(
            pair
            for at in range(len(run) - 1)
            if (pair := run[at : at + 2]) not in _PLAIN_HAN and _EMPTY.isdisjoint(pair)
        )
        if len(run) == 1 and run not in _PLAIN_HAN:
            found.add(run)
        found.update(f"={number}" for number, _, _ in _rows_in(run))
    return frozenset(found)


_PLAIN_HAN = frozenset(VOCABULARY.plain_han) | frozenset(word for word in STOP_WORDS if not word.isascii())
_PLAIN_WORDS = tuple(word for word in VOCABULARY.plain_han if len(word) > 1)
_PLAIN_CHARS = frozenset(char for word in _PLAIN_HAN for char in word)
_ALIKE_HAN = tuple(word for word in VOCABULARY.alike if not word.isascii())


def _rows_in(run: str) -> Iterator[tuple[int, int, int]]:
    """The rows whose words stand in a run, with where."""
    for word in _ALIKE_HAN:
        at = run.find(word)
        while at >= 0:
            for number in VOCABULARY.alike[word]:
                yield number, at, at + len(word)
            at = run.find(word, at + 1)


@lru_cache(maxsize=1024)
def kin(folded: str) -> frozenset[int]:
    """The relatives, partners, children and animals that a text names, as rows of words for the same."""
    found = {number for word in _KIN_LATIN.findall(folded) for number in VOCABULARY.alike.get(stem(word), ())}
    for run in _HAN.findall(folded):
        found |= {number for number, _, _ in _rows_in(run)}
    return frozenset(found)


def one_kin(rows: frozenset[int]) -> bool:
    """Whether rows name one relative or animal, whatever word for it."""
    return bool(rows) and all(VOCABULARY.rows[one] & VOCABULARY.rows[other] for one in rows for other in rows)


def is_animal(rows: frozenset[int]) -> bool:
    """Whether an animal is among them."""
    return not rows.isdisjoint(kin("猫 狗 兔"))


@lru_cache(maxsize=1024)
def without_kin(folded: str) -> str:
    """What is left of the words for somebody: their name."""
    rest = re.sub(r"^(?:我(?:们?家?的?|那?个?)?|(?:my|our|his|her|their|the|a|an) )", "", folded)
    for word in sorted(VOCABULARY.alike, key=len, reverse=True):
        pattern = rf"\b{re.escape(word)}[a-z]?\b" if word.isascii() else re.escape(word)
        rest = re.sub(pattern, " ", rest)
    return " ".join(rest.replace("的", " ").split())


@lru_cache(maxsize=1024)
def names(text: str) -> tuple[str, ...]:
    """What a statement calls by a name, folded: Latin words beside Chinese or with a capital, and what follows 叫."""
    folded, han = folded_plain(text), _HAN.search(text) is not None
    found = [fold(name) for name in (*_SAYS["called"].findall(folded), *_TITLE.findall(folded))]
    if han:
        found += [word for word in _LATIN_NAME.findall(folded) if len(word) > 1 and word not in VOCABULARY.plain]
        found += [word for word in proper_names(folded) if word not in VOCABULARY.alike]
        found += [name[0] for name in _SAYS["titled"].finditer(folded)]
    else:
        inner = (match[0] for match in _PROPER.finditer(text) if match[0].lower() not in VOCABULARY.plain)
        found += [folded_plain(word).removesuffix("'s") for word in inner]
    return tuple(dict.fromkeys(found))


def novelty(text: str, heard: str) -> tuple[float, list[str]]:
    """How much of a text's telling words nobody said: their share, 0 to 1, and which.

    Chinese counts by characters, a Latin word as two of them. `heard` is folded.
    """
    stems = {stem(word.removesuffix("'s").removesuffix("s'"))[:_PREFIX] for word in _WORD.findall(heard)}
    for words in _PLAIN_WORDS:
        text = text.replace(words, " ")
    strange: list[str] = []
    whole = 0
    for piece in re.finditer(r"[a-z\u00c0-\u024f][a-z0-9\u00c0-\u024f'-]*|[㐀-鿿]", text):
        word = piece[0].removesuffix("'s").removesuffix("s'")
        latin = word[0] < "㐀"
        if (
            word.endswith("n't")
            or (latin and (word in VOCABULARY.plain or stem(word) in VOCABULARY.plain))
            or word in _PLAIN_HAN
        ):
            continue
        size = 2 if latin else 1
        whole += size
        if (stem(word)[:_PREFIX] in stems) if latin else (word in heard):
            continue
        strange.append(word)
    news = sum(2 if word[0] < "㐀" else 1 for word in strange)
    return (news / whole if whole else 0.0), strange


_CLOCK = LazyPattern(r"(?:[01]?\d|2[0-3])\.[0-5]\d")
"""11.20: an hour, too."""


def numbers(folded: str, *, all_of_them: bool) -> set[str]:
    """The numbers that a folded text names, in figures; with `all_of_them` every reading, else only what must be one.

    五万 is 50000, 10点半 has a 30, 下午3点 is 15 as well.
    """
    found: set[str] = set()
    for match in _DIGITS.finditer(folded):
        for figure in (match[0].replace(",", ""), *match[0].split(",")):
            found.add(_figure(figure))
            if not all_of_them and "," in match[0]:
                break
        scale = _SCALE.match(folded, match.end())
        if scale is not None and match[0].count(".") < 2:
            if not all_of_them:
                found.discard(_figure(match[0].replace(",", "")))
            found.add(_figure(str(round(float(match[0].replace(",", "")) * _SCALES[scale[0]]))))
        if all_of_them and _CLOCK.fullmatch(match[0]):
            found.update(_figure(figure) for figure in match[0].split("."))
        if all_of_them and match[0].isdigit() and int(match[0]) < 25:
            hour = int(match[0])
            later = _SAYS["later_zh"].search(folded[max(0, match.start() - 6) : match.start()])
            if later or _SAYS["later_en"].match(folded, match.end()):
                found.add(str(hour + 12))
            if hour > 12:
                found.add(str(hour - 12))
    for match in _HAN_NUMBER.finditer(folded):
        after = folded[match.end() : match.end() + 1]
        if all_of_them or (match[0] != "一" and ((after and after in MEASURE) or len(match[0]) > 1)):
            found.add(str(_han(match[0])))
            if all_of_them:
                if after == "点" and _SAYS["later_zh"].search(folded[max(0, match.start() - 6) : match.start()]):
                    found.add(str(_han(match[0]) + 12))
                found.update(str(_han(char)) for char in match[0])
                if len(match[0]) > 1 and set(match[0]) <= set("零〇一二三四五六七八九"):
                    found.add("".join(str(_han(char)) for char in match[0]).lstrip("0") or "0")
    for match in _EN_NUMBER.finditer(folded):
        found.add(str(int(count_en(match[0].replace(" ", "-")))))
    if all_of_them:
        half = re.search("点半|半小时|半个?钟|half", folded)
        found |= {"30"} if half else set()
        found |= {"15", "45"} if re.search("刻|quarter", folded) else set()
        found |= {"12"} if re.search(r"中午|午夜|noon|midnight|dozen|一打", folded) else set()
        found |= {"0", "1"}
    return found - {"0"}


def _figure(text: str) -> str:
    if "." in text:
        return text.rstrip("0").rstrip(".") if text.count(".") == 1 else text
    return text.lstrip("0") or "0"


def _han(word: str) -> int:
    """五万 is 50000; a last figure counts the next smaller hundreds: 四千六 is 4600."""
    for scale, value in (("亿", 100_000_000), ("万", 10_000), ("千", 1_000), ("百", 100)):
        head, mark, tail = word.partition(scale)
        if mark:
            return (_han(head) or 1) * value + _han(tail) * (value // 10 if len(tail) == 1 else 1)
    return count_zh(word)
