"""`sfm watch`: a policy as it acts, in a browser."""

import contextlib
import functools
import threading

from tyro.conf import Positional

from sfm.cli.parse import command
from sfm.errors import SfmError


@command
def main(
    run: Positional[str],
    seed: int | None = None,
    host: str = "127.0.0.1",
    port: int = 8750,
    height: int = 300,
) -> None:
    """Show a policy live on a page: pause, step, reset, slower, faster, push; its demonstration beside it.

    Args:
        run: A run folder, a policy file, or the task of a bundled expert.
        seed: Which seed's policy, in a run of several; default: the first.
        host: Who may come: by default this machine alone, also through an SSH tunnel. 0.0.0.0: whoever has
            the address with its token.
        port: Of the page; 0: any that is free.
        height: Of the picture, in pixels.
    """
    if not 60 <= height <= 1080:
        raise SfmError("--height must be between 60 and 1080")
    if not 0 <= port < 2**16:
        raise SfmError("--port must be between 0 and 65535")
    from sfm.watch.server import serve
    from sfm.watch.show import Show

    print("getting ready ...", flush=True)
    with contextlib.closing(Show(run, seed, height)) as show:
        serve(show, host, port, threading.Event(), functools.partial(print, "watch at", flush=True))
    print("closed")
