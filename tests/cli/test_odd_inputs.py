"""A thousand things that people type by mistake: one line, a status that is not 0, and nothing lost."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sfm.cli import main
from sfm.demos import save
from tests.demos.samples import demos, write_pickles

NAMES = {
    "nothing": "none.npz",
    "empty": "",
    "space": " ",
    "dot": "..",
    "nul-like": "a\\0b",
    "long": "x" * 300,
    "longer": "x/" * 3000,
    "deep": "../" * 60 + "none",
    "newline": "two\nlines",
    "option": "--",
    "unicode": "\udcff\u202e",
    "device": "/dev/null",
    "memory": "/proc/self/mem",
    "root": "/",
    "loop": "loop",
    "below-a-file": "good.npz/x.npz",
    "folder": "folder",
    "dangling": "dangling.npz",
    "minari": "minari:none/none-v0",
    "url": "https://example.org/x.npz",
    "glob": "*.npz",
    "suffix-only": ".npz",
}
CONTENTS: dict[str, bytes] = {
    "empty.npz": b"",
    "text.npz": b"hello\n",
    "zip.npz": b"PK\x05\x06" + bytes(18),
    "cut.npy": b"\x93NUMPY\x01\x00",
    "words.csv": b"a,b\nc,d\n",
    "ragged.csv": b"1,2\n3\n",
    "one-row.csv": b"1,2\n",
    "gaps.csv": b"x,episode\n1,nan\n2,nan\n",
    "nan.csv": b"x\n1\nnan\n",
    "huge.csv": b"x\n1e300\n2\n",
    "header.csv": b"x,y\n",
    "twice.csv": b"x,x\n1,2\n3,4\n",
    "bytes.csv": b"\xff\xfe\x00\n",
    "no-state.csv": b"time,action_0\n0,1\n1,2\n",
    "evil.pkl": b"cos\nsystem\n(S'touch owned'\ntR.",
    "cut.gz": b"\x1f\x8b\x08\x00",
    "x.parquet": b"PAR1PAR1",
    "x.hdf5": b"\x89HDF\r\n\x1a\n",
    "unknown.mat": b"MATLAB 5.0",
    "page.html": b"<html>",
}
REPAIRS = [
    *(("--columns", text) for text in ("9", "-1", "x", "1-", "2-1", "0,0", ",", "1e3", "\n")),
    *(("--drop", text) for text in ("0-2", "7", "hip", "9-12")),
    *(("--reorder", text) for text in ("0", "0,1", "2,1,0,0", "z")),
    *(("--scale", text) for text in ("x", "0=", "=1", "nan", "9=1", "a=2", "1==2", "inf")),
    *(("--degrees", text) for text in ("9", "some", "0-9")),
    *(("--every", text) for text in ("0", "-1", "99")),
    *(("--slice", text) for text in ("1", "a:b", "5:5", "99:", ":1", ":0", "1:2:3", "-1:")),
    *(("--rename", text) for text in ("x", "=", "a=b", "obs=", "action=obs")),
    *(("--key", text) for text in ("x", "obs,x", ",", "length,obs", "provenance")),
    *(("--format", text) for text in ("hdf", "", "NPZ", "pickle", "minari ")),
]
TARGETS = ["x.xyz", "x", "", "/", ".", "good.npz", "/proc/x.npz", "x" * 300 + ".npz", "good.npz/y.csv"]
TARGETS += ["loop/x.npz", "folder", "x.pkl", "x.npy", "x.csv.gz", "/dev/full/x.npz", "a\0.npz"]


CLOSED = [
    ["demos", "inspect", "closed.npz"],
    ["demos", "inspect", "folder"],
    ["demos", "inspect", "folder/x.npz"],
    ["demos", "convert", "open.npz", "folder/y.npz"],
    ["demos", "convert", "closed.npz", "y.csv"],
    ["demos", "collect", "closed.npz", "y.csv"],
    ["demos", "collect", "walker_walk", "folder/y.csv"],
    ["train", "probe_point", "--demos", "good.npz", "--run", "folder/run"],
    ["train", "probe_point", "--demos", "closed.npz"],
    ["eval", "folder"],
    ["eval", "folder/x"],
    ["resume", "folder"],
]
EACH = "import json, sys; from sfm.cli import main; [print(main(w)) for w in json.loads(sys.argv[1])]"


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("odd") / "here"  # whose parent has nothing else
    folder.mkdir()
    save(folder / "good.npz", demos())
    for name, data in CONTENTS.items():
        (folder / name).write_bytes(data)
    (folder / "folder").mkdir()
    (folder / "folder" / "notes.md").write_text("nothing to read")
    (folder / "loop").symlink_to("loop")
    (folder / "dangling.npz").symlink_to("gone.npz")
    np.savez(folder / "object.npz", obs=np.array([{}], object))
    np.savez(folder / "flat.npz", obs=np.arange(5.0))
    np.savez(folder / "words.npz", obs=np.array([["a"], ["b"]]))
    np.savez(folder / "length.npz", obs=np.zeros((2, 5, 3)), length=[9, 9])
    np.savez(folder / "other.npz", states=np.zeros((5, 3)))
    write_pickles(folder / "mixed", demos())
    save(folder / "mixed" / "x.csv", demos())
    return folder


def inputs() -> list[list[str]]:
    """Each is a mistake; `OUT` is a name that is free."""
    names = list(NAMES.values())
    files = [*CONTENTS, "object.npz", "flat.npz", "words.npz", "length.npz", "other.npz", "mixed"]
    odd = [["demos", "inspect", name] for name in (*names, *files)]
    odd += [["demos", "convert", name, "OUT.npz"] for name in (*names, *files)]
    odd += [["demos", "doctor", name, "probe_point"] for name in (*names, *files)]
    odd += [["train", "probe_point", "--run", "OUT", "--demos", name] for name in (*names, *files)[::2]]
    odd += [["demos", "convert", "good.npz", target] for target in TARGETS]
    odd += [["demos", "collect", "walker_walk", target] for target in TARGETS]
    odd += [
        ["demos", "inspect", "good.npz", "--plot", t] for t in ("x.xyz", "x", "/proc/x.png", "loop/x.png")
    ]
    odd += [["demos", "convert", "good.npz", "OUT.npz", *repair] for repair in REPAIRS]
    odd += [
        ["demos", "convert", "good.npz", "OUT.csv", *a, *b] for a, b in itertools.combinations(REPAIRS, 2)
    ][::2]
    odd += [["demos", "collect", name, "OUT.npz"] for name in (*names, *files)]
    odd += [["eval", name, "--no-video"] for name in names]
    odd += [
        ["eval", "walker_walk", "--out", out, "--episodes", "1"] for out in ("good.npz", "/proc/x", "loop")
    ]
    odd += [["demos", "doctor", "good.npz", task] for task in ("probe_pint", "", "x" * 300, "walker_walk")]
    odd += [[command, name] for command in ("resume", "eval") for name in (*files, "good.npz")]
    odd += [["fork", name, "OUT", "n_step=1"] for name in names]
    return odd


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_one_line_each_and_nothing_lost(place, monkeypatch, capfd):
    monkeypatch.chdir(place)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(place / "folder"))
    before, given = snapshot(place), inputs()
    wrong = []
    for words in given:
        try:
            status = main(words)
        except SystemExit as usage:  # tyro's word on options: a box of lines
            status, lines = usage.code, ["usage"]
            capfd.readouterr()
        except BaseException as error:
            wrong.append((words, repr(error)))
            capfd.readouterr()
            continue
        else:
            lines = capfd.readouterr().err.splitlines()
        if status in (0, None) or len(lines) != 1 or len(lines[0]) > 1000:
            wrong.append((words, status, lines))
    assert not wrong, "\n".join(f"{str(w)[:600]}" for w in wrong)
    assert len(given) > 1000
    assert snapshot(place) == before


def test_what_may_not_be_read_or_written_is_one_line(tmp_path, point_demos):
    """Without the privileges of root, for whom no file is closed."""
    drop = [
        "setpriv",
        "--bounding-set=-dac_override,-dac_read_search",
        "--inh-caps=-dac_override,-dac_read_search",
    ]
    drop = drop if os.getuid() == 0 else []
    save(tmp_path / "closed.npz", demos())
    save(tmp_path / "open.npz", demos())
    save(tmp_path / "good.npz", point_demos)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "x.npz").write_bytes((tmp_path / "open.npz").read_bytes())
    (tmp_path / "closed.npz").chmod(0)
    (tmp_path / "folder").chmod(0)
    try:
        command = [*drop, sys.executable, "-c", EACH, json.dumps(CLOSED)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        lines = done.stderr.splitlines()
        assert done.stdout.split() == ["1"] * len(CLOSED), done
        assert len(lines) == len(CLOSED), done.stderr
        assert all(line.startswith("error: ") for line in lines), done.stderr
    finally:
        (tmp_path / "folder").chmod(0o700)
