"""Tables of words and other data, as TOML files beside the modules that read them."""

import tomllib
from importlib.resources import files
from typing import Any


def read_table(package: str, name: str) -> dict[str, Any]:
    """The content of the file NAME.toml of a package, as bot.language."""
    return tomllib.loads(files(package).joinpath(f"{name}.toml").read_text("utf-8"))
