"""Processes for work that dies: children of a small one that has loaded what the work needs.

A process of pytest has some hundred megabytes after a while. A fork of it copies their page table, and then each page
that it touches, which takes more time than most of the work.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import os
import socket
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_LENGTH = struct.Struct("!I")


def forget_syncs() -> None:
    """Let fsync do nothing in this process and those forked from it: no machine loses its power in tests."""
    os.fsync = os.fstat  # which refuses what is no open file, too


def status_of(work: Callable[[], Any]) -> int:
    """Do some work in a process of its own.

    Environment and working directory are those of this process; what else was patched here is not there.

    Args:
        work: cloudpickle must be able to send it.

    Returns:
        The exit code: 0 at the end of the work, 1 after an error; negative: the signal that ended it.
    """
    import cloudpickle

    loaded = [name for name in sys.modules if _needed(name)]
    return _zygote().ask(cloudpickle.dumps((loaded, dict(os.environ), os.getcwd(), work)))


def _needed(name: str) -> bool:
    """Whether a module that is loaded here would only be loaded again by each child."""
    package = name.partition(".")[0]
    return package in ("pyarrow", "fsspec", "s3fs") or (package == "penstock" and not name.startswith("penstock.spark"))


class _Zygote:
    """The process that forks, as its parent sees it."""

    def __init__(self) -> None:
        parent_end, child_end = socket.socketpair()
        with child_end:
            command = [sys.executable, "-m", "tests.forks", str(child_end.fileno())]
            path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
            self._process = subprocess.Popen(
                command, cwd=ROOT, pass_fds=[child_end.fileno()], env={**os.environ, "PYTHONPATH": path}
            )
        self._socket, self._lock = parent_end, threading.Lock()
        atexit.register(self._close)

    def ask(self, request: bytes) -> int:
        with self._lock:
            self._socket.sendall(_LENGTH.pack(len(request)) + request)
            answer = self._socket.recv(_LENGTH.size, socket.MSG_WAITALL)
        assert len(answer) == _LENGTH.size, f"the process that forks has ended: {self._process.wait()}"
        return struct.unpack("!i", answer)[0]

    def _close(self) -> None:
        self._socket.close()
        self._process.wait()


@cache
def _zygote() -> _Zygote:
    return _Zygote()


def _requests(connection: socket.socket) -> Iterator[bytes]:
    while len(header := connection.recv(_LENGTH.size, socket.MSG_WAITALL)) == _LENGTH.size:
        yield connection.recv(_LENGTH.unpack(header)[0], socket.MSG_WAITALL)


def _serve(connection: socket.socket) -> None:
    """Be the process that forks, until nobody asks any more."""
    import cloudpickle

    known: set[str] = set()
    for request in _requests(connection):
        loaded, environment, folder, work = cloudpickle.loads(request)
        for name in set(loaded) - known:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        known.update(loaded)
        gc.freeze()
        os.environ.clear()
        os.environ.update(environment)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                connection.close()
                os.chdir(folder)
                work()
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        del work
        connection.sendall(struct.pack("!i", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))


if __name__ == "__main__":
    forget_syncs()
    _serve(socket.socket(fileno=int(sys.argv[1])))
