"""The colours of the web page, as its style sheet says them: each text on its ground reaches WCAG AA, by day and night.

The browser test computes the same of what a browser really shows; this one needs none."""

import re

import pytest

from bot.web.requests import FOLDER, STATIC

CSS = (STATIC / "nuan.css").read_text("utf-8")
TEXTS = [
    ("text", "back"),
    ("text", "card"),
    ("muted", "back"),
    ("muted", "card"),
    ("link", "back"),
    ("danger", "card"),
    ("on-button", "button"),
    ("on-danger", "danger"),
    *((f"plot-{number}", "back") for number in range(1, 7)),
]
"""What is read, and on what: 4.5 : 1."""
SIGNS = [("line", "back"), ("focus", "back"), ("focus", "card")]
"""Borders of fields and where the focus is: 3 : 1."""


def colours(theme: str) -> dict[str, str]:
    light, dark = CSS.split("@media (prefers-color-scheme: dark)")
    found = dict(re.findall(r"--nuan-([\w-]+): (#[0-9a-f]{6});", light))
    return found if theme == "light" else {**found, **dict(re.findall(r"--nuan-([\w-]+): (#[0-9a-f]{6});", dark))}


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_computed_as_the_standard_says() -> None:
    assert contrast("#000000", "#ffffff") == 21
    assert round(contrast("#767676", "#ffffff"), 2) == 4.54


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("pairs", "least"), [(TEXTS, 4.5), (SIGNS, 3.0)])
def test_every_pair_of_colours_can_be_told_apart(theme: str, pairs: list[tuple[str, str]], least: float) -> None:
    known = colours(theme)
    faint = [(top, under) for top, under in pairs if contrast(known[top], known[under]) < least]
    assert faint == []


def test_every_colour_is_one_of_those() -> None:
    rules = CSS.split("body {", 1)[1]
    assert re.findall(r"#[0-9a-f]{3,8}\b|rgba?\(|hsl", rules) == []


def test_no_file_of_the_page_names_another_server() -> None:
    paths = [*(FOLDER / "templates").glob("*.html"), STATIC / "nuan.css", STATIC / "nuan.js"]
    named = [path.name for path in paths if re.search(r"(?:https?:)?//[\w-]+\.|url\(", path.read_text("utf-8"))]
    assert named == []
    for path in STATIC.glob("*.css"):
        addresses = re.findall(r"url\(\"?(.{5})", path.read_text("utf-8"))
        assert set(addresses) <= {"data:"}, path.name


def test_each_library_lies_here_with_its_licence() -> None:
    libraries = {path.name.split(".")[0] for path in STATIC.glob("*.min.*")}
    assert libraries == {"htmx", "uplot", "pico"}
    assert libraries == {path.name.split(".")[0] for path in STATIC.glob("*.LICENSE.txt")}


def test_no_page_has_a_script_or_a_style_of_its_own() -> None:
    for path in (FOLDER / "templates").glob("*.html"):
        text = path.read_text("utf-8")
        assert re.findall(r"<script(?! src=)|<style| style=| on\w+=|javascript:|\|\s*safe", text) == [], path.name
