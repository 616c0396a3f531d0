"""The state of one person in one chat in the seed's form, index_state.json, and its MEMORY_TOPIC.md. Pure."""

from collections.abc import Callable, Mapping, Sequence

from bot.recall.sections import counted, misses, shares
from bot.types.sections import Proportion, Round

Name = Callable[[str], str]
"""What a section is called."""
Form = tuple[Name, Callable[[int], str]]
"""How a section and a moment, ms, are written."""


def index_state(
    rounds: Sequence[Round], sizes: Mapping[str, int], rules: Proportion, topic: tuple[str, str], form: Form
) -> dict[str, object]:  # fmt: skip
    """The seed's fields; `topic` is the topic's name and its sentence, both "" for none. Shares have three places."""
    name, when = form
    turns = counted(rounds)[-rules.window :]
    return {
        "window_size": rules.window,
        "dominant_threshold": rules.dominant,
        "turns": [
            {"turn_id": each.turn_id, "ts": when(each.at), "sections_hit": [name(key) for key in each.hits]}
            for each in turns
        ],
        "proportions": {name(key): round(share, 3) for key, share in shares(rounds, rules.window).items()},
        "current_topic": topic[0],
        "topic_summary": topic[1],
        "last_updated": when(turns[-1].at) if turns else "",
        "miss_count": {name(key): count for key, count in misses(rounds, sizes).items()},
    }


def topic_file(name: str, sentence: str) -> str:
    """MEMORY_TOPIC.md."""
    return f"# {name}\n\n{sentence}\n"
