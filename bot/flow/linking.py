"""What may be said of a completion: no sign that hides text, no link under other words, no address that nobody named.

Named is what stands in the prompt that was answered: what people of this chat wrote, what is kept and may be seen by
this audience, persona and skills. A tool's result names nothing that the model itself has written into a call.
"""

from collections.abc import Iterable, Sequence

from bot.text.clean import shown
from bot.text.links import Checked, addresses, checked, finished, unmasked
from bot.types.prompt import Message


def fit(text: str) -> str:
    """Any text as it goes out: without signs that turn or hide it, and with each link's address in sight."""
    return unmasked(shown(text))


class Naming:
    """Checks texts against one prompt, which is read when the first address turns up."""

    def __init__(self, prompt: Sequence[Message], domains: tuple[str, ...]) -> None:
        self._prompt = prompt
        self._domains = domains
        self._named: frozenset[str] | None = None

    def checked(self, text: str) -> Checked:
        """The text as it may be said, and how many addresses it lost."""
        return checked(fit(text), self._is_named, self._domains)

    def so_far(self, text: str) -> str:
        """A half-written text as it may be shown: an address at its end waits until it is whole."""
        return self.checked(finished(fit(text))).text

    def _is_named(self, address: str) -> bool:
        if self._named is None:
            self._named = named(self._prompt)
        return address in self._named


def named(prompt: Sequence[Message]) -> frozenset[str]:
    """Every address that a prompt names and the model did not bring in itself."""
    told = _all(message.content for message in prompt if message.role in ("system", "user"))
    found = _all(message.content for message in prompt if message.role == "tool")
    own = _all(call.arguments for message in prompt for call in message.tool_calls)
    return told | (found - own)


def _all(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(address for text in texts for address in addresses(text))
