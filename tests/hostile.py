"""Texts made to be slow to split or to mark up; whether they are is measured by `python -m tests.bench.hostile`."""

MARKUP = (
    "*",
    "[",
    "`",
    "_",
    "|",
    "~",
    "> ",
    "- ",
    "# ",
    "\\",
    "\n",
    "<",
    "![",
    "](",
    "[a](",
    "[[a](http://x)",
    "](http://a",
    "**a ",
    "*a **b ",
    "`a ",
    "``a`",
    "*_",
    "[*",
    "|\n",
    "|a|\n|-|\n",
    "```\n",
    "*a `c` b* ",
    "[](x)",
    " ",
    "\u0301",
    "*a\n> ",
)
"""Repeated to the wanted length."""

LONG = (
    "x",
    "\u0301",
    "\n",
    "a\n",
    "`",
    "```\n",
    "🇨🇳",
    "👨\u200d",
    "。",
    "a. ",
    "** ",
    "```py\n",
    "y = 1\n",
    "\ud83d",
    " ```\n",
    "क्",
)
"""The same for splitting."""


def hostile(unit: str, length: int) -> str:
    """That unit over and over, so many characters of it."""
    return (unit * (length // len(unit) + 1))[:length]


def crossed(length: int) -> str:
    """Marks closed in the wrong order and code between them."""
    third = length // 3
    return hostile("*a ", third) + hostile("`c` ", third) + hostile("b* ", third)
