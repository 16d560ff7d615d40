"""Ctrl-C and SIGTERM: a run ends soon, and saved."""

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

PATIENCE = 3.0  # seconds for which the end of a round is waited for; a longer one stops half done

STOPPING = (
    "stopping: what is under way is finished and saved, within seconds; Ctrl-C again ends at once, unsaved"
)


class Asked:
    """Whether, and since when, the run has been asked to stop."""

    since: float | None = None

    def at_all(self) -> bool:
        return self.since is not None

    def for_long(self) -> bool:
        return self.since is not None and time.monotonic() - self.since >= PATIENCE


@contextlib.contextmanager
def stop_signals(tell: Callable[[str], Any]) -> Iterator[Asked]:
    """In here the first signal asks, and `tell` says so at once; a second Ctrl-C ends it."""
    asked = Asked()

    def ask(number: int, frame: Any) -> None:
        if asked.at_all():
            raise KeyboardInterrupt
        asked.since = time.monotonic()
        # In a thread: the one that was interrupted may be printing just now.
        threading.Thread(target=tell, args=(STOPPING,), daemon=True).start()

    try:
        before = {s: signal.signal(s, ask) for s in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread: leave signals alone
        before = {}
    try:
        yield asked
    finally:
        for s, handler in before.items():
            signal.signal(s, handler)
