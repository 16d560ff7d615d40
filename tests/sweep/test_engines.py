"""Whatever happens to a sweep, its jobs end with what undisturbed ones have, to the bit."""

import csv
import importlib.util
import os
import shutil
import signal
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sfm import history
from sfm.errors import SfmError
from sfm.history import past_of
from sfm.storage import write_json
from sfm.sweep.drive import Sweep, drive
from sfm.sweep.local import Local
from tests.cli.helpers import command
from tests.sweep.helpers import (
    SETTINGS,
    Watch,
    jobs,
    parent,
    process_of,
    saved,
    wait_for,
)
from tests.test_run import arrays_of, assert_same

NAMES = ["probe_point_general_tiny_point_seed0", "probe_point_general_tiny_point_seed1"]
STEPS = 800


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A sweep that nothing disturbs, with a job that fails."""
    folder = tmp_path_factory.mktemp("whole")
    three = jobs(folder, steps=STEPS, seeds="0-2")
    write_json(folder / three[2].name / "config.json", {})  # of something else
    watch, engine = Watch(), Local(2)
    drive(Sweep(folder, three), engine, watch)
    assert sorted(watch.done) == [job.name for job in three]
    return folder


def test_a_job_that_fails_is_told_and_does_not_stop_the_others(whole):
    with open(whole / "jobs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["job"], row["state"], row["steps"]) for row in rows[:2]] == [
        (name, "finished", str(STEPS)) for name in NAMES
    ]
    assert all(float(row["return"]) < 0 for row in rows[:2])
    (start,) = (row for row in past_of(whole / NAMES[0]) if "began" in row)
    assert start["command"] == history.command()  # that of the sweep
    assert rows[2]["state"] == "failed"
    assert "was begun with other settings: move it away" in rows[2]["error"]


def test_what_has_finished_is_skipped(whole):
    logs = [whole / name / "metrics.jsonl" for name in NAMES]
    before = [path.stat().st_mtime_ns for path in logs]
    watch = Watch()
    drive(Sweep(whole, jobs(whole, steps=STEPS, seeds="0-1")), Local(1), watch)
    assert watch.done == []
    assert [path.stat().st_mtime_ns for path in logs] == before


def test_killed_interrupted_and_begun_again(whole, tmp_path):
    """First the job is killed, then comes Ctrl-C, then the sweep is killed: the same command just goes on."""
    shutil.copy(whole / "point.npz", tmp_path)
    changes = " ".join(SETTINGS)
    words = ["--tasks", "probe_point", "--steps", str(STEPS), "--changes", changes, "--workers", "1"]
    args = command("sweep", *words, "--demos", str(tmp_path / "point.npz"), "--folder", tmp_path)
    (job,) = (job.name for job in jobs(tmp_path, steps=STEPS, changes=changes))

    child = subprocess.Popen(args, stdout=subprocess.PIPE, text=True)
    begun = wait_for(lambda: saved(tmp_path, job))
    os.kill(process_of(tmp_path, job) or 0, signal.SIGKILL)
    wait_for(lambda: saved(tmp_path, job) > begun)
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=200)
    assert child.returncode == 130
    assert f"{job} was killed by signal 9: it goes on" in said

    begun = saved(tmp_path, job)
    assert begun < STEPS
    child = subprocess.Popen(args, stdout=subprocess.DEVNULL)
    wait_for(lambda: saved(tmp_path, job) > begun)
    process = process_of(tmp_path, job)
    child.kill()
    child.wait()
    wait_for(lambda: not Path(f"/proc/{process}").exists())  # nothing outlives its sweep
    assert saved(tmp_path, job) < STEPS

    done = subprocess.run(args, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "1 stopped" in done.stdout.splitlines()[0]
    assert "1 finished" in done.stdout.splitlines()[-1]
    assert_same(arrays_of(tmp_path / job), arrays_of(whole / NAMES[0]))


def test_a_job_that_is_killed_again_and_again_fails(whole, tmp_path):
    (job,) = jobs(whole, steps=STEPS)
    killed = []

    def kill() -> None:
        found = process_of(tmp_path, job.name)
        if found and found not in killed:
            killed.append(found)
            os.kill(found, signal.SIGKILL)

    watch = Watch(kill)
    sweep = Sweep(tmp_path, [job])
    drive(sweep, Local(1), watch)
    assert sweep.state[job.name] == "failed"
    assert "killed by signal 9, 4 times: is there too little memory" in sweep.error[job.name]
    assert len(killed) == 4


def test_a_full_disk_is_one_line(whole, tmp_path):
    """A real limit of the operating system on the size of a file."""
    words = ["--tasks", "probe_point", "--seeds", "0-5", "--together", "1", "--workers", "1"]
    words += ["--changes", " ".join(SETTINGS), "--demos", whole / "point.npz", "--folder", tmp_path / "full"]
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 8; exec "$@"', "limited", *command("sweep", *words)],  # kilobytes
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: could not write")
    assert "start the sweep again to go on: nothing is lost" in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout.count("failed") == 1  # the others did not begin


def test_two_sweeps_in_one_folder(whole):
    from sfm.locks import held

    with held(whole / ".lock", "mine"), pytest.raises(SfmError, match="is being run by another sweep"):
        drive(Sweep(whole, []), Local(1), Watch())


needs_ray = pytest.mark.skipif(not importlib.util.find_spec("ray"), reason="ray is not installed")


@needs_ray
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Ray forks, JAX warns
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
def test_a_cluster_that_is_stopped_and_loses_a_worker_and_a_machine(whole, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_worker_niceness", "0")  # 15 otherwise: they would wait for all other tests
    from ray.cluster_utils import Cluster as Machines

    from sfm.sweep.cluster import Cluster, Resources

    small = {"object_store_memory": 80_000_000}
    head = {"num_cpus": 0, "include_dashboard": False, **small}
    machines = Machines(initialize_head=True, head_node_args=head)
    nodes = [machines.add_node(num_cpus=1, **small) for _ in range(2)]
    raylets = {node.all_processes["raylet"][0].process.pid: node for node in nodes}
    first, second = NAMES

    def interrupt() -> None:
        if saved(tmp_path, first):
            raise KeyboardInterrupt

    def disturb() -> None:
        """Kills the worker of one job and the machine of the other."""
        wait_for(lambda: saved(tmp_path, first) > begun)
        os.kill(parent(process_of(tmp_path, first) or 0), signal.SIGKILL)
        wait_for(lambda: saved(tmp_path, second))
        machine = raylets[parent(parent(process_of(tmp_path, second) or 0))]
        machines.remove_node(machine, allow_graceful=False)

    two, watch = jobs(whole, steps=STEPS, seeds="0-1"), Watch()
    hand = threading.Thread(target=disturb)
    try:
        with pytest.raises(SfmError, match=r"no machine of the cluster at .* has 64 CPU"):
            Cluster(str(machines.address), Resources(cpus=64))
        sweep = Sweep(tmp_path, two[:1])
        with pytest.raises(KeyboardInterrupt):
            drive(sweep, Cluster(str(machines.address), Resources()), Watch(interrupt))
        assert sweep.state[first] == "stopped"
        begun = saved(tmp_path, first)
        assert 0 < begun < STEPS
        hand.start()
        sweep = Sweep(tmp_path, two)
        drive(sweep, Cluster(str(machines.address), Resources()), watch)
        hand.join()
    finally:
        machines.shutdown()
    assert set(sweep.state.values()) == {"finished"}
    lost = [note.partition(" ")[0] for note in watch.notes if "was lost with its worker" in note]
    assert sorted(lost) == NAMES
    for name in NAMES:
        assert_same(arrays_of(tmp_path / name), arrays_of(whole / name))


@needs_ray
@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:1", "no Ray cluster at 127.0.0.1:1: .*refused; begin one with ray start --head"),
        ("ray://there:1", "is no address of a Ray cluster: write HOST:PORT, or auto"),
    ],
)
def test_no_cluster_there(address, message):
    from sfm.sweep.cluster import connected

    with pytest.raises(SfmError, match=message):
        connected(address)


@needs_ray
def test_what_answers_and_is_no_cluster_is_told():
    """Ray itself would try for ever."""
    from sfm.sweep.cluster import connected

    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(SfmError, match="something else answers there; begin one with ray start"):
            connected(f"127.0.0.1:{server.server_port}")
        server.shutdown()
