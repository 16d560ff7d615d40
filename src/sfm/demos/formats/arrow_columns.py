"""Matrices out of Arrow columns."""

from typing import Any

import numpy as np

from sfm.errors import SfmError


def matrix(column: Any, which: str) -> np.ndarray:
    """A column of numbers or of equally long lists of numbers, a pyarrow.Array, as [rows,dimension]."""
    column = getattr(column, "storage", column)  # an extension type wraps plain lists
    rows, width = len(column), 1
    _refuse_gaps(column, which)
    if hasattr(column, "flatten") and hasattr(column, "value_lengths"):
        widths = np.unique(column.value_lengths().to_numpy(zero_copy_only=False)) if rows else np.array([0])
        if len(widths) != 1:
            raise SfmError(f"{which} have different dimensions: {widths[:10].tolist()}")
        column, width = column.flatten(), int(widths[0])
        column = getattr(column, "storage", column)
        _refuse_gaps(column, which)
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "biuf":
        raise SfmError(f"{which} are not numbers but of type {column.type}")
    return values.reshape(rows, width)


def _refuse_gaps(column: Any, which: str) -> None:
    if column.null_count:
        raise SfmError(f"{which} have missing values")
