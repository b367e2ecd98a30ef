"""Comments that suppress findings: ``# penstock: ignore[PS001, PS2]`` in the lines of a call, or for the whole file
``# penstock: ignore-file[PS401]``. Without brackets all rules are meant.

A file is read once, by Python's own tokenizer, so that text in a string is not a comment.
"""

from __future__ import annotations

import io
import re
import tokenize
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from penstock.lint.configuration import ALL, LintConfiguration, matches
from penstock.lint.finding import Finding
from penstock.lint.rule import Rule
from penstock.lint.rules import RULES
from penstock.lint.rules.suppressions import unknown_suppression, unused_suppression

_COMMENT = re.compile(r"#\s*penstock:\s*(?P<kind>ignore(?:-file)?)\b\s*(?:\[(?P<codes>[^\]]*)\])?")


@dataclass
class Comment:
    """A comment that suppresses. ``codes`` is ``ALL`` without brackets; ``used``: those that suppressed something."""

    line: int
    codes: tuple[str, ...]
    whole_file: bool = False
    used: set[str] = field(default_factory=set[str])

    def suppresses(self, code: str) -> bool:
        """Whether it means a rule; its codes that do are marked as used."""
        meant = {pattern for pattern in self.codes if pattern and matches(code, pattern)}
        self.used |= meant
        return bool(meant)

    def findings(self, file: str, configuration: LintConfiguration) -> Iterator[Finding]:
        """Its codes that mean no rule, and those that suppressed nothing though their rules were selected."""

        def finding(rule: Rule, message: str) -> Finding:
            return Finding(rule.code, rule.name(), message, file=file, line=self.line, last_line=self.line)

        unknown = [text for text in self.codes if not text or not any(matches(code, text) for code in RULES)]
        if unknown and configuration.selects(unknown_suppression.code):
            named = ", ".join(pattern or "nothing" for pattern in unknown)
            text = f"The comment names {named}, and there is no such rule. Give a code such as PS001, or remove it."
            yield finding(unknown_suppression, text)
        selected = [code for code in RULES if configuration.selects(code)]
        left = [pattern for pattern in self.codes if pattern not in self.used and pattern not in unknown]
        unused = [pattern for pattern in left if any(matches(code, pattern) for code in selected)]
        if unused and configuration.selects(unused_suppression.code):
            named = "nothing" if unused == [ALL] else f"{', '.join(unused)}, which is not found here"
            yield finding(unused_suppression, f"The comment suppresses {named}. Remove it.")


class Comments:
    """The comments of a file that suppress, in order of lines."""

    def __init__(self, source: str) -> None:
        self.all: list[Comment] = list(_comments(source))
        self._everywhere = [comment for comment in self.all if comment.whole_file]
        self._in_lines = [comment for comment in self.all if not comment.whole_file]
        self._lines = [in_line.line for in_line in self._in_lines]

    def suppress(self, code: str, first: int | None, last: int | None) -> bool:
        """Whether a finding in some lines is suppressed; ``first`` is None for the program as a whole. O(log comments),
        and the comments in these lines."""
        meant = self._everywhere
        if first is not None:
            lines = slice(bisect_left(self._lines, first), bisect_right(self._lines, last or first))
            meant = [*meant, *self._in_lines[lines]]
        suppressed = [comment.suppresses(code) for comment in meant]  # all of them are marked as used
        return any(suppressed)


def _comments(source: str) -> Iterator[Comment]:
    if "penstock:" not in source:
        return
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            match = _COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
            if match is not None:
                codes = (ALL,) if match["codes"] is None else tuple(code.strip() for code in match["codes"].split(","))
                yield Comment(token.start[0], codes, match["kind"] == "ignore-file")
    except (tokenize.TokenError, SyntaxError):  # it has run, so it is no Python file; the comments so far count
        pass
