"""Pins written into a program's source, which otherwise stays as it is to the last space.

A pin goes behind the call that makes its operator, on a line of its own where the calls stand so. A uid that is
replaced must be a literal in the same chain of calls; otherwise the old ID is pinned as a uid hash. What cannot be
edited is said, and left alone. Files are replaced whole, one after the other.

Cost: linear in the source, for each file once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from penstock.common.extras import library
from penstock.lock.pins import Pin

_OWN = "site-packages"


@dataclass(frozen=True)
class Fixed:
    """What has become of pins.

    Attributes:
        written: those that are in the source now, as they stand there.
        left: those that are not, and why.
    """

    written: tuple[Pin, ...]
    left: tuple[tuple[Pin, str], ...]


def fix(pins: Iterable[Pin]) -> Fixed:
    """Write pins into the files of a program.

    Args:
        pins: of it.

    Raises:
        ConfigurationError: the library that edits sources is not there.
        OSError: a file cannot be read or written.
    """
    library("libcst", "fix", "Editing a program")
    from penstock.lock.editing import edited

    files: dict[str, list[Pin]] = {}
    left: list[tuple[Pin, str]] = []
    for pin in pins:
        if pin.unreachable or pin.site is None:
            left.append((pin, pin.unreachable))
        elif not _editable(pin.site.file):
            left.append((pin, f"{pin.site.file} is no file of the program's own"))
        else:
            files.setdefault(pin.site.file, []).append(pin)
    written: list[Pin] = []
    for file, own in files.items():
        path = Path(file)
        text, done, not_done = edited(path.read_bytes(), own)
        if done:
            _replace(path, text)
        written += done
        left += not_done
    return Fixed(tuple(written), tuple(left))


def _editable(file: str) -> bool:
    """Whether a file is there, and not one of a library that was installed."""
    return os.path.isfile(file) and _OWN not in Path(file).parts


def _replace(path: Path, text: bytes) -> None:
    """The file with another text, at once; its permissions stay."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(text)
        beside.chmod(path.stat().st_mode)
        os.replace(beside, path.resolve())
    finally:
        beside.unlink(missing_ok=True)
