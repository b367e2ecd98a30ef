"""Comments that suppress findings: ``# penstock: ignore[PS001, PS2]`` in the lines of a call, or for the whole file
``# penstock: ignore-file[PS401]``. Without brackets all rules are meant.

A file is read once, by Python's own tokenizer, so a text that looks like a comment is none.
"""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_left
from dataclasses import dataclass, field

from penstock.lint.configuration import ALL, matches
from penstock.lint.rules import RULES

_COMMENT = re.compile(r"#\s*penstock:\s*(?P<kind>ignore(?:-file)?)\b\s*(?:\[(?P<codes>[^\]]*)\])?")


@dataclass
class Comment:
    """A comment that suppresses.

    Attributes:
        line: where it stands, from 1.
        codes: that it names; ``ALL`` if it names none.
        whole_file: whether it holds for all lines.
        used: those codes that have suppressed something.
    """

    line: int
    codes: tuple[str, ...]
    whole_file: bool = False
    used: set[str] = field(default_factory=set[str])

    def unknown(self) -> tuple[str, ...]:
        """Codes that mean no rule."""
        return tuple(each for each in self.codes if not any(matches(code, each) for code in RULES) or not each)

    def suppresses(self, code: str) -> bool:
        """Whether it means a rule; those of its codes that do are noted as used."""
        meant = {each for each in self.codes if each and matches(code, each)}
        self.used |= meant
        return bool(meant)


class Comments:
    """The comments of a file that suppress.

    Args:
        source: text of the file.

    Attributes:
        all: in order of lines.
    """

    def __init__(self, source: str) -> None:
        self.all: list[Comment] = _comments(source)
        self._everywhere = [each for each in self.all if each.whole_file]
        self._in_lines = [each for each in self.all if not each.whole_file]
        self._lines = [each.line for each in self._in_lines]

    def suppress(self, code: str, first: int | None, last: int | None) -> bool:
        """Whether a finding in some lines is suppressed. O(log comments), and those in these lines.

        Args:
            code: of the rule.
            first: line of the call; None for the program as a whole.
            last: where the call ends.
        """
        meant = [each.suppresses(code) for each in self._everywhere]
        if first is not None:
            index = bisect_left(self._lines, first)
            while index < len(self._lines) and self._lines[index] <= (last or first):
                meant.append(self._in_lines[index].suppresses(code))
                index += 1
        return any(meant)


def _comments(source: str) -> list[Comment]:
    found: list[Comment] = []
    if "penstock:" not in source:
        return found
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            told = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
            if told is not None:
                codes = (ALL,) if told["codes"] is None else tuple(each.strip() for each in told["codes"].split(","))
                found.append(Comment(token.start[0], codes, told["kind"] == "ignore-file"))
    except (tokenize.TokenError, SyntaxError):  # it has run, so it is no Python file; what was found counts
        pass
    return found
