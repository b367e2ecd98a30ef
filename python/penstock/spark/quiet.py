"""Keeps the Java launcher's notices off the terminal; everything else it writes to standard error still appears."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator

_NOTICES = (b"WARNING: Using incubator modules",)


@contextlib.contextmanager
def quiet_start() -> Iterator[None]:
    """Within the block, new processes get a standard error whose lines are forwarded to ours, but for the notices.

    Java prints them before any of its options can say otherwise. The forwarding ends when the last such process does.
    """
    try:
        ours = os.dup(2)
    except OSError:  # no standard error at all
        yield
        return
    reader, writer = os.pipe()
    sys.stderr.flush()
    os.dup2(writer, 2)
    os.close(writer)
    threading.Thread(target=_forward, args=(reader, ours), daemon=True, name="penstock-stderr").start()
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(ours, 2)


def _forward(reader: int, target: int) -> None:
    with contextlib.suppress(OSError), os.fdopen(reader, "rb", buffering=0) as lines, os.fdopen(target, "wb") as out:
        for line in lines:
            if not line.startswith(_NOTICES):
                out.write(line)
                out.flush()
