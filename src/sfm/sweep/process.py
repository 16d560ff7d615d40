"""A job's process, seen by who starts it: an engine, on this machine or on one of a cluster."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from sfm.storage import cannot_write
from sfm.sweep.child import Outcome

Order = dict[str, Any]  # see child.py


class Process:
    """Runs an order in a session of its own: Ctrl-C reaches only who started it, who then asks it to stop."""

    def __init__(self, order: Order):
        self.log = Path(order["log"])
        threads = str(order["threads"])
        env = {**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads, **order["env"]}
        try:
            self.log.parent.mkdir(parents=True, exist_ok=True)
            with open(self.log, "ab") as log:
                self._child = subprocess.Popen(
                    [sys.executable, "-m", "sfm.sweep.child"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    env=env,
                    start_new_session=True,
                )
        except OSError as error:
            raise cannot_write(self.log, error) from error
        assert self._child.stdin is not None
        with contextlib.suppress(OSError):  # it has ended already, and `outcome` will say so
            self._child.stdin.write(json.dumps(order).encode() + b"\n")
            self._child.stdin.flush()

    @property
    def pid(self) -> int:
        return self._child.pid

    def running(self) -> bool:
        return self._child.poll() is None

    def outcome(self) -> Outcome:
        """Waits until it has ended."""
        assert self._child.stdout is not None
        assert self._child.stdin is not None
        said = self._child.stdout.read()
        status = self._child.wait()
        self._child.stdout.close()
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        if said:
            return Outcome(*json.loads(said))
        if status < 0:
            return Outcome("killed", f"killed by signal {-status}")
        return Outcome("failed", f"its process ended with status {status}: see {self.log}")

    def stop(self) -> None:
        """Asks it to save and to end; one that does not train yet ends at once."""
        self._child.terminate()

    def kill(self) -> None:
        self._child.kill()
