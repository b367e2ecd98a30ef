"""Keeps the Java launcher's notices off the terminal; everything else it writes to standard error still appears."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
from collections.abc import Iterator

_NOTICES = (b"WARNING: Using incubator modules",)


def quiet_py4j() -> None:
    """Keep py4j's notices out of a program's log, which it may have on its standard output; its warnings stay, and so
    does the level that a program has given it."""
    logger = logging.getLogger("py4j")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.WARNING)


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
