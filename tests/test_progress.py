"""What people see of a run."""

from sfm.progress import Progress
from tests.conftest import tiny


def test_lines_for_files_have_evaluations_and_no_bar(capsys, tmp_path):
    progress, config = Progress(), tiny(seeds=2)
    progress.note("before [it] begins")  # brackets are no markup
    progress.begin(tmp_path / "run", config)
    progress.round([{"step": 40, "seed": 0, "seconds": 1.0}], config)
    judged = {"eval/kept": 12.34, "eval/current": 5.0, "gap": 0.5}
    alike = {"likeness/kept": 0.876, "likeness/current": 0.2}
    progress.round([{"step": 1080, "seed": 1, "seconds": 2.4} | judged], config)
    progress.round([{"step": 1080, "seed": 0, "seconds": 2.4} | judged | alike], config)
    assert progress.evaluation == " return 12 likeness 0.88"
    progress.end()
    first, second, third, fourth = capsys.readouterr().out.splitlines()
    assert first == "before [it] begins"
    assert second == f"run    {tmp_path / 'run'}"
    assert " ".join(third.split()) == "step 1,080 seed 1 kept 12.3 current 5.0 gap 0.5 2 s"
    assert " ".join(fourth.split()) == "step 1,080 seed 0 kept 12.3 current 5.0 likeness 0.88 gap 0.5 2 s"


def test_the_bar_counts_the_steps_of_all_seeds(tmp_path):
    progress, config = Progress(), tiny(seeds=2, steps=100)
    progress.begin(tmp_path, config)
    for seed, step, updates in ((0, 40, 10), (1, 40, 10), (0, 80, 30)):
        progress.round([{"step": step, "seed": seed, "seconds": 1.0, "updates": updates}], config)
    (task,) = progress.bar.tasks
    assert (task.total, task.completed, task.description) == (200, 120, "probe_point")
    assert "steps/s" in task.fields["status"]
    progress.end()
