"""What `import sfm` offers, and what lies beside the code for those who use, cite or extend it."""

import re
import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from packaging.specifiers import SpecifierSet

import sfm

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_classifiers_are_the_pythons_that_it_installs_on():
    """Each was tried: `python -m benchmarks.package --python ...`."""
    told = re.findall(r"Python :: 3\.(\d+)", " ".join(PROJECT["classifiers"]))
    minors = [minor for minor in range(8, 20) if f"3.{minor}.1" in SpecifierSet(PROJECT["requires-python"])]
    assert list(map(int, told)) == minors


def test_every_public_name_is_there_and_listed():
    assert set(sfm._WHERE) <= set(sfm.__all__)
    for name in sfm.__all__:
        assert getattr(sfm, name) is not None
        assert name in dir(sfm)
    assert {"__doc__", "envs"} <= set(dir(sfm))
    with pytest.raises(AttributeError, match="module 'sfm' has no attribute 'trian'"):
        _ = sfm.trian  # pyright: ignore[reportAttributeAccessIssue]


def test_the_version_is_that_of_the_project():
    assert sfm.__version__ == PROJECT["version"]


def test_names_are_imported_when_used():
    """`dir` and the error type cost nothing; neither does the version."""
    heavy = "{'jax', 'dm_control', 'mujoco', 'matplotlib'}"
    code = f"import sys, sfm; dir(sfm), sfm.SfmError, sfm.__version__; print({heavy} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_errors_are_of_the_one_type():
    with pytest.raises(sfm.SfmError, match="unknown task"):
        sfm.make_env("walker_wlak")


def test_type_checkers_are_told():
    assert (files("sfm") / "py.typed").is_file()


def test_no_module_is_called_like_a_library():
    needed = [
        *PROJECT["dependencies"],
        *(name for extra in PROJECT["optional-dependencies"].values() for name in extra),
    ]
    libraries = {re.split(r"\W", name.replace("-", "_"))[0].lower() for name in needed}
    libraries |= {*PROJECT["optional-dependencies"], *sys.stdlib_module_names} - {"types"}  # what all call it
    modules = {path.stem for path in (ROOT / "src" / "sfm").rglob("*") if path.suffix in ("", ".py")}
    assert modules & libraries == set()


def test_the_citation_names_the_software_and_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["cff-version"] == "1.2.0"
    assert citation["title"].startswith("sfm")
    (paper,) = citation["references"]
    assert paper["authors"][0] == {"family-names": "Jain", "given-names": "Arnav Kumar"}
    assert paper["year"] == 2025
    assert {"type": "other", "value": "arXiv:2411.07007"} in paper["identifiers"]


def test_the_changelog_begins_with_what_is_not_released():
    first, *released = re.findall(r"^## (.+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", heading) for heading in released)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_between_documents_lead_somewhere(name):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / name).read_text())
    assert [link for link in links if not (ROOT / link).exists()] == []
