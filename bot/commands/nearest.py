"""What somebody probably meant by a word that no command knows, read off the one table. Pure; it answers nobody."""

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches

from bot.commands.table import Asked, Command, named
from bot.text.fold import fold

ALIKE = 0.65
"""How alike two words are that may be meant for each other, by difflib; at .6 dance would be trace."""

FEWEST = 2
"""Letters from which the beginning of a word stands for it."""

ECHOED = 32
"""Letters of a word that are said back."""

Form = tuple[tuple[str, ...], ...]
"""One alternative of a command's arguments: for each place the words that may stand there, none for anything."""


def near_command(name: str, commands: Iterable[Command]) -> str:
    """The name among these commands that is most like this one, "" when none is."""
    known = {each: command.name for command in commands for each in (command.name, *command.aliases)}
    return known.get(near(name, known), "")


def near(word: str, known: Iterable[str]) -> str:
    """The known word that is most like this one, or the only one it begins; "" when none is."""
    known = tuple(known)
    begun = [each for each in known if len(word) >= FEWEST and each.startswith(word)]
    if len(begun) == 1:
        return begun[0]
    return next(iter(get_close_matches(word, known, n=1, cutoff=ALIKE)), "")


def meant(command: Command, words: tuple[str, ...], *, loosely: bool = False) -> str:
    """The whole command with the first word that does not fit put right, ".ai mode called"; "" when all fit.

    Also "" when nothing is like that word, or when the person may say there what they like and said enough of it;
    `loosely` is for a command that could make nothing of it.
    """
    left: Sequence[Form] = _forms(command.arguments)
    for place, word in enumerate(map(fold, words)):
        here = [form for form in left if len(form) > place]
        fitting = [form for form in here if word in form[place]]
        free = [form for form in here if not form[place] and len(form) <= len(words)]
        if not fitting and (not free or loosely):
            right = near(word, sorted({each for form in here for each in form[place]}))
            return " ".join((".ai", command.name, *(each[:ECHOED] for each in words[:place]), right)) if right else ""
        left = [*fitting, *free]
    return ""


def hint(asked: Asked, name: str, text: Callable[..., str]) -> str:
    """A further line for somebody whose words came to nothing in that command: what they may have meant, or ""."""
    command = named(name)
    wanted = meant(command, asked.words, loosely=True) if command is not None else ""
    return f"\n{text(asked, 'meant', near=wanted)}" if wanted else ""


def _forms(arguments: str) -> tuple[Form, ...]:
    """The alternatives of a command's arguments; a place in capitals or with a # takes anything."""
    plain = arguments.replace("[", "").replace("]", "")
    return tuple(
        tuple(tuple(token.split("|")) if token.islower() and token[0].isalpha() else () for token in form.split())
        for form in plain.split(" | ") if form
    )  # fmt: skip
