"""The built-in model: answers by rule from the request alone, without server or network."""

import json
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from bot.core.models import Completion, Message, ModelRequest, Prompt, ToolCall, Usage
from bot.core.people import SCRIPTS, Script
from bot.language.reminders.wording import in_second_person
from bot.language.sections import SLOT_QUESTION_WORDS
from bot.language.statements import statements_in
from bot.text.catalogue import Catalogue, LazyPattern
from bot.text.clean import unescaped
from bot.text.fold import fold, script_of
from bot.text.length import ELLIPSIS, clip, message_tokens, tools_tokens
from bot.text.similarity import content_words, repeating
from bot.text.terms import STOP_WORDS, index_terms, search_terms

Mood = Literal["greeting", "thanks", "bye", "self", "past", "question", "talk"]

_LINE = LazyPattern(r'<p(?: n="([^"]*)")?( forwarded="1")?>(.*?)</p>', re.DOTALL)
_HEADINGS = {
    "happened": LazyPattern("发生|happened"),
    "known": LazyPattern("关于|知识|about|know"),
    "talked": LazyPattern("对话|talk"),
    "tasks": LazyPattern("即将|没做完|coming up|to do"),
}
_SPEAKER = LazyPattern(r"\A[^:：,，]{1,30}[:：]\s*")
_SAID = ("：", ": ", "说：", "說：", " said: ")
_REMINDER = LazyPattern(r"\A(?:提醒|reminder)[:：]\s*")
_TALK = LazyPattern("\\A(?:那次聊天|a talk)[:：] ?")
_NOTE = LazyPattern("\\A(?:笔记|筆記|a note)[:：]")
_PRESENT = LazyPattern(r"^(?:【在[场場]】|\[Here\] ?)([^,，(（\n]+)", re.MULTILINE)
_NUMBER = LazyPattern(r"\A(?:[#@✓]|⏰\ufe0f?)\d+\s+")
_AROUND = LazyPattern(r" ?(?:〔[^〕]*〕|\[around it: [^\]]*\])")
_DAY = LazyPattern(r" ?[(（]((?:[^()（）]|\([^()（）]*\))*)[)）]\Z")
_ABOVE = LazyPattern(r" ?(?:（上文已有）|\(already above\))\Z")
"""On a row that only points at what was told before."""
_RECEIPT = LazyPattern(r'<b f="reminder">(.*?)</b>', re.DOTALL)
_ASKED_FOR = LazyPattern(r'<p[^>]*>[^<]*</p>\n(?=<b f="reminder">)')
"""A line for which a reminder was set, moved or cancelled: what came of it is told by the receipt."""
_REMINDER_NUMBER = LazyPattern("⏰\ufe0f?(\\d+)")
_RECEIPT_FORM = LazyPattern(r"\A(?:好|OK|Okay)[，,] ?|⏰\ufe0f?\d+ ?|[（(][^（()）]*[)）]\s*\Z")
"""What a receipt for a reminder says beside what it is about: the assent, the number, a hint at its end."""
_PART_WORD = LazyPattern(r"(?a)\s+\S*\w\Z")
_FIRST_PERSON = LazyPattern(r"[我咱]|\b(?:i|my|me|mine|we|our|us)\b")
_ASKING = LazyPattern(
    r"[?？]|吗|么$|什么|哪|谁|几[点号个岁]|多少|"
    r"^(?:what|when|where|who|whose|which|how|why|do|did|am|is|are|can|could|should)\b",
    re.MULTILINE,
)
_REMEMBER = LazyPattern(
    r"还?记得.*[吗么没不?]|记不记得|你知道我.*[吗么?什谁哪几]"
    r"|\b(?:remember|recall)\b.*\?|\bdo you (?:still )?(?:remember|recall)\b"
    r"|\bdo you know (?:my|(?:what|where|who) i)\b"
)
_PAST = LazyPattern(
    "(?:我|咱).*(?:什么|哪|谁|几[点号个岁]|多少|怎么称呼|[吗么?])"
    "|(?:上次|之前|以前|昨天|前天|刚才|那天|上周|上个?月|去年).*(?:什么|哪|谁|几|多少|[吗么?])"
    "|(?:谁|哪天|哪里|哪儿|什么时候|几号|几点|生日)[^你]*$"
    r"|\b(?:what|when|where|who|whose|which|how (?:old|many|much|long))\b.*\b(?:i|my|me|mine|we|our)\b"
    r"|\b(?:am|was|did|do|have) i\b"
    r"|\b(?:last (?:time|week|month|year)|yesterday|earlier|ago)\b.*\?"
)
_ADVICE = LazyPattern(
    r"该|怎么办|怎么做|推荐|建议|能不能|可以.*吗|比较好|更适合|\b(?:should|could|can|would|recommend|suggest)\b"
)
_ABOUT_BOT = LazyPattern("^[^我咱]*你[^我咱]*$|\\byou\\b", re.MULTILINE)
_SELF = LazyPattern(
    r"你(?:到底)?是(?:谁|什么)|你是不是(?:ai|机器人|真人)|\b(?:who|what) are you\b|\bare you (?:an? )?(?:ai|bot|real)\b"
)
_NAME_ASKED = LazyPattern(
    r"\A(?:[你还]*(?:记得|知道))?我(?:应?该)?(?:(?:的|嘅)名字?)?[叫是系](?:什么|咩|乜|谁|啥|边个)(?:名字?)?(?:[吗呢呀啊来着]*)[?\s]*\Z"
    r"|(?:记得|知道)我的名字|(?:怎么|点样?)(?:称呼|叫)我|\bwhat(?:'s| is) my name\b|\bwho am i\W*\Z|\bwhat am i called\b"
    r"|\b(?:know|remember) (?:my name|who i am)\b|\bwhat do you call me\b"
)
_CALLED = LazyPattern(
    r"(不|[别別]|won't |never |do not )?(?:叫你|叫TA「|call you |call them [\"'])([^\n<#「」\"]+?)(?:了| any more)? ?(?:[」\"]|'\"|[(（]?#\d)"
)
"""How nuan says, in a receipt, an opening or an event, what it calls somebody from now on, or no more."""
_REMINDERS_ASKED = LazyPattern(
    r"(?:什么|哪些|哪几[个条]|几[个条]|多少|乜嘢?|咩|有没有).{0,6}提醒[吗呢呀啊]*[?\s]*\Z|提醒(?:列表|清单|事项)|提醒(?:有|是)(?:哪|什么)|\A我的提醒[?\s]*\Z"
    r"|\b(?:what|which|any|how many|list|show)(?:'re| are| all| me| of| my| the| open)* reminders?\b|\breminders? list\b|\A(?:my )?reminders\W*\Z"
)
_MEMORIES_ASKED = LazyPattern(
    r"(?:记得|记住|记着|知道|了解|记了)了?(?:关于|些?)?(?:我|咱)?的?(?:些|哪些|什么|多少|哪几)(?:事情?|东西)?[了吗呢呀啊?\s]*\Z|\A你?还?记得我[吗么?\s]+\Z"
    r"|\bwhat (?:do|did) you (?:know|remember|have|keep)(?: stored| noted)? (?:about|on|of) me\b|\bdo you remember me\b"
)
_GREETING = LazyPattern(
    r"你好|您好|嗨|哈[喽啰罗]|在吗|在不在|早上好|早安|早呀?$|下午好|晚上好|\b(?:hi|hello|hey|good (?:morning|afternoon|evening))\b"
)
_THANKS = LazyPattern(r"谢谢|多谢|感谢|谢啦|\b(?:thanks|thank you|thx)\b")
_BYE = LazyPattern(r"拜拜|再见|晚安|去睡|睡了|\b(?:bye|goodbye|good ?night|see you)\b")
_EMPTY = frozenset("我你他她咱的了吗么什哪谁几")
"""Characters that make a pair say nothing of what a line is about."""
_SHORT = 20
"""Characters up to which a greeting, thanks or goodbye is the whole message and not only its beginning."""

RECALL = "memory_recall"
TOLD = 3
"""Memories of the warm boot in a greeting."""
FOUND = 3
"""Lines of a tool's result in an answer."""
HINT_AFTER = 2
"""After so many answers of the first log it is told once how to connect a model."""
WARM_CHARS = 60
"""Characters of a line of the last talk in a greeting."""
QUOTE_CHARS = 120
"""Characters of one quoted line."""
OWN_LINES = ("intro", "connect", "self", "nothing")
"""Its own texts that answer no question when a search finds them."""
INTRO_CHARS = 20
"""By so much of it the introduction is known again."""
QUERY_CHARS = 200
"""Characters of a question that are searched for."""

OFFLINE = "offline"
"""The dialect of the model that is none."""


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """A request as the offline model sees it; texts are unescaped.

    `said` is what the last speaker, called one of `names`, said at the end, `earlier` all other people's lines, oldest
    first; `happened`, `known`, `talked` and `tasks` are the lines of the warm boot; `results` is None until a tool has
    answered `said`; `called` is how somebody alone with nuan is addressed, "" where that is unknown; `answers` counts
    nuan's own lines.
    """

    names: tuple[str, ...]
    said: str
    forwarded: bool
    script: Script
    earlier: tuple[str, ...]
    happened: tuple[str, ...]
    known: tuple[str, ...]
    talked: tuple[str, ...]
    tasks: tuple[str, ...]
    results: tuple[str, ...] | None
    called: str
    answers: int
    calls: int

    def is_theirs(self, line: str) -> bool:
        """Whether a line was told by the last speaker."""
        return line.startswith(tuple(name + sign for name in self.names for sign in _SAID))


def read_prompt(prompt: Prompt, unnamed: tuple[str, ...] = ()) -> PromptFacts:
    """Read a request; a message of an unknown form counts as said as it stands. `unnamed` are the names of somebody
    alone with nuan who has none."""
    users = [message.content for message in prompt.messages if message.role == "user"]
    last = users[-1] if users else ""
    lines = [(name, bool(fwd), unescaped(text)) for name, fwd, text in _LINE.findall(_new(last))]
    unframed = "" if "<ctx" in last else last
    tail = [line for line in lines if line[0] == lines[-1][0]] if lines else [("", False, unframed)]
    earlier = [unescaped(text) for user in users[:-1] for _, _, text in _LINE.findall(_ASKED_FOR.sub("", user))]
    earlier += [text for name, _, text in lines if name != tail[0][0]]
    script = _opened_in(users[0] if users else "")
    for text in (*earlier[-20:], *(text for _, _, text in tail)):
        script = script_of(text, script)
    receipts = _receipts(users)
    told = _sections(users[0] if users else "", frozenset(receipts))
    return PromptFacts(
        names=(tail[0][0],) if tail[0][0] else (_present(users[0] if users else ""), *unnamed),
        said="\n".join(text for _, _, text in tail),
        forwarded=all(fwd for _, fwd, _ in tail),
        script=script,
        earlier=tuple(earlier),
        happened=told["happened"],
        known=told["known"],
        talked=told["talked"],
        tasks=(*told["tasks"], *dict.fromkeys(receipts.values())),
        results=_results(prompt.messages),
        called="" if tail[0][0] else _called(users),
        answers=sum(message.role == "assistant" and bool(message.content) for message in prompt.messages),
        calls=sum(len(message.tool_calls) for message in prompt.messages),
    )


def mood_of(said: str) -> Mood:
    """What kind of line it is: about the past or the speaker, about nuan itself, a courtesy, another question, talk."""
    text = fold(said).strip()
    if any(map(_is_past, text.splitlines())):
        return "past"
    if _SELF.search(text):
        return "self"
    short = len(text) <= _SHORT
    if short and _BYE.search(text):
        return "bye"
    if short and _THANKS.search(text):
        return "thanks"
    if short and _GREETING.search(text):
        return "greeting"
    return "question" if _ASKING.search(text) else "talk"


def _is_past(line: str) -> bool:
    if _REMEMBER.search(line):
        return True
    other = _ADVICE.search(line) or _ABOUT_BOT.search(line) or not _ASKING.search(line)
    return not other and _PAST.search(line) is not None


def is_looked_up(said: str) -> bool:
    """Whether it asks for something that may have been told (钥匙在哪), and not for advice or about nuan."""
    mood, text = mood_of(said), fold(said).strip()
    return mood == "past" or (mood == "question" and not (_ADVICE.search(text) or _ABOUT_BOT.search(text)))


def names_what_is_asked(question: str, line: str) -> bool:
    """Whether a told line shares at least half of the question's own words."""
    wanted = _terms(question)
    return bool(wanted) and mood_of(line) == "talk" and 2 * len(wanted & _terms(line)) >= len(wanted)


def nearest_line(question: str, lines: tuple[str, ...]) -> str:
    """The line that shares most words with the question, the newest of equals; else one that tells what it asks for in
    other words (我住哪里); "" when there is none."""
    wanted = _terms(question)
    best, most = "", 1
    for line in lines:
        if mood_of(line) == "talk" and (shared := len(wanted & _terms(line))) >= most:
            best, most = line, shared
    asked = frozenset(search_terms(question))
    return best or next((line for line in reversed(lines) if mood_of(line) == "talk" and _tells(line, asked)), "")


def _tells(line: str, asked: frozenset[str]) -> bool:
    facts = statements_in(_SPEAKER.sub("", _text(line)))
    slots = (SLOT_QUESTION_WORDS.get(fact.slot, "") for fact in facts)
    return any(not asked.isdisjoint(words.split()) for words in slots)


def _terms(text: str) -> set[str]:
    return {term for term in index_terms(text) if len(term) > 1 and term not in STOP_WORDS and _EMPTY.isdisjoint(term)}


def _new(content: str) -> str:
    """What came with the last <ctx>, after what nuan said there; people's words are escaped and forge nothing."""
    return content[max(content.rfind("<ctx"), content.rfind("\n<b>"), content.rfind("\n<b "), 0) :]


def _present(content: str) -> str:
    """The one whom the opening names: the lines of a DM name nobody."""
    found = _PRESENT.search(content.partition("<ctx")[0])
    return found[1].strip() if found else ""


def _called(users: list[str]) -> str:
    """How nuan itself last said that it addresses the one whom it is alone with; people's own lines do not count."""
    called = ""
    for content in users:
        for refused, name in _CALLED.findall(_LINE.sub("", content)):
            if not refused:
                called = unescaped(name)
            elif unescaped(name) == called:
                called = ""
    return called


def _opened_in(content: str) -> Script:
    """The script of the opening block, in which nuan speaks with them until a line says more."""
    block, framed, _ = content.partition("<ctx")
    first = block.split("\n", 1)[0]
    return script_of(first, "zh-Hans") if framed and first.startswith(("【", "[")) else "zh-Hans"


def _receipts(users: list[str]) -> dict[str, str]:
    """What nuan said last in this log of each reminder, by number: set, moved, cancelled or due."""
    said: dict[str, str] = {}
    for receipt in (unescaped(text) for content in users for text in _RECEIPT.findall(content)):
        told = _RECEIPT_FORM.sub("", receipt).strip()
        said |= dict.fromkeys(_REMINDER_NUMBER.findall(receipt), told)
    return said


def _sections(content: str, changed: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """The `- ` lines of the opening block under each heading that is known, without their numbers.

    Reminders with the numbers `changed` are left out, as more was said of them since."""
    found: dict[str, list[str]] = {name: [] for name in _HEADINGS}
    inside: list[str] = []
    for line in content.partition("<ctx")[0].splitlines():
        if line.startswith("#"):
            heading = fold(line)
            inside = next((found[name] for name, known in _HEADINGS.items() if known.search(heading)), [])
        elif line.startswith("- ") and not ((number := _REMINDER_NUMBER.match(line, 2)) and number[1] in changed):
            inside.append(unescaped(_NUMBER.sub("", line[2:])))
    return {name: tuple(lines) for name, lines in found.items()}


def _results(messages: tuple[Message, ...]) -> tuple[str, ...] | None:
    """The lines found by the tools that answered last, of talks only where nothing is remembered, and no notes, which
    are whole pages; None when the last message is no tool's."""
    if not messages or messages[-1].role != "tool":
        return None
    begin = max((at for at, message in enumerate(messages) if message.role != "tool"), default=-1)
    before = [row for message in messages[: begin + 1] for row in _rows(message)]
    found = [_whole(row, before) for message in messages[begin + 1 :] for row in _rows(message)]
    told = [row for row in found if row and not _NOTE.match(row)]
    kept = [line for line in told if not line.startswith("@")] or told
    return tuple(dict.fromkeys(unescaped(_AROUND.sub("", _TALK.sub("", _NUMBER.sub("", line)))) for line in kept))


def _rows(message: Message) -> list[str]:
    """What an opening or a tool lists."""
    listed = message.role == "tool" or (message.role == "user" and "<ctx" in message.content)
    text = message.content.partition("<ctx")[0] if listed else ""
    return [row[2:] for row in text.splitlines() if row.startswith("- ")]


def _whole(row: str, before: list[str]) -> str:
    """A row, or the one before with the number that it points at; "" where there is none."""
    if not _ABOVE.search(row):
        return row
    number = _NUMBER.match(row)
    told = (one for one in reversed(before) if number and one.startswith(number[0]) and not _ABOVE.search(one))
    return next(told, "")


class OfflineModel:
    """Answers by rule, and only from the request: its messages and its tools; `texts` are those of prompts/offline."""

    name = "offline"
    dialect = OFFLINE
    digests = False

    def __init__(self, texts: Catalogue) -> None:
        self._texts = texts

    async def complete(self, request: ModelRequest) -> Completion:
        """Answer at once; never raises ModelError. What it would be in tokens is estimated."""
        prompt = request.prompt
        answer = self._answer(prompt, await request.off_record() if request.off_record is not None else ())
        tokens = sum(map(message_tokens, prompt.messages)) + tools_tokens(prompt.tools)
        return replace(answer, usage=Usage(tokens, 0, message_tokens(answer.message()), returned=False))

    def _answer(self, prompt: Prompt, off_record: tuple[str, ...]) -> Completion:
        heard = read_prompt(prompt, tuple(self._texts.text("unnamed", script) for script in SCRIPTS))
        unkept = repeating(off_record, enumerate(heard.earlier))
        heard = replace(heard, earlier=tuple(line for at, line in enumerate(heard.earlier) if at not in unkept))
        if known := self._known_answer(heard):
            return Completion(self._introduced(known, prompt, heard))
        asks = not heard.forwarded and is_looked_up(heard.said)
        if asks and heard.results is None and any(tool.name == RECALL for tool in prompt.tools):
            query = json.dumps({"query": clip(heard.said.strip(), QUERY_CHARS)}, ensure_ascii=False)
            call = ToolCall(f"offline_{heard.calls}", RECALL, query)
            return Completion("", (call,))
        answer = self._recalled(heard) if asks or heard.results is not None else self._reply(heard)
        return Completion(self._introduced(answer, prompt, heard))

    def _known_answer(self, heard: PromptFacts) -> str:
        """What is answered without a search: how they are called, and where their reminders and memories are listed."""
        asked = "" if heard.forwarded else fold(heard.said).strip()
        if heard.called and _NAME_ASKED.search(asked):
            return self._say("name", heard, name=heard.called)
        listed = (("reminders", _REMINDERS_ASKED), ("memories", _MEMORIES_ASKED))
        return next((self._say(key, heard) for key, pattern in listed if pattern.search(asked)), "")

    def _introduced(self, answer: str, prompt: Prompt, heard: PromptFacts) -> str:
        """The answer; in a first talk with what answers before it, and later once how to connect a model behind it."""
        if heard.answers not in (0, HINT_AFTER) or heard.talked or heard.known or self._known_in(prompt, heard.answers):
            return answer
        intro, hint = self._say("intro", heard), self._say("connect", heard)
        return "\n".join((answer, hint) if heard.answers else (intro, answer))

    async def body(self, request: ModelRequest) -> bytes:
        """The prompt as canonical JSON; the limits change nothing here and are left out."""
        prompt = request.prompt
        body = {"messages": [m.wire() for m in prompt.messages], "tools": [t.wire() for t in prompt.tools]}
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()

    async def close(self) -> None:
        """Nothing is held."""

    def _known_in(self, prompt: Prompt, answers: int) -> bool:
        """Whether this, or an older log of which the lines are told, has said already what is said after `answers`."""
        key = "connect" if answers else "intro"
        return any(self._says(message.content, key) for message in prompt.messages)

    def _says(self, text: str, *keys: str) -> bool:
        """Whether one of its own texts stands there, in any language."""
        return any(self._texts.text(key, script)[:INTRO_CHARS] in text for key in keys for script in SCRIPTS)

    def _worth_telling(self, result: str, heard: PromptFacts) -> bool:
        """Whether a finding is neither an answer of its own nor the bare name of the one who asks."""
        return not self._says(result, *OWN_LINES) and _SPEAKER.sub("", _text(result)) != heard.called

    def _recalled(self, heard: PromptFacts) -> str:
        """What the tool found, else what was said in this very log, else that nothing is known.

        A question that names nobody is answered by lines that name what it asks about, else as any question."""
        opened = (*heard.tasks, *heard.happened, *heard.known)
        results = tuple(one for one in heard.results or () if self._worth_telling(one, heard))
        if mood_of(heard.said) == "question":
            named = [line for line in (*opened, *results) if names_what_is_asked(heard.said, line)]
            if named:
                return self._told(named, heard)
            line = next((one for one in reversed(heard.earlier) if names_what_is_asked(heard.said, one)), "")
            return self._say("said" if line else "question", heard, line=_cut(line, QUOTE_CHARS))
        # What the opening tells is not brought again, so it is looked through first.
        nearest = nearest_line(heard.said, tuple(sorted(opened, key=heard.is_theirs)))
        if nearest or results:
            return self._told((nearest, *results) if nearest else results, heard)
        line = nearest_line(heard.said, (*heard.talked, *heard.earlier))
        return self._say("said", heard, line=_cut(line, QUOTE_CHARS)) if line else self._say("nothing", heard)

    def _told(self, lines: Iterable[str], heard: PromptFacts) -> str:
        """These memories in a sentence, told to whom they are answered; what only says one again is left out."""
        told: dict[str, frozenset[str]] = {}
        for line in dict.fromkeys(lines):
            words = content_words(_REMINDER.sub("", _SPEAKER.sub("", _text(line))))
            if not any(known and known <= words for known in told.values()):
                told[line] = words
        spoken = [self._spoken(line, heard) for line in told]
        return self._say("found", heard, lines=self._say("between", heard).join(spoken[:FOUND]))

    def _spoken(self, line: str, heard: PromptFacts, *, todo: bool = False) -> str:
        """A memory without brackets; what somebody told of themselves is told to them as theirs (我对花生过敏：你对…).

        Behind "do not forget" (`todo`) a reminder is its task alone."""
        day, said = _DAY.search(line), _text(line)
        if heard.is_theirs(said):
            said = _SPEAKER.sub("", said)
            reminder, own = _REMINDER.match(fold(said)), _FIRST_PERSON.search(fold(said))
            if reminder:
                task = said[reminder.end() :]
                said = task if todo else self._say("reminder", heard, what=task)
            else:
                said = in_second_person(said) if own else self._say("of_you", heard, what=said)
        said = _cut(said, QUOTE_CHARS).rstrip("。.")
        when = self._when(day[1], heard) if day else ""
        return self._say("dated", heard, what=said, day=when) if when else said

    def _when(self, day: str, heard: PromptFacts) -> str:
        """A day as the opening's language tells it, in the script of the answer; "" where it is another language."""
        signs = self._say("day_signs", heard)
        written = day.translate(str.maketrans(signs[::2], signs[1::2]))
        return written if script_of(written, heard.script) == heard.script else ""

    def _reply(self, heard: PromptFacts) -> str:
        mood = "talk" if heard.forwarded else mood_of(heard.said)
        answer = self._say(mood, heard)
        if heard.answers or mood != "greeting":
            return answer
        todo = [self._spoken(line, heard, todo=True) for line in heard.tasks[:1]]
        known = [self._spoken(line, heard) for line in (*heard.happened, *heard.known)][: TOLD - len(todo)]
        between = self._say("between", heard)
        warm = [
            self._say(key, heard, lines=between.join(lines))
            for key, lines in (("todo", todo), ("known", known))
            if lines
        ]
        if heard.talked and not warm:
            warm = [self._say("talked", heard, line=_cut(self._talked(heard), WARM_CHARS))]
        return self._say("pause", heard).join((answer, *warm))

    def _talked(self, heard: PromptFacts) -> str:
        """The newest talk without its day, and without their own name."""
        line = _SPEAKER.sub("", heard.talked[0])
        return _SPEAKER.sub("", line) if heard.is_theirs(line) else line

    def _say(self, key: str, heard: PromptFacts, **values: object) -> str:
        """The text `key`; of several, the one that this line always gets."""
        several = self._texts.words(key, heard.script)
        if several:
            return several[zlib.crc32(heard.said.encode("utf-8", "replace")) % len(several)]
        return self._texts.text(key, heard.script, **values)


def _text(result: str) -> str:
    """What a finding says, without its day."""
    return _DAY.sub("", result)


def _cut(text: str, most: int) -> str:
    """The text, or its beginning up to a whole word and "…"."""
    kept = clip(text, most)
    return kept if kept == text else _PART_WORD.sub("", kept.removesuffix(ELLIPSIS)) + ELLIPSIS
