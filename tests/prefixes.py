"""What ARCHITECTURE §5 says about requests, as checks. They know nothing of how a prompt is composed."""

from collections.abc import Iterable

from bot.core.models import Message

Prompt = tuple[Message, ...]


def one_system_then_strict_alternation(prompt: Prompt) -> None:
    """One system message first; user and assistant by turns, and after an assistant's tool calls their answers."""
    assert [message.role for message in prompt].count("system") == 1
    assert prompt[0].role == "system"
    expected = "user"
    calls: list[str] = []
    for message in prompt[1:]:
        if calls:
            assert (message.role, message.tool_call_id) == ("tool", calls.pop(0))
        else:
            assert message.role == expected
            calls = [call.id for call in message.tool_calls]
        if not calls:
            expected = "user" if message.role == "assistant" else "assistant"
    assert not calls
    assert prompt[-1].role in ("user", "tool")


def logs_of(prompts: Iterable[Prompt], *, failures: bool = False) -> list[list[Prompt]]:
    """The requests, of any number of chats, sorted into logs: each begins anew or extends the last one of its log.

    A request may come again byte for byte (after a crash). What extends a log begins with the model's reply to it.
    With `failures` some turns were void, so a request may also extend one further back.
    """
    logs: list[list[Prompt]] = []
    for prompt in prompts:
        one_system_then_strict_alternation(prompt)
        if any(prompt in log for log in logs):
            continue
        extended = [log for log in logs if any(_extends(prompt, old) for old in (log if failures else log[-1:]))]
        if extended:
            extended[-1].append(prompt)
        else:
            assert len(prompt) == 2, "a log begins with the system message and one user message"
            logs.append([prompt])
    return logs


def _extends(prompt: Prompt, old: Prompt) -> bool:
    return len(prompt) > len(old) and prompt[: len(old)] == old and prompt[len(old)].role == "assistant"
