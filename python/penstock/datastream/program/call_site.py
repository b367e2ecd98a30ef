"""Where in a user's source a call of the API stands. The one place that looks at the stack of a program."""
# pyright: reportPrivateUsage=false

from __future__ import annotations

import os
import sys
from typing import NamedTuple

_OURS = __name__.partition(".")[0]


class CallSite(NamedTuple):
    """A place in a source file; its text is the one that Flink puts into operator names.

    Attributes:
        function: name of the function that makes the call.
        file: name of its file, without folders.
        line: number of the line.
    """

    function: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.function}({self.file}:{self.line})"


def call_site() -> CallSite:
    """The innermost call that does not come from this package. O(frames of this package on the stack).

    Source of the semantics: ``Utils.getCallLocationName`` (Flink 1.11).
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _OURS:
        frame = frame.f_back
    return CallSite(frame.f_code.co_name, os.path.basename(frame.f_code.co_filename), frame.f_lineno)


def called(name: str, detail: str = "") -> str:
    """A call of the API as messages about its functions name it: with the place in the program.

    Args:
        name: of the method.
        detail: what of the call is meant, such as ``.map``.
    """
    site = call_site()
    return f"{name}(){detail} (line {site.line} of {site.file})"
