"""Reads a wish to keep something: before the content, after it, or pointing back. It decides nothing else."""

from collections.abc import Iterator

from bot.memory import patterns as p
from bot.memory.patterns import NAME, PARTICLE, POLITE, STOP
from bot.memory.reading import Found, Place
from bot.text.lazy import LazyPattern

_FOR = "(?:帮我|帮忙|替我|给我|帮)"
_NOT_NOTED = "(?![了啦咯咧没得起错仇恨者录号住性]|来了|来啦)"
"""记住了, 记得, 记错 are no wish to keep."""
_REMEMBER = LazyPattern(
    f"(?P<strong>{_FOR} ?(?:记[住下着好]?来?(?:一下)?|(?:note|mark|remember) ?一下|存一?下)"
    f"(?:[几一二两三四五]?[个件]?事情?)?{_NOT_NOTED}"
    "|记一[下记]|记下?(?:个|[几一两三四五]件)事情?(?=[,: ]|我)|(?:note|mark|remember) ?一下|存一下(?=[: ])"
    "|记下来(?![了啦])"
    "|(?:写|加|存|记)[进到入](?:你的|长期)?(?: ?memory|记忆库?)里?|备忘(?=:)|[/.](?:remember|记住)"
    r"|(?:make|take) a note(?: that| of)?\b|jot (?:this |that |it )?down|write (?:this|that|it) down"
    "|(?:add|save|put|store) (?:it |this )?(?:in)?to (?:your )?memory(?: that)?|remember the following(?: about me)?)"
    f"|(?P<weak>记[住下着]{_NOT_NOTED}|(?:remember|keep in mind|bear in mind|note(?= that))"
    r"(?: that(?! (?:was|is|time|one|day|epic)\b))?\b)"
    r"|(?P<fact>记得|(?:别|不要)忘[了记]?|do ?n[o']t forget(?: that)?\b)"
)
"""Before the content. `strong` asks to keep anything, `weak` may be advice, `fact` counts only before a plain fact."""
_INTRO = LazyPattern(
    f"(?:{PARTICLE})*+(?:(?:我说的|我的话|这[些几]个?|以下(?:内容)?|[几两三四五]件事|这件事)(?=[:,]))?[:, ]*+"
)
_KEEP_THIS = LazyPattern(
    f"把(?P<c>[^{STOP}]{{1,200}}?)(?:这件事|这个|这事)?(?:都|给我|帮我)?"
    f"(?:记(?:下来?|住)(?![了啦])|[记存写加][进到入](?:你的|长期)?(?: ?memory|记忆库?)里?)(?:{PARTICLE}"
    f"|{POLITE})*+(?=[{STOP}]|$)"
)
_TAIL_REMEMBER = LazyPattern(
    f"(?:(?P<strong>{_FOR}(?:记[住下着好]?来?(?:一下)?|存一下)|记一[下记]|记下来|存一下|敬?请?惠存|要?记着点"
    "|keep (?:that|this|it) in mind|make a note(?: of (?:that|this|it))?|note (?:that|this|it) down)"
    "|(?P<weak>给我记住|记住|记下|记着|(?<=please )remember|remember (?:that|this|it)"
    "|do ?n[o']t forget (?:that|this|it)))"
    f"(?:{PARTICLE}|{POLITE})*+(?P<more>(?(strong),(?![。\\n]|$)|(?!)))?"
    r",?(?:(?:(?<=ok)|(?<=吗))\?)?(?(more)|(?=[。\n]|$))"
)
"""After the content; only a strong one may be followed by more of the sentence."""
_STATEMENT_EN = LazyPattern(
    r"(?:i|i'm|im|ive|i've|i'd|i'll|we|we're|we've) (?!told|said|mention|asked|talked|am here|will be here"
    r"|love you|already|agreed|discussed|just )"
    r"|(?:my|our) [^,]*?(?:'s|\b(?:is|are|was|has|have|had|will|lives?|works?|likes?|hates?|starts?|ends?|goes"
    r"|called|can't))\b"
)
_NOT_FACT_EN = LazyPattern(
    r"did ?n['o]?t (?:we|i)|(?:always )?here (?:for|if)|to.?do list|shopping list|calendar|reminder|alarm"
    r"|playlist|as (?:i|we) (?:said|told)"
)
_FACT_ZH = LazyPattern(
    "我(?:对[^,]{1,12}过敏|[^,]{0,6}不(?:吃|喝|能|会|喜欢|爱吃|敢|碰|抽)|讨厌|怕|喜欢|爱吃|对[^,]{1,8}过敏"
    "|是(?!谁|说|不是)|属|姓"
    "|有(?!一次|话|点)|的[^,]{1,8}(?:是|叫|在)|[妈爸哥姐弟妹儿女老][^,]{1,6}(?:是|叫|对|不[吃喝能]))"
)
_REMINISCENCE = LazyPattern("当时|那时|有一次|以前|小时候|上次|曾经|我们|爱你|等你|想你|陪你")
_ADVICE = LazyPattern(
    "[要得别去来早多少先再]|不要|不能|不许|不准|按时|一定|千万|明天|带|吃|喝|打电话|给|把|回|拿|买|关|to |not to "
)
_APHORISM = LazyPattern(
    "人生|生活|生命|幸福|爱情|快乐|成功|努力|世界|梦想|永远|没有人|任何|只有|只要|时间|难受|密码(?=怎么|安全|$)"
    "|自己|咱|你|您|他|她|它|我们"
)
_PREDICATE = LazyPattern("[是在叫有要=:]|[0-9]|每[天周月年]")
_BARE_NOUN = LazyPattern(
    "我(?:们|这个人)?的?|我们?的?[^,是在叫有不想喜爱讨怕会能]{0,8}的[^,是在叫有0-9]{1,5}"
    "|我的[^是在叫有对不0-9:=,]{0,6}|我(?:爱|想|等)你.*"
)
_LOOSE_ENDS = "啊呀哦喔噢啦嘛吧呢哈哟唷吗齁咯 ,.:"
_COURTESY_AT_END = LazyPattern(
    rf"(?:好吗|可以吗|行吗|好不好|就行|就好|谢谢|(?<![a-z])(?:thanks|please|ok)|(?<= ){NAME}+)$"
)
_ASIDE = LazyPattern("[你您]|再说一遍|跟你[讲说]")
_TO_YOU = LazyPattern(r"[你您]|\byou\b")
_SPACES = LazyPattern(" *")
_HARD = LazyPattern(r"[。?\n]|$")


def opens(place: Place) -> bool:
    """Whether a wish to keep begins here; what follows may still not be a fact."""
    return _REMEMBER.match(place.shape, place.at) is not None


def keeping(place: Place) -> Found | None:
    """The wish to keep something that stands at this place, or None; doubt means None."""
    return _kept(place) or _remember(place) or _tail(place)


def _kept(place: Place) -> Found | None:
    """把…记下来: the content stands before the verb."""
    match = _KEEP_THIS.match(place.shape, place.at)
    if not match or p.QUESTION.search(match["c"]):
        return None
    if p.DEICTIC.fullmatch(match["c"]):
        return Found("remember", place.start, match.end(), _before(place, strong=True))
    return (
        Found("remember", place.start, match.end(), match.span("c"))
        if p.MINE.search(match["c"]) or p.QUOTED in match["c"]
        else None
    )


def _remember(place: Place) -> Found | None:
    shape = place.shape
    match = _REMEMBER.match(shape, place.at)
    intro = _INTRO.match(shape, match.end()) if match else None
    if not match or not intro:
        return None
    a = intro.end()
    if (shape.startswith("\n", a) and ":" in intro[0]) or "the following" in match[0]:
        a += len(shape[a:]) - len(shape[a:].lstrip("。:, \n"))
        return Found("remember", place.start, len(shape), (a, len(shape)))
    b, end = _extent(shape, a, place.asked)
    body = shape[a:b]
    if p.DEICTIC.fullmatch(body):
        before = _before(place, strong=True)
        if not before and body.startswith("我"):
            return None
        return Found("remember", before[0] if before else place.start, end, before)
    if b <= a or not _is_fact(body, str(match.lastgroup), "," in intro[0]):
        return None
    return Found("remember", place.start, end, (a, b))


def _extent(shape: str, a: int, asked: bool) -> tuple[int, int]:
    """Where the content that begins at `a` ends, and where what is left begins; (a, a) when it is a question."""
    stop = _HARD.search(shape, a)
    sentence_end = stop.start() if stop else len(shape)
    questioned = shape.startswith("?", sentence_end)
    end = shape.find(",", a, sentence_end) % (sentence_end + 1)
    if end == sentence_end and questioned and not asked and not shape.endswith(("好吗", "可以吗", "行吗"), a, end):
        return a, a
    if p.QUESTION.search(shape[a:end]) and not asked and not shape.endswith(("好吗", "可以吗", "行吗"), a, end):
        return a, a
    while end < sentence_end:
        following = shape.find(",", end + 1, sentence_end) % (sentence_end + 1)
        clause = shape[end + 1 : following].strip()
        last = following == sentence_end
        if (
            p.CUT.match(clause)
            or p.QUESTION.search(clause + ("?" if last and questioned else ""))
            or (last and questioned)
        ):
            return _trim(shape, a, end), end
        if p.CLOSING.fullmatch(clause):
            return _trim(shape, a, end), following
        end = following
    return _trim(shape, a, end), end


def _trim(shape: str, a: int, b: int) -> int:
    """The content's end without closing particles and courtesies."""
    while b > a:
        if courtesy := _COURTESY_AT_END.search(shape[max(a, b - 12) : b]):
            b -= len(courtesy[0])
            continue
        end = a + len(shape[a:b].rstrip(_LOOSE_ENDS))
        if end == b or shape[a:end].endswith(("叫", "姓")):
            break
        b = end
    return b


def _is_fact(body: str, kind: str, after_comma: bool) -> bool:
    """Whether it can be a fact to keep, and no advice, errand or aphorism; `kind` is how clearly keeping was asked."""
    if kind == "strong":
        return len(body) >= 3 and not body.startswith(("to ", "方便"))
    if not p.CJK.search(body):
        return bool(_STATEMENT_EN.match(body)) and not _NOT_FACT_EN.search(body)
    if kind == "fact":
        return bool(_FACT_ZH.match(body)) and not _REMINISCENCE.search(body) and "你" not in body
    if p.MINE.search(body):
        return not _BARE_NOUN.fullmatch(body) and not _ADVICE.match(body)
    plain = not after_comma and len(body) >= 4 and _PREDICATE.search(body)
    return bool(plain) and not _APHORISM.search(body) and not _ADVICE.match(body)


def _tail(place: Place) -> Found | None:
    """…，记住哦: the content stands before the command."""
    match = _TAIL_REMEMBER.match(place.shape, place.at)
    before = _before(place, strong=match["strong"] is not None) if match else None
    return Found("remember", before[0], match.end(), before) if match and before else None


def _before(place: Place, strong: bool) -> tuple[int, int] | None:
    """The statement before a command that points back to it, or None when nothing there is one."""
    shape = place.shape
    end = place.start
    while end > place.floor and shape[end - 1] in ",。 \n":
        end -= 1
    begin = max(place.floor, *(shape.rfind(stop, 0, end) + 1 for stop in "。?\n"))
    for clause in _clauses(shape, begin, end):
        part = shape[clause:end]
        first = part.split(",", 1)[0].strip()
        if p.NOTHING_LEFT.fullmatch(first) or _ASIDE.search(first):
            continue
        if _TO_YOU.search(part) or p.QUESTION.search(part):
            return None
        told = p.MINE.search(part) or (strong and _PREDICATE.search(part))
        return (clause, _trim(shape, clause, end)) if told and len(part) > 2 else None
    return None


def _clauses(shape: str, begin: int, end: int) -> Iterator[int]:
    while begin < end:
        lead = _SPACES.match(shape, begin)
        yield lead.end() if lead else begin
        begin = shape.find(",", begin, end) + 1 or end
