"""What people promised or have still to do, in their own words: 我明天要交报告, 待办：…, I need to renew my passport. Pure.

It would rather miss a task than invent one: no question, no doubt, nothing denied, nobody else's, no order to nuan, and
nothing that the same person says later in the talk is done or off.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bot.memory import doubting
from bot.memory import statements as s
from bot.memory.minutes import DigestLine
from bot.memory.telling import ADDRESSED, SENTENCE, TEXT_CHARS, clauses_of, one_row
from bot.text.clip import clip
from bot.text.fold import fold, fold_mapped, unfold
from bot.text.lazy import LazyPattern
from bot.text.tokens import STOP, index_terms

SETTLED = 0.6
"""Share of a task's telling signs that a later line with a word of ending must hold to end it."""

SHORT_CLAUSE = 6
"""A promise of fewer characters goes on after the comma: 我答应妈妈，周末回家."""

# -- vocabulary, for folded clauses ------------------------------------------------------------------------------------

_WHEN = (
    f"(?:{s.TIME}(?:之前|以前|前|之内|内|一?早)?|(?:周|月|年|学期)[初中底末]之?(?:前|以前)?|(?:今|明|后)?[早晚]上?"
    "|待会儿?|等会儿?|回头|[在到于])"
)
_ADVERB = "(?:[还也就再又都一]|现在|今天|最近|真的|其实|已经|刚刚?|赶紧|尽快|马上|一定|之前|以前|前|必须|早一?点|顺便|抽空|,| )"
_DO = (
    "(?:去(?!世|年)|交(?!流|通|往|朋友|给你判断)|写|还(?![是有没要得会])|取(?!决|笑)|买|寄|发(?!现|呆|烧)|续|办|打(?!算|扰)|给|付|缴|准备|提交|完成|做完"
    "|改|带|送|接(?!着|受)|回(?:家|信|复|电|老家|邮件|消息)|订|预约|报名|申请|换|修|洗|收拾|整理|打扫|联系|通知|填|签|搬|找|退"
    "|充|复习|背|[看读学]完|处理|更新|备份|检查|查|拿|跑|把|赶|念|唸|煮|倒垃圾|帮(?!我)|参加|请假|跟|和|向|先|补|存|核对|加班|做(?!梦|人))"
)
_HANDOVER = (
    "(?:交(?!流|通|往|朋友)|写完|还(?![是有没要得会])|缴|付|寄|提交|办|续|取(?!决|笑)|准备|完成|改|订|报名"
    "|申请|补|做完|填|签|退|送|复习|把|搞定|发(?!现|呆|烧))"
)
_NO_TASK = "(?!(?:去)?(?:睡|走|撤|下线|吃饭|上厕所|洗澡|忙)|先?(?:走|撤|睡|下)|和你|跟你|向你|给你(?:说|讲|看)|帮你)"
_LIST = LazyPattern(
    r"[\W_]*(?:(?:我的)?(?:待办|代办)(?:事项|清单)?|to-?do(?: ?list)?|to do(?=:)|任务清单)(?: ?[:,-] ?| )(?P<task>\S.*)"
    r"|\s*[-*•]? ?\[ ?\] ?(?P<task2>\S.*)"
)
_LIST_DONE = LazyPattern(r"\[[xv✓✔]\]|^\W*(?:没有?|无|空|none|nothing|empty|都?完成了|list|app)\b")
_ZH = LazyPattern(
    "(?:"
    "我(?:已经|又|刚刚?|都|也|还)*答应(?:了|过)?(?![了过]?(?:吗|什么|的))(?=..)"
    "|我(?:向[^,]{1,6})?(?:保证|承诺|发誓)(?:了|过)?(?=...)"
    f"|(?:{_WHEN}{{1,3}} ?)?我(?:{_WHEN}|{_ADVERB})*(?:必须|务必|一定要|得(?![了到过意知罪奖分出第])|需要|要记得|记得要)(?:{_WHEN}|{_ADVERB})*"
    f"{_NO_TASK}{_DO}"
    f"|{_WHEN}{{1,2}} ?(?:还|又|也|就)*(?:得|(?<=[还又])要)(?![了到过意知罪奖分出第]){_NO_TASK}(?:{_DO}|陪(?!你)|上[课班]|开会|见)(?!.*[喔哦呀吧哈啊]$)"
    f"|(?:{_WHEN}{{1,3}} ?)?我(?:{_WHEN}|{_ADVERB})*要(?:{_WHEN}|{_ADVERB})*{_HANDOVER}(?<=.....)"
    f"|(?:{_WHEN}{{1,3}} ?我|我{_WHEN}{{1,3}})(?:再|就|一定|会|来|去)*{_HANDOVER}(?!了|过|完了)"
    f"|我?(?:要)?记得(?:{_WHEN}){{1,3}}要?{_DO}"
    "|我(?:来)?负责(?!任)[^,你]{2,10}$"
    f"|我(?:一定)?会(?:{_WHEN}){{1,3}}(?:{_ADVERB})*(?:到(?!处|底)|{_DO})"
    f"|我(?:今天|现在|到现在|都|也|这周)*还没有?(?:来得及)?(?:去)?(?:交|写|买|做|付|还|取|订|回(?!过?神|家)|洗|准备|办|续|报名|复习"
    "|打扫|收拾|改|发|寄|缴|填|签|退|约|背)"
    ")"
)
_NEEDS_TIME = LazyPattern(f"我(?:(?!{_WHEN})[^,]){{0,8}}?(?<!需)要(?!记得)")
_TIMED = LazyPattern(_WHEN)
_EN_DO_NOT = (
    "(?!(?:be|go to (?:bed|sleep)|sleep|say|admit|know|ask|think|tell you|run|leave|confess|agree|see|wait|stop|wonder"
    "|go"
    r"|say|mention|laugh|pee|disagree|hear|believe|understand|rest|eat|relax|vent|talk|chat)\b"
    r"(?! (?:to |with )?(?:the|my|our) ))"
)
_EN_DEED = (
    "(?:bring|send|finish|submit|pay|call|e-?mail|return|fix|book|buy|write|pick (?:[a-z]+ )?up|drop off|give|mail"
    "|do the|clean"
    "|prepare"
    "|help (?!you)|come|take|make|get|wash|cook|bake|pack|print|sign|deliver|hand in|turn in)"
)
_EN_DID = (
    "(?:sent|paid|finished|submitted|written|called|booked|bought|done|returned|renewed|replied|started|signed|cleaned"
    "|picked|packed|handed|filed|prepared|answered|fixed|ordered|registered)"
)
_EN_MY = "(?:report|essay|paper|thesis|homework|assignment|tax(?:es)?|rent|bill|project|application|visa|presentation)"
_EN = LazyPattern(
    "(?:"
    rf"i (?:also |still |really |just |definitely )*(?:need to|have to|must|gotta|got to|have got to) "
    rf"(?:remember to )?{_EN_DO_NOT}[a-z]{{2,}}"
    rf"|(?:(?:also|still|just) )*(?:need to|have to|must|gotta|got to) (?:remember to )?{_EN_DO_NOT}{_EN_DEED}\b"
    r"|i(?:['’]ll| will) (?:bring|bake|cook|host|order|pay for|pick up|handle|book|reserve|make"
    r" (?!it|sure|do\b|a (?:note|mess|fool|difference|deal|call)|you|fun|sense|up)) ?(?!it|that|this|them|you)\w{3,}"
    rf"|i['’]ve (?:still |also )?got to {_EN_DO_NOT}[a-z]{{2,}}"
    r"|i(?:['’]ve| have)? (?:just |also )?promised? (?:to |(?:my |the )?\w+(?: \w+)? (?:to|that|i)\b|that |i\b)"
    rf"|(?=.*(?:{s.EN_TIME}|\b(?:by|before|until) ))i(?:['’]ll| will) (?:definitely |also |surely )?{_EN_DEED}\b"
    rf"|i (?:still |also )*(?:haven['’]?t|have not) {_EN_DID}\b"
    rf"|my (?:\w+ ){{0,2}}{_EN_MY}(?: is| are|['’]s) due\b"
    ")"
)
_VAGUE = LazyPattern(r"\b(?:to|must|gotta) (?:\w+ ){1,2}(?:it|this|that|them|him|her|you|so)\W*$")
_AGAIN = LazyPattern(
    "每|天天|总是|平时|通常|一直都?得|经常|老是|有时|^以前|我以前|小时候|那时|当时|"
    r"\b(?:every|each|always|usually|often|sometimes|never|back then)\b"
)
_CONDITIONAL = LazyPattern(r"['’]d\b|\bwould\b")
_OVER_ZH = LazyPattern(
    "了(?:[啊呀哦啦呢吧,!~ ]|$)|[完好掉]了|已经|搞定|弄好|办妥|不用[^,]{0,8}[了啦]?$|不必|不需要|取消|作废|算了|不[去做交写买办]了|"
    "刚刚?[^,]{0,12}[完好]|过了"
)
_OVER_EN = LazyPattern(
    r"\b(?:done|finished|completed|already|cancel\w*|called off|no longer|(?:do|does|did)n['’]?t (?:need|have) to"
    r"|no need"
    r"|(?:just )?(?:sent|paid|submitted|returned|booked|bought|renewed|called|handed|wrote|delivered|ordered|signed"
    r"|cleaned"
    r"|fixed|watered|washed|packed|mailed|emailed|replied|picked|took|brought|registered|filed|got|did|made))\b"
)
_NOT_OVER = LazyPattern(
    r"还没|没有?(?:交|写|做|买|办)|一半|还差|快[^,]{0,6}了$|就要|\b(?:not|n['’]t|almost|half|nearly|if|when)\b"
)
_NOT_OVER_BUT = LazyPattern(r"不用|n['’]?t (?:need|have) to|not need")
_MINE = LazyPattern(r"我|俺|咱|\b(?:i|my|we|our|i['’](?:ll|ve|m))\b")
_ELSE = LazyPattern(
    r"[\W_]*(?:[你您他她它]|(?:我的?)?(?:爸|妈|哥|姐|弟|妹|老板|同事|朋友)"
    r"|you\b|he\b|she\b|they\b|my (?!\w+ (?:is|are) due))"
)
_DUTY = LazyPattern(
    r"要|得(?![了到过意])|必须|需要|答应|保证|承诺|会|还没|打算|计划|记得|别忘|该|欠"
    r"|\b(?:need|have to|must|promise[ds]?|will|gotta|got to|due|plan|owe|going to|haven['’]?t)\b|['’]ll\b"
)
_PAST = LazyPattern(
    r"昨[天晚]|前[天晚]|上(?:周|个?星期|个?礼拜|个?月)|去年|\b(?:yesterday|last (?:week|night|month|year)|ago)\b"
)
_NO_NEED = LazyPattern(
    r"不用|不必|不需要|不想|不会|不要|没答应|不[去做交写买办]|n['’]t (?:need|have|want)|\b(?:never|not) \w+|no need"
)
_ALL_OVER = re.compile(
    r"(?:我|终于|已经|都|刚|总算|i['’]?m|all|it['’]?s|that['’]?s|finally|just|and|ok|okay|yay|好啦?|耶|,| )*"
    r"(?:搞定|弄好|做完|完成|办好|交完|写完|弄完|忙完|交|办妥|done|finished|did it|sorted)(?:了|啦|咯|喽)?(?:now)?\W*"
)
_EMPTY = frozenset(
    "我你他她它们的了在是也都就还又要得需去来把给必须答应会记先前之内以于到保证承诺没不用有完好掉啦呢吧这那个"
)
_EMPTY_EN = frozenset(
    [
        "need",
        "have",
        "must",
        "gotta",
        "got",
        "still",
        "really",
        "just",
        "promise",
        "promis",
        "will",
        "i'll",
        "haven",
        "yet",
        "don't",
    ]
)


@dataclass(slots=True)
class _Open:
    line: DigestLine
    text: str
    signs: frozenset[str]


def promises(told: Iterable[tuple[DigestLine, str]]) -> Iterator[tuple[DigestLine, str]]:
    """Of lines with their own words, in order: each task that is open at the end, with the line that told it."""
    waiting: dict[int | None, list[_Open]] = {}
    for line, words in told:
        mine = waiting.setdefault(line.person_id, [])
        for sentence, end in _sentences(words):
            found = [text for text in (_listed(sentence),) if text] or list(_tasks(sentence, end))
            if not found and "?" not in fold(end):
                _settle(mine, fold(sentence).strip())
            mine.extend(_Open(line, text, signs(text)) for text in found)
    every = [task for mine in waiting.values() for task in mine]
    every.sort(key=lambda task: task.line.number)
    for task in every:
        yield task.line, task.text


def is_own_task(sentence: str) -> bool:
    """Whether a sentence may be a task of whoever says it: of no doubt, not denied, not over, not somebody else's."""
    folded = fold(sentence).strip()
    if _listed(sentence) or any(True for _ in _tasks(sentence, "")):
        return True
    mine = any(
        _MINE.search(clause) and _DUTY.search(clause) and not _ELSE.match(clause) for clause in clauses_of(folded)
    )  # fmt: skip
    return mine and not (
        _PAST.search(folded) or
        s.UNSURE.search(folded) or doubting.ASKING.search(folded)
        or s.QUESTION.search(folded) or _AGAIN.search(folded) or _NO_NEED.search(folded)
        or _OVER_ZH.search(folded) or _OVER_EN.search(folded)
    )  # fmt: skip


def still_open(text: str, line: DigestLine, told: Iterable[tuple[DigestLine, str]]) -> bool:
    """Whether the speaker of `line` says nowhere later that the task is done or off."""
    mine = [_Open(line, text, signs(text))]
    for other, words in told:
        if other.person_id == line.person_id and other.number > line.number:
            for sentence, end in _sentences(words):
                if "?" not in fold(end) and not any(True for _ in _tasks(sentence, end)):
                    _settle(mine, fold(sentence).strip())
    return bool(mine)


def signs(text: str) -> frozenset[str]:
    """What a task is about: its telling characters and the beginnings of its Latin words, days apart."""
    folded = fold(text)
    for match in _TIMED.finditer(folded):
        folded = folded[: match.start()] + " " * len(match[0]) + folded[match.end() :]
    found = {term for term in index_terms(folded) if term.isascii() or len(term) == 1}
    return frozenset(
        term[:4] if term.isascii() else term
        for term in found
        if term not in STOP and term not in _EMPTY and term not in _EMPTY_EN and (len(term) > 1 or not term.isascii())
    )


def _settle(mine: list[_Open], said: str) -> None:
    """End what a person's later words say is done or off."""
    over = _OVER_ZH.search(said) or _OVER_EN.search(said)
    if not mine or not over or s.UNSURE.search(said) or doubting.ASKING.search(said) or s.QUESTION.search(said):
        return
    if _ALL_OVER.fullmatch(said):
        mine.pop()
        return
    if _NOT_OVER.search(said) and not _NOT_OVER_BUT.search(said):
        return
    there = signs(said)
    mine[:] = [task for task in mine if not task.signs or len(task.signs & there) < SETTLED * len(task.signs)]


def _sentences(words: str) -> Iterator[tuple[str, str]]:
    for row in words.split("\n"):
        if s.LINK.search(fold(row)):
            continue
        listed = _LIST.match(fold(row))
        if listed:
            yield row, ""
            continue
        if s.QUOTING.search(row):
            continue
        addressed = ADDRESSED.match(row)
        for match in SENTENCE.finditer(row, addressed.end() if addressed else 0):
            yield match[1], match[2]


def _listed(row: str) -> str:
    """What a row of a list of things to do says; or ""."""
    folded, origin = fold_mapped(row)
    match = _LIST.match(folded)
    if match is None or re.search(r"[?？]\s*$", row) or _LIST_DONE.search(folded):
        return ""
    start, end = match.span("task") if match["task"] else match.span("task2")
    task = unfold(row, origin, start, end)
    if _LIST_DONE.search(fold(task)) or s.QUESTION.search(fold(task).strip()) or re.search("[<>{}]", task):
        return ""
    return _finished(task)


def _tasks(sentence: str, end: str) -> Iterator[str]:
    folded = fold(sentence).strip()
    if "?" in fold(end) or len(folded) > 2 * TEXT_CHARS or _AGAIN.search(folded):
        return
    plain = _CONDITIONAL.sub(" ", folded) if "promise" in folded else folded
    if s.UNSURE.search(plain) or doubting.ASKING.search(plain) or s.INSTRUCTION.search(folded):
        return
    clauses = clauses_of(sentence)
    for number, clause in enumerate(clauses):
        text = _task(clause)
        if text and len(text) < SHORT_CLAUSE and number + 1 < len(clauses):
            text += clauses[number + 1]
        if text:
            yield _finished(text)


def _task(clause: str) -> str:
    """The task that a clause begins with; or ""."""
    folded, origin = fold_mapped(clause)
    lead = s.LEAD.match(folded)
    start = lead.end() if lead else 0
    rest = folded[start:]
    match = _ZH.match(folded, start) or _EN.match(folded, start)
    if match is None or _VAGUE.search(rest):
        return ""
    wish = _NEEDS_TIME.match(match[0])
    if wish and not _TIMED.search(rest) and "必须" not in match[0] and "一定要" not in match[0]:
        return ""
    return unfold(clause, origin, start, len(folded))


def _finished(text: str) -> str:
    return clip(one_row(text).strip(" ,，、;；。.!！~～"), TEXT_CHARS)
