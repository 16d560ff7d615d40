"""A library that is not installed is named."""

import re
import sys

import pytest

from sfm.demos.formats import extras
from sfm.errors import SfmError


@pytest.mark.parametrize(
    ("extra", "module"), [("minari", "h5py"), ("imitation", "pyarrow"), ("lerobot", "pyarrow")]
)
def test_a_missing_library_is_named(monkeypatch, extra, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SfmError, match=re.escape(f"pip install 'successor-feature-matching[{extra}]'")):
        extras.need(module, extra)
