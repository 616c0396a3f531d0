"""What somebody says became of what they promised: 报告交了, 已经搞定了, 还在写, done, sent it. By rule, no model. Pure.

The words only point; which promise they mean is found among the open ones of the same person.
"""

import re

from bot.people.clauses import Clause, Words
from bot.types.commitment import Outcome

MOST = 3
"""Outcomes that are read off one message."""

LONGEST = 40
"""Characters of such a clause; a longer one tells a story."""

_VETO = re.compile(
    r"没|未|不|别|还要|快要|想|准备|打算|如果|要是|等.{0,8}再|才|[他她]|(?<!给)[你您]|谁|大家|我[妈爸姐哥弟妹]|什么|怎么|昨天的|nothing"
    r"|\b(?:not|n't|never|if|when|once|will|'ll|going to|gonna|should|want|need|almost|nearly|he|she|they|who"
    r"|your|you"
    r"|is it|are we|have you)\b|n't\b"
)
_LEAD = r"(?:(?:好了?|嗯+|哦+|对了|报告|搞定|ok|okay|hey|yes|yeah|yep|all|finally|just|already|update|todo)[ ,:!]+)*"
_VERB = (
    r"(?:交|发|还|带|寄|传|做|写|买|送|弄|搞|办|完成|整理|准备|提交|通知|修|处理|订|约|画|洗|收拾|安排|看|读|背|吃|喂|浇|付|缴|报|取|退|打扫|打|复习|跑|练"
    r"|补|存|转|接|回|喝|戒|预约|报名|改)"
)
_ZH_DONE = re.compile(
    rf"(?:我)?(?P<what>[^,]{{0,20}}?)(?:已经|都|终于|刚刚?|也|全部?|早就?|总算|给)*"
    rf"(?:{_VERB}(?:好|完|定|掉|上去|出去|过去|过|回去|成)?了?(?:给[一-鿿]{{1,4}})?(?:了|啦|咯)|搞定(?:了|啦)?|完成(?:了|啦)|办妥了?|收工)"
)
_ZH_ONGOING = re.compile(
    rf"(?:我)?(?:还|正|现在|已经)*(?:正?在)(?P<a>{_VERB}.*)|(?:我)?(?P<b>.{{0,20}}?){_VERB}了?(?:一半|一部分|一点)了?"
    rf"|(?:我)?(?P<c>.{{0,20}}?)快{_VERB}?[好完]了|(?:我)?已经开始(?P<d>{_VERB}.*)了?"
)
_PAST = (
    r"sent|paid|brought|called|texted|emailed|returned|finished|submitted|fixed|wrote|written|booked|bought"
    r"|handled|delivered|helped"
    r"|checked|reviewed|gave|told|reminded|cleaned|dropped|prepared|uploaded|ordered|cooked|mailed|washed"
    r"|shared|forwarded|watered"
    r"|fed|walked|done|did|made|replied|printed|posted|updated|transferred|scheduled|arranged|renewed|picked"
    r"|completed|turned in"
)
_EN_DONE = re.compile(
    rf"(?:i(?:'ve| have| just| already| finally)*|just|already|finally)? ?(?:just |already "
    rf"|finally )*(?P<what>(?:{_PAST})(?: .*)?)"
    rf"|(?P<thing>(?:the|my|that|it)(?:[a-z' ]{{1,30}})?)(?: is|'s| are| was| were| has been| got"
    rf"| have been) (?:all |finally |already )*(?:{_PAST})(?: now| already)?"
)
_EN_ONGOING = re.compile(
    r"(?:i'?m |i am )?(?:still |already |currently )*working on (?P<a>.+)|i'?m on (?P<b>it)"
    r"|(?:i'?ve )?(?:just )?started (?P<c>.+)"
    r"|(?:i'?m )?halfway (?:through|done)(?P<d>.*)|almost done(?: with)?(?P<e>.*)"
)
_ANY = re.compile(r"[了啦咯在定妥]|收工|done|ing\b|\b(?:" + _PAST + r")\b|halfway|started|on it")
_IT = re.compile(r"^(?:it|that|this|them|the thing)(?: (?:now|already|today))?$|^(?:事情?|这个|那个|这事|那事|任务)$")


def outcomes(words: Words) -> tuple[Outcome, ...]:
    """What became of promises, in the order it is said."""
    found: list[Outcome] = []
    for clause in words.clauses:
        outcome = None if clause.asks else _outcome(clause)
        if outcome is not None and outcome not in found:
            found.append(outcome)
    return tuple(found[:MOST])


def telling(text: str) -> bool:
    """Whether it is worth reading."""
    return _ANY.search(text) is not None


def _outcome(clause: Clause) -> Outcome | None:
    skipped = re.match(_LEAD, clause.text)
    said = clause.text[skipped.end() if skipped else 0 :] or clause.text
    if len(said) > LONGEST:
        return None
    for pattern in (_ZH_ONGOING, _EN_ONGOING):
        found = pattern.fullmatch(said)
        if found and not re.search(r"没|不|\bnot\b|[他她你]", said):
            return Outcome("ongoing", _about(found[found.lastgroup or 0] or ""))
    if _VETO.search(said):
        return None
    for pattern in (_ZH_DONE, _EN_DONE):
        found = pattern.fullmatch(said)
        if found:
            return Outcome("done", "" if _BARE.fullmatch(said) else _about(said))
    return None


_BARE = re.compile(
    r"(?:我)?(?:已经|都|终于|全部?|总算)*(?:搞定|办妥|做完|弄完|弄好|做好|办好|完成|搞好|收工)(?:了|啦|咯)?|(?:all )?done|finished|completed"
    r"|(?:it|that)(?:'s| is) (?:all |already |finally )?done"
)


def _about(words: str) -> str:
    """The words that tell which promise is meant, "" for it and 这事."""
    return "" if _IT.fullmatch(words.strip()) else words.strip()
