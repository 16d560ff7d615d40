"""Every option is explained, in one sentence that the help and docs/options.md show."""

import dataclasses
import re

import pytest

from benchmarks import options
from sfm.config import SFMConfig, StochasticConfig, TD3Config, TD7Config
from sfm.config.sentences import sentences

KINDS = [kind for *_, kinds in options.TABLES for kind in kinds]


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_has_a_full_sentence(kind):
    told = sentences(kind)
    for f in dataclasses.fields(kind):
        assert re.fullmatch(r"[A-Z][^\n]{15,}\.", told[f.name]), f.name


def test_a_sentence_belongs_to_the_field_above_it():
    assert sentences(SFMConfig)["tail"].startswith("After a demonstration's last state")
    assert sentences(TD7Config)["width"] == sentences(TD3Config)["width"]  # of the base class
    assert sentences(TD7Config)["lr_actor"] == sentences(TD3Config)["lr_actor"]  # with another default
    assert "at every update" in sentences(StochasticConfig)["polyak"]
    assert sentences(TD7Config)["intervals"] == ""  # no field: nobody can set it
