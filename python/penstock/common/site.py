"""Site: the place in a program's source where it made an operator."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Site:
    """A call of the API in the source of a program: the innermost one that is not Penstock's own."""

    file: str  # the source file, as Python knows it
    line: int  # of the name of the called method, from 1
    call: str  # the method that was called, such as ``map``
    end_line: int | None = None  # the line where the call ends; None before Python 3.11
    # the place behind the call's closing parenthesis, in bytes of that line, from 0; None before Python 3.11
    end_column: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"
