"""Templates are the operator's: read and tried at the start; a bad one is one clear line, never a broken turn."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.main import app
from bot.config.settings import Settings
from bot.core.errors import ConfigError
from bot.prompt.templates import read_templates
from tests.reloading import Filed
from tests.waking import FIND, NOW, facts, memory, opened
from tests.world import World

BAD = (
    ("{% for one in who %}\n- {{ one.text }}\n", "line 2", "end of template"),
    ("# x\n{{ nmae }}", "line 2", "nmae"),
    ("{% for one in tasks %}\n{{ one.txet }}\n{% endfor %}", "line 2", "txet"),
    ("{{ 1 / 0 }}", "line 1", "ZeroDivision"),
    ("{{ ''.__class__.__mro__ }}", "line 1", "unsafe"),
    ("\n\n{% include 'x' %}", "line 3", "loader"),
    ("{% if talks %}\n{{ talks[7].text }}\n{% endif %}", "line 2", "7"),
    ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "", "Recursion"),
    ("{% for n in range(90000) %}x{% endfor %}", "", "characters"),
    ("{{ name|wrong }}", "line 1", "wrong"),
)


def persona(folder: Path, language: str, text: str | bytes) -> Path:
    """A persona with a template of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"warmboot.{language}.md.j2"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


@pytest.mark.parametrize(("text", "line", "word"), BAD)
def test_a_bad_template_is_one_clear_line(tmp_path: Path, text: str, line: str, word: str) -> None:
    with pytest.raises(ConfigError) as found:
        read_templates(FIND, persona(tmp_path, "en", text))
    (problem,) = found.value.problems
    assert problem.startswith("persona: warmboot.en.md.j2")
    assert line in problem
    assert word in problem
    assert "\n" not in problem


def test_all_bad_templates_are_told_at_once(tmp_path: Path) -> None:
    persona(tmp_path, "en", "{{ x }}")
    with pytest.raises(ConfigError) as found:
        read_templates(FIND, persona(tmp_path, "zh-Hans", b"\xff"))
    assert [problem.split()[1] for problem in found.value.problems] == ["warmboot.zh-Hans.md.j2", "warmboot.en.md.j2"]


def test_the_persona_s_template_goes_before_that_of_the_prompts(tmp_path: Path) -> None:
    def find(name: str) -> Path:
        path = tmp_path / "own" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("prompts {{ name }}", "utf-8")
        return path

    found = read_templates(find, persona(tmp_path / "persona", "en", "{{ name }}: {{ knowledge|length }} things"))
    assert found["zh-Hans"].begin("小暖", "")({}, False) == "prompts 小暖"
    known = facts(memory(1, "喜欢猫"), memory(2, "喜欢狗"))
    assert opened(known, "en", template=found["en"]).text.splitlines()[-1] == "小暖: 2 things"


def test_a_template_that_puts_all_on_one_line_keeps_to_the_limit_too(tmp_path: Path) -> None:
    own = read_templates(
        FIND,
        persona(tmp_path, "en", "{{ name }}: {% for one in knowledge %}{{ one.text }} <{{ one.tag }}>; {% endfor %}"),
    )
    known = facts(*(memory(n, f'fact {n} of <many> "quoted" & more', when=NOW - n) for n in range(1, 10)))
    text = opened(known, "en", 70, own["en"]).text.splitlines()[-1]
    assert 1 <= text.count("fact") < 9
    assert 'fact 1 of &lt;many&gt; "quoted" & more' in text, "escaped once, and quotes are left"


async def test_a_template_that_fails_on_real_facts_costs_no_turn(tmp_path: Path) -> None:
    own = tmp_path / "own" / "warmboot"
    own.mkdir(parents=True)
    (own / "zh-Hans.md.j2").write_text(
        "{{ name }}{% for one in knowledge %}{{ 1 // (one.id - 1) }}{% endfor %}", "utf-8"
    )
    settings = Settings.model_validate({"bot": {"timezone": "Asia/Shanghai"}, "prompts_dir": str(tmp_path / "own")})
    world = await World(tmp_path / "data", settings).open()
    await world.say("记住我喜欢猫")
    await world.say("你好呀")
    assert "- #1 小王：我喜欢猫（今天说的）" in world.turns[-1][1].content
    (line,) = world.log.named("template_failed")
    assert line == {"chat": 1, "template": "prompts: warmboot/zh-Hans.md.j2", "line": 1}
    await world.close()


async def test_a_changed_template_is_taken_and_a_bad_one_is_refused(filed: Filed) -> None:
    persona(filed.persona, "zh-Hans", "# 一本日记\n{% for one in who %}{{ one.text }}{% endfor %}")
    await filed.say(".ai reload")
    await filed.say("你好呀")
    assert "# 一本日记\n" in filed.last_user
    persona(filed.persona, "zh-Hans", "{{ nmae }}")
    await filed.say(".ai reload")
    assert "warmboot.zh-Hans.md.j2 line 1" in filed.replies[-1]
    await filed.say("/new")
    await filed.say("早上好，今天过得怎么样")
    assert "# 一本日记\n" in filed.last_user


def test_at_the_start_a_bad_template_is_a_wrong_configuration(tmp_path: Path) -> None:
    own = tmp_path / "own"
    persona(own / "warmboot", "x", "")
    (own / "warmboot" / "en.md.j2").write_text("# x\n{% if %}", "utf-8")
    (tmp_path / "nuan.toml").write_text(f'prompts_dir = "{own}"\n', "utf-8")
    ran = CliRunner().invoke(app, ["boot", "--config", str(tmp_path / "nuan.toml"), "--data", str(tmp_path)])
    assert (ran.exit_code, ran.stdout) == (2, "")
    (line,) = ran.stderr.splitlines()
    assert line.startswith("nuan: ")
    assert "prompts: warmboot/en.md.j2 line 2" in line
