"""CPU time and memory of a process with all its descendants, from /proc."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Iterator
from typing import NamedTuple

TICK = os.sysconf("SC_CLK_TCK")
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
JVM, PYTHON = "jvm", "python"


class Process(NamedTuple):
    """What /proc/PID/stat says."""

    pid: int
    parent: int
    kind: str
    own_seconds: float
    """CPU seconds of itself."""
    gone: float
    """CPU seconds of its descendants that have ended."""


def adopt() -> None:
    """From now on descendants whose parent dies become ours, so that no CPU time is lost."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def cpu(*, with_own: bool = True) -> dict[str, float]:
    """CPU seconds so far of this process and all that came of it: of JVMs, and of everything else, which is Python.

    Args:
        with_own: also what this process itself took; False where it only feeds those that are measured.
    """
    spent = {JVM: 0.0, PYTHON: 0.0}
    for process in family():
        spent[process.kind] += process.own_seconds if with_own or process.pid != os.getpid() else 0.0
        spent[PYTHON] += process.gone
    return spent


def peak_bytes() -> dict[str, int]:
    """The largest peak of resident memory of a living process, of this one and its descendants, by kind; workers only
    where there are some."""
    peaks: dict[str, int] = {}
    for process in family():
        kind = "driver" if process.pid == os.getpid() else process.kind
        peaks[kind] = max(peaks.get(kind, 0), _peak(process.pid))
    return peaks


def end() -> None:
    """Kill all descendants of this process, and wait for those that are its children."""
    for process in family():
        if process.pid != os.getpid():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def family() -> list[Process]:
    """This process and its descendants."""
    everyone = {process.pid: process for process in _everyone()}
    children: dict[int, list[int]] = {}
    for process in everyone.values():
        children.setdefault(process.parent, []).append(process.pid)
    members, waiting = [], [os.getpid()]
    while waiting:
        pid = waiting.pop()
        members.append(everyone[pid])
        waiting.extend(children.get(pid, ()))
    return members


def _everyone() -> Iterator[Process]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    head, _, rest = file.read().rpartition(")")
            except OSError:  # it has ended meanwhile
                continue
            fields = rest.split()
            user, system, children_user, children_system = (int(field) / TICK for field in fields[11:15])
            kind = JVM if head.endswith("(java") else PYTHON
            yield Process(int(name), int(fields[1]), kind, user + system, children_user + children_system)


def _peak(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/status") as file:
            return next((int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM")), 0)
    except OSError:
        return 0
