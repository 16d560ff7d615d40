"""Numbers as people write them."""

from typing import Annotated

from tyro.constructors import PrimitiveConstructorSpec

from sfm.config import whole


def _steps(words: list[str]) -> int:
    return whole(float(words[0].replace(",", "")), "steps")


Steps = Annotated[
    int,
    PrimitiveConstructorSpec(
        nargs=1,
        metavar="INT",
        instance_from_str=_steps,
        is_instance=lambda value: isinstance(value, int),
        str_from_instance=lambda value: [str(value)],
    ),
]
"""100000, 1e5 or 100,000."""
