"""The mutants are of the code as it is."""

import pytest

from benchmarks.mutant_list import MUTANTS
from benchmarks.mutants import ROOT, Mutant, changed, survives


@pytest.mark.parametrize("name", MUTANTS)
def test_each_changes_one_place_and_has_tests_near_it(name):
    mutant = Mutant(*MUTANTS[name])
    source = (ROOT / "src" / "sfm" / mutant.file).read_text()
    assert changed(source, mutant) != source
    assert all((ROOT / test).exists() for test in mutant.near.split())


def test_a_line_that_is_gone_is_told():
    with pytest.raises(SystemExit, match="0 places"):
        changed("a = 1", Mutant("x.py", "b = 1", "b = 2", ""))


def test_a_mutant_lives_until_a_test_fails(tmp_path):
    (tmp_path / "src/sfm").mkdir(parents=True)
    code, test = tmp_path / "src/sfm/x.py", tmp_path / "test_x.py"
    code.write_text("ONE = 1\n")
    mutant = Mutant("x.py", "ONE = 1", "ONE = 2", "")
    test.write_text("def test_it():\n    pass\n")
    assert survives(mutant, tmp_path, [str(test)])
    test.write_text("from sfm.x import ONE\n\n\ndef test_it():\n    assert ONE == 1\n")
    assert not survives(mutant, tmp_path, [str(test)])
    assert code.read_text() == "ONE = 1\n"
