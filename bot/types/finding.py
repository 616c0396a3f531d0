"""What a check of an installation found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: `about` is its dotted path or name, `text` what was seen or what to do."""

    good: bool
    about: str
    text: str
