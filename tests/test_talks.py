"""The written talks of the transcripts go through the whole house, with the built-in model."""

from pathlib import Path

from tests.bench.transcripts import main


def test_the_talks_are_lived_through_and_written_down(tmp_path: Path) -> None:
    assert main([str(tmp_path / "out")]) == 0
    dm, group, morning = ((tmp_path / "out" / f"{name}.md").read_text() for name in ("dm", "group", "morning"))
    assert "记住啦" in dm
    assert group.count("小宁") == 1
    assert "北高峰" not in morning
