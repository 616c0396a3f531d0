"""The table of small faults: it fits the code, is large enough, and a sample of it is found (`make mutants`: all)."""

from collections import Counter

import pytest

from tests.mutants import ALWAYS, all_mutants, copied_tree, main, stale, tried
from tests.sizes import sized

LEAST, LEAST_ALWAYS = 150, 110
SAMPLE = (
    "a chat's memory is seen in every chat",
    "a link needs one word only",
    "what a call will cost is not counted",
    "what a crash left in sending is sent twice",
    "the background calls although an owner switched it off",
)
"""Of each kind that must always be found one whose tests are quick. Each starts an interpreter: a few do in `make test`."""


def test_the_table_fits_the_code_and_names_each_fault_once() -> None:
    mutants = all_mutants()
    assert [*stale(mutants)] == []
    assert [name for name, times in Counter(each.name for each in mutants).items() if times > 1] == []
    assert len(mutants) >= LEAST
    assert sum(each.kind in ALWAYS for each in mutants) >= LEAST_ALWAYS


def test_a_sample_of_the_faults_is_found_and_leaves_the_code_as_it_was() -> None:
    names = SAMPLE[: sized(3 * 2)]
    chosen = [each for each in all_mutants() if each.name in names]
    assert len(chosen) == len(names)
    with copied_tree() as tree:
        whole = {each.file: (tree / each.file).read_bytes() for each in chosen}
        states = {each.name: tried(each, tree)[0] for each in chosen}
        assert states == dict.fromkeys((each.name for each in chosen), "killed")
        assert whole == {name: (tree / name).read_bytes() for name in whole}


@pytest.mark.parametrize(("wanted", "told"), [("--help", "money"), ("moneys", "no kind: moneys")])
def test_help_and_a_name_that_is_nobodys_try_no_fault(
    wanted: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([wanted])
    assert told in "".join(capsys.readouterr())
