"""The built-in model: answers by rule from the request alone, without server or network."""

import json
import zlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, timedelta
from typing import Literal

from bot.core.models import Completion, ModelRequest, Prompt, ToolCall, Usage
from bot.core.people import SCRIPTS
from bot.language.reminders.wording import in_second_person
from bot.language.sections import SLOT_QUESTION_WORDS
from bot.language.statements import is_sad, statements_in
from bot.language.time.parts import DAYS_OFF
from bot.language.wishes.reader import list_asked
from bot.model.offline_prompt import RECEIPT, PromptFacts, read_prompt
from bot.text.catalogue import Catalogue, LazyPattern, patterns_in, read_table
from bot.text.fold import fold, script_of
from bot.text.length import ELLIPSIS, clip, message_tokens, tools_tokens
from bot.text.similarity import content_words, repeating
from bot.text.terms import STOP_WORDS, index_terms, search_terms

Mood = Literal["greeting", "thanks", "bye", "self", "past", "question", "talk"]

_DATA = read_table("bot.model", "offline")
_SAYS = patterns_in(_DATA["pattern"])
_EMPTY = frozenset(_DATA["empty"])
_SPEAKER = LazyPattern(r"\A[^:：,，]{1,30}[:：]\s*")
_TASK = LazyPattern("：|: ")
_DAY = LazyPattern(r" ?[(（]((?:[^()（）]|\([^()（）]*\))*)[)）]\Z")
_PART_WORD = LazyPattern(r"(?a)\s+\S*\w\Z")
_SHORT = 20
"""Characters up to which a greeting, thanks or goodbye is the whole message and not only its beginning."""

RECALL = "memory_recall"
TOLD = 3
"""Memories of the warm boot in a greeting."""
FOUND = 3
"""Lines of a tool's result in an answer."""
DUE = 6
"""Of what is to come in an answer."""
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
LINES = 6
"""So many lines that came together are answered one by one."""
QUERY_CHARS = 200
"""Characters of a question that are searched for."""

OFFLINE = "offline"
"""The dialect of the model that is none."""


def mood_of(said: str) -> Mood:
    """What kind of line it is: about the past or the speaker, about nuan itself, a courtesy, another question, talk."""
    text = fold(said).strip()
    if any(map(_is_past, text.splitlines())):
        return "past"
    if _SAYS["self"].search(text):
        return "self"
    short = len(text) <= _SHORT
    if short and _SAYS["bye"].search(text):
        return "bye"
    if short and _SAYS["thanks"].search(text):
        return "thanks"
    if short and _SAYS["greeting"].search(text):
        return "greeting"
    return "question" if _SAYS["asking"].search(text) or _SAYS["for_a_model"].search(text) else "talk"


def _is_past(line: str) -> bool:
    if _SAYS["remember"].search(line):
        return True
    other = _SAYS["advice"].search(line) or _SAYS["about_bot"].search(line) or not _SAYS["asking"].search(line)
    return not other and _SAYS["past"].search(line) is not None


def is_looked_up(said: str) -> bool:
    """Whether it asks for something that may have been told (钥匙在哪), and not for advice or about nuan."""
    mood, text = mood_of(said), fold(said).strip()
    if _SAYS["for_a_model"].search(text):
        return False
    if _SAYS["can_have"].search(text):
        return mood in ("past", "question")
    return mood == "past" or (
        mood == "question" and not (_SAYS["advice"].search(text) or _SAYS["about_bot"].search(text))
    )


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


def _most_shared(question: str, lines: Iterable[str]) -> int:
    """How many of a question's words one of these lines has at most."""
    wanted = _terms(question)
    return max((len(wanted & _terms(line)) for line in lines), default=0)


def _tells(line: str, asked: frozenset[str]) -> bool:
    facts = statements_in(_SPEAKER.sub("", _text(line)))
    slots = (SLOT_QUESTION_WORDS.get(fact.slot, "") for fact in facts)
    return any(not asked.isdisjoint(words.split()) for words in slots)


def _terms(text: str) -> set[str]:
    liked = _SAYS["likes"].sub("喜欢", text)
    return {term for term in index_terms(liked) if len(term) > 1 and term not in STOP_WORDS and _EMPTY.isdisjoint(term)}


class OfflineModel:
    """Answers by rule, and only from the request: its messages and its tools; `texts` are those of prompts/offline,
    `names` what it is called, `program` how nuan is started."""

    name = "offline"
    dialect = OFFLINE
    digests = False

    def __init__(self, texts: Catalogue, names: tuple[str, ...] = (), program: str = "nuan") -> None:
        self._texts, self._names, self._program = texts, names, program

    async def complete(self, request: ModelRequest) -> Completion:
        """Answer at once; never raises ModelError. What it would be in tokens is estimated."""
        prompt = request.prompt
        answer = self._answer(prompt, await request.off_record() if request.off_record is not None else ())
        tokens = sum(map(message_tokens, prompt.messages)) + tools_tokens(prompt.tools)
        return replace(answer, usage=Usage(tokens, 0, message_tokens(answer.message()), returned=False))

    def _answer(self, prompt: Prompt, off_record: tuple[str, ...]) -> Completion:
        heard = read_prompt(prompt, tuple(self._texts.text("unnamed", each) for each in SCRIPTS), self._names)
        unkept = repeating(off_record, enumerate(heard.earlier))
        heard = replace(heard, earlier=tuple(line for at, line in enumerate(heard.earlier) if at not in unkept))
        lines = [replace(heard, said=line) for line in heard.lines] if 1 < len(heard.lines) <= LINES else [heard]
        known = {each.said: self._known_answer(each) for each in lines}
        asking = [] if heard.forwarded else [one for one in lines if not known[one.said] and is_looked_up(one.said)]
        asking = asking if len(asking) != 1 else [heard]
        if asking and heard.results is None and any(tool.name == RECALL for tool in prompt.tools):
            queries = [json.dumps({"query": clip(one.said.strip(), QUERY_CHARS)}, ensure_ascii=False) for one in asking]
            calls = (ToolCall(f"offline_{heard.calls + at}", RECALL, query) for at, query in enumerate(queries))
            return Completion("", tuple(calls))
        if len(asking) > 1:
            answered = [replace(one, results=found) for one, found in zip(asking, heard.found, strict=False)]
            known |= {one.said: self._recalled(one) for one in answered}
        elif asking or (heard.results is not None and not any(known.values())):
            known[heard.said] = self._recalled(heard)
        if len(asking) > 1 or (not asking and any(known.values())):
            known |= {
                one.said: self._reply(one) for one in lines if not known[one.said] and mood_of(one.said) == "question"
            }
        answer = "\n".join(dict.fromkeys(filter(None, known.values()))) or self._reply(heard)
        return Completion(self._introduced(answer, prompt, heard))

    def _known_answer(self, heard: PromptFacts) -> str:
        """What is answered without a search: how they are called, where their reminders are listed, what day it is,
        what is due then."""
        asked = "" if heard.forwarded else fold(heard.said).strip()
        if heard.called and _SAYS["name_asked"].search(asked):
            return self._say("name", heard, name=heard.called)
        if _SAYS["today_asked"].search(asked) and heard.now[0]:
            day, time, weekday = heard.now
            return self._say("today", heard, day=f"{day} {weekday}", time=time)
        if (command := list_asked(asked)) != "":
            return self._say("reminders" if command == ".ai remind list" else "memories", heard)
        due = self._due(asked, heard) if _SAYS["plans_asked"].search(asked) else ()
        return self._found(due, heard, DUE) if due else ""

    def _due(self, asked: str, heard: PromptFacts) -> tuple[str, ...]:
        """What is to come on the day that is asked about, or at all where none is; nothing of another person's."""
        wanted = _SAYS["day_asked"].search(asked)
        if wanted is None or not heard.now[0]:
            return tuple(dict.fromkeys(heard.tasks))
        word = wanted[1] or wanted[2]
        day = date.fromisoformat(heard.now[0]) + timedelta(days=DAYS_OFF[word])
        names = (f"{day.month}月{day.day}日", f"{day:%b} {day.day}")
        return tuple(line for line in dict.fromkeys(heard.tasks) if any(name in line for name in names))

    def _introduced(self, answer: str, prompt: Prompt, heard: PromptFacts) -> str:
        """The answer; in a first talk with what answers before it, and later once how to connect a model behind it."""
        since = any(RECEIPT.search(message.content) for message in prompt.messages if message.role == "user")
        before = heard.talked or (heard.known and not since)  # what was kept in this talk is no sign of another
        if heard.answers not in (0, HINT_AFTER) or before or self._known_in(prompt, heard.answers):
            return answer
        intro, hint = self._say("intro", heard), self._say("connect", heard, program=self._program)
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
        said = (self._texts.text(key, script, program=self._program) for key in keys for script in SCRIPTS)
        return any(own[:INTRO_CHARS] in text for own in said)

    def _worth_telling(self, result: str, heard: PromptFacts) -> bool:
        """Whether a finding is neither an answer of its own nor the bare name of the one who asks; to a question for
        their name it must tell one."""
        if _SAYS["name_asked"].search(fold(heard.said)) and not _SAYS["name_told"].search(fold(result)):
            return False
        return not self._says(result, *OWN_LINES) and _SPEAKER.sub("", _text(result)) != heard.called

    def _recalled(self, heard: PromptFacts) -> str:
        """What the tool found, or what was said in this very log where that has more of the question's words, else that
        nothing is known.

        A question that names nobody is answered by lines that name what it asks about, else as any question."""
        opened = (*heard.tasks, *heard.cancelled, *heard.happened, *heard.known)
        results = tuple(one for one in heard.results or () if self._worth_telling(one, heard))
        if mood_of(heard.said) == "question":
            named = [line for line in (*opened, *results) if names_what_is_asked(heard.said, line)]
            if named:
                return self._told(named, heard)
            line = next((one for one in reversed(heard.earlier) if names_what_is_asked(heard.said, one)), "")
            return self._say("said" if line else "question", heard, line=_cut(line, QUOTE_CHARS))
        # What the opening tells is not brought again, so it is looked through first.
        nearest = nearest_line(heard.said, tuple(sorted(opened, key=heard.is_theirs)))
        line = nearest_line(heard.said, (*heard.talked, *heard.earlier))
        told = (nearest, *results) if nearest else results
        if told and _most_shared(heard.said, told) >= _most_shared(heard.said, (line,)):
            return self._told(told, heard)
        return self._say("said", heard, line=_cut(line, QUOTE_CHARS)) if line else self._say("nothing", heard)

    def _told(self, lines: Iterable[str], heard: PromptFacts) -> str:
        """These memories in a sentence, told to whom they are answered; what only says one again is left out."""
        told: dict[str, frozenset[str]] = {}
        for line in dict.fromkeys(lines):
            words = content_words(_SAYS["reminder"].sub("", _SPEAKER.sub("", _text(line))))
            if not any(known and known <= words for known in told.values()):
                told[line] = words
        return self._found(told, heard, FOUND)

    def _found(self, lines: Iterable[str], heard: PromptFacts, most: int) -> str:
        spoken = [self._spoken(line, heard) for line in lines]
        return self._say("found", heard, lines=self._say("between", heard).join(spoken[:most]))

    def _spoken(self, line: str, heard: PromptFacts, *, todo: bool = False) -> str:
        """A memory without brackets; what somebody told of themselves is told to them as theirs (我对花生过敏：你对…).

        Behind "do not forget" (`todo`) a reminder is its task alone."""
        day, said = _DAY.search(line), _text(line)
        if heard.is_theirs(said):
            said = _SPEAKER.sub("", said)
            reminder, own = _SAYS["reminder"].match(fold(said)), _SAYS["first_person"].search(fold(said))
            if said in _DATA["bare"]:
                said = self._say("call", heard)
            elif reminder:
                task = said[reminder.end() :]
                said = task if todo else self._say("reminder", heard, what=task)
            else:
                said = in_second_person(said) if own else self._say("of_you", heard, what=said)
        elif todo:  # 明天8点提醒你：开会
            said = said[end.end() :] if (end := _TASK.search(said)) else said
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
        answer = self._say("sad" if mood == "talk" and is_sad(heard.said) else mood, heard)
        if mood != "greeting":
            return answer
        todo = [self._spoken(line, heard, todo=True) for line in heard.tasks[:1]]
        if heard.answers:  # of the talk that goes on it tells what is to come alone, and that once
            todo = [line for line in todo if line not in heard.answered]
            return self._say("pause", heard).join((answer, *(self._say("todo", heard, lines=line) for line in todo)))
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
