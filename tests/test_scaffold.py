"""What people see of an answer: of leaked scaffolding nothing, of everything that is meant every character."""

import re

from hypothesis import given
from hypothesis import strategies as st

from bot.model.completion import without_artifacts, without_open_artifacts, without_thoughts
from tests.scaffolds import LEAKED, WANTED
from tests.tables import all_cases
from tests.world import World

ANSWER = "你怕蛇"
PARTS = (*LEAKED.values(), *WANTED, "`", "```", "\n", "<", ">", "[", "]", "/", "【此处】", "</s>", "好")


@all_cases("name", LEAKED)
def test_of_leaked_scaffolding_nothing_is_seen_and_never_while_it_is_written(name: str) -> None:
    text = LEAKED[name]
    assert without_artifacts(without_thoughts(text)) == ANSWER
    shown = {without_open_artifacts(without_thoughts(text[:end])) for end in range(len(text) + 1)}
    assert shown <= {ANSWER[:end] for end in range(len(ANSWER) + 1)} | {f"{ANSWER}\n", f"{ANSWER} "}, name


@all_cases("text", WANTED)
def test_what_only_looks_like_it_comes_through_as_it_is_written(text: str) -> None:
    assert without_artifacts(text) == text
    assert without_artifacts(f"好的。\n\n{text}") == f"好的。\n\n{text}"


@given(st.text(alphabet="ab <>=x3/&;\"'*_#-！你好\n♥", max_size=60))
def test_loose_signs_and_short_tags_are_no_scaffolding(text: str) -> None:
    words = re.sub(r"</?[bs]>", "", text)  # one <b> or <s> around or after a reply is nuan's own
    assert without_artifacts(words) == words


@given(st.text(alphabet='ab<|>/[]INST_im startend▁｜="p n x你\n', max_size=80).filter(lambda text: "`" not in text))
def test_code_is_shown_as_it_is(text: str) -> None:
    fenced = f"这样写：\n```text\n例：{text}\n```\n就好"
    own = re.search(r"<(?:/?ctx|p n=|e t=|t f=|g [nd]=|b (?:f|cut|t)=|!-- p=|people)", text)
    assert own or without_artifacts(fenced) == fenced
    line = text.replace("\n", "")
    inline = f"它是 `例{line}` 这样"
    assert without_artifacts(inline) == inline


@given(st.lists(st.sampled_from(PARTS), max_size=6).map("".join))
def test_nothing_raises_and_what_is_left_stays(text: str) -> None:
    shown = without_artifacts(text)
    assert len(shown) <= len(text)
    without_open_artifacts(text)


async def test_a_leaked_template_is_neither_said_nor_shown(world: World) -> None:
    for name in ("chatml goes on", "gemini", "opening"):
        world.model.script = lambda request, name=name: LEAKED[name]  # type: ignore[misc]
        await world.say(f"我怕什么？（{name}）")
    world.model.script = lambda request: WANTED[3]
    await world.say("ChatML 长什么样")
    assert world.replies[-1] == WANTED[3]
