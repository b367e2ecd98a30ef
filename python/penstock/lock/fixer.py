"""Writes pins into a program's source, which is otherwise unchanged to the last space.

A pin goes behind the call that makes its operator. A uid that is replaced must be a literal in the same chain of calls;
otherwise the old ID is pinned as a uid hash. Pins that cannot be written are reported. Cost: linear in the source.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from penstock.common.extras import library
from penstock.lock.pins import Pin


@dataclass(frozen=True)
class Fixed:
    """The pins that were written, as they are in the source now, and the others, with the reasons."""

    written: tuple[Pin, ...]
    left: tuple[tuple[Pin, str], ...]


def fix(pins: Iterable[Pin]) -> Fixed:
    """Write pins into the files of a program. A ConfigurationError says that libcst is missing."""
    library("libcst", "fix", "Editing a program")
    from penstock.lock.source import edited

    files: dict[str, list[Pin]] = {}
    left: list[tuple[Pin, str]] = []
    for pin in pins:
        if pin.unreachable or pin.site is None:
            left.append((pin, pin.unreachable))
        elif not os.path.isfile(pin.site.file) or "site-packages" in Path(pin.site.file).parts:
            left.append((pin, f"{pin.site.file} is not a file of the program"))
        else:
            files.setdefault(pin.site.file, []).append(pin)
    written: list[Pin] = []
    for file, in_file in files.items():
        path = Path(file)
        text, done, not_done = edited(path.read_bytes(), in_file)
        if done:
            _replace(path, text)
        written += done
        left += not_done
    return Fixed(tuple(written), tuple(left))


def _replace(path: Path, text: bytes) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(text)
        beside.chmod(path.stat().st_mode)
        os.replace(beside, path.resolve())
    finally:
        beside.unlink(missing_ok=True)
