"""What a process and all below it use, from ``/proc``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Use:
    python: float = 0
    jvm: float = 0
    seconds: float = 0
    processes: int = 0


def below(pid: int) -> list[int]:
    """A process and all below it, parents first."""
    children: dict[int, list[int]] = {}
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            fields = _fields(int(process.name))
            if fields:
                children.setdefault(int(fields[1]), []).append(int(process.name))
    pids = [pid]
    for process in pids:
        pids += children.get(process, [])
    return pids


def kind(pid: int) -> str:
    """Name of the program of a process: ``java``, ``python3``; "" if there is no such process."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def used(pid: int) -> Use:
    """What a process and all below it use."""
    python = jvm = seconds = 0.0
    pids = below(pid)
    for process in pids:
        fields = _fields(process)
        if not fields:
            continue
        resident = int(fields[21]) * _PAGE / 1e6
        if kind(process) == "java":
            jvm += resident
        else:
            python += resident
        seconds += sum(map(int, fields[11:15])) / _TICKS
    return Use(python, jvm, seconds, len(pids))


def _fields(pid: int) -> list[str]:
    """Of ``/proc/PID/stat``, from the third on: state, parent, …; none if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []
