"""The place of an API call in a user's source. Only this module looks at the stack of a program."""
# pyright: reportPrivateUsage=false

from __future__ import annotations

import os
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from types import CodeType
from typing import NamedTuple

from penstock.common.site import Site

_OURS = __name__.partition(".")[0]
_WITHIN = f"{_OURS}."

Mark = tuple[CodeType, int, str]
"""A place in a program in the form that is cheap to take: code, instruction, name of the method called."""

_Place = tuple[int | None, int | None, int | None]
"""First line, last line, column after it."""


class CallSite(NamedTuple):
    """A place in a source file; its text is the one that Flink puts into operator names."""

    function: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.function}({self.file}:{self.line})"


def call_site() -> CallSite:
    """The innermost call from outside this package, as ``Utils.getCallLocationName`` (Flink 1.11). O(its frames)."""
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _OURS:
        frame = frame.f_back
    return CallSite(frame.f_code.co_name, os.path.basename(frame.f_code.co_filename), frame.f_lineno)


def called(name: str, detail: str = "") -> str:
    """The name of an API call in messages about its functions, with its place in the program."""
    site = call_site()
    return f"{name}(){detail} (line {site.line} of {site.file})"


def mark(depth: int = 1) -> Mark:
    """Take the innermost call from outside this package; the top ``depth`` frames are known to be this package's. Lines
    are looked up later, by :class:`Sites`, as that takes time linear in the calling function. O(frames of this package
    on the stack): half a microsecond."""
    frame = sys._getframe(depth)
    below = frame.f_code
    above = frame.f_back
    while above is not None and frame.f_globals.get("__name__", "").startswith(_WITHIN):
        below = frame.f_code
        frame = above
        above = frame.f_back
    return frame.f_code, frame.f_lasti, below.co_name


class Sites(Mapping[int, Site]):
    """The places of operators by node, looked up on demand. O(log instructions), after the first in a function."""

    def __init__(self, marks: Mapping[int, Mark]) -> None:
        self._marks = marks
        self._places: dict[CodeType, Callable[[int], _Place]] = {}

    def __getitem__(self, node: int) -> Site:
        code, instruction, call = self._marks[node]
        place = self._places.get(code)
        if place is None:
            place = self._places[code] = _by_position(code) if hasattr(code, "co_positions") else _by_line(code)
        line, end_line, end_column = place(instruction)
        return Site(code.co_filename, line or code.co_firstlineno, call, end_line, end_column)

    def __iter__(self) -> Iterator[int]:
        return iter(self._marks)

    def __len__(self) -> int:
        return len(self._marks)


def _by_position(code: CodeType) -> Callable[[int], _Place]:
    """Finds the place of an instruction in Python 3.11 and later: from the method's name to the end of the call."""
    positions: list[tuple[int | None, ...]] = list(getattr(code, "co_positions")())  # noqa: B009 - 3.10 has none

    def place(instruction: int) -> _Place:
        line, end_line, _, end_column = positions[instruction // 2]
        return line, end_line, end_column

    return place


def _by_line(code: CodeType) -> Callable[[int], _Place]:
    """Finds the line of an instruction in Python 3.10."""
    lines = list(code.co_lines())
    starts = [start for start, _, _ in lines]
    return lambda instruction: (lines[bisect_right(starts, instruction) - 1][2], None, None)
