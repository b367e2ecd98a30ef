"""From a program to its findings: rules, configuration, places, comments.

Cost: O(operators + edges) for each rule, once over the user's functions, and once over each file with operators.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from penstock.lint.comments import Comment, Comments
from penstock.lint.configuration import ALL, LintConfiguration, matches
from penstock.lint.finding import Finding
from penstock.lint.rule import Found, Rule
from penstock.lint.rules import RULES
from penstock.lint.rules.suppressions import UnknownSuppression, UnusedSuppression
from penstock.lint.subject import Known, Subject
from penstock.plan import Pipeline

_CALLED = re.compile(r"\(line (\d+) of (.+)\)")


def lint(
    pipeline: Pipeline,
    configuration: LintConfiguration | None = None,
    *,
    known: Known | None = None,
    file: str | None = None,
) -> list[Finding]:
    """What the rules find in a program, in order of files and lines.

    Functions are looked at and not called, but for ``open`` of those that keep state. The files in which operators are
    made are read for comments that suppress.

    Args:
        pipeline: the program, as an executor gets it.
        configuration: which rules count; None for the default ones.
        known: what is known besides: uids of a second run, a lock file. Its ``long_running`` and ``large`` are those of
            the configuration, where one is given.
        file: of the program, whose comments count for findings without a place too; None where there is none.
    """
    chosen = configuration or LintConfiguration()
    known = known or Known()
    if configuration is not None:
        known = replace(known, long_running=chosen.long_running, large=chosen.large_capture)
    subject, file = Subject(pipeline, known), None if file is None else _absolute(file)
    places = _Places(subject, file)
    found = [
        places.finding(rule, each)
        for code, rule in RULES.items()
        if chosen.selects(code)
        for each in rule().find(subject)
    ]
    comments = _read_comments([*(each.file for each in found), *places.files()])
    kept = [each for each in found if not _suppressed(each, chosen, comments, file)]
    kept += [each for each in _of_comments(comments, chosen) if not _ignored(each, chosen)]
    return sorted(kept, key=lambda each: each.place)


@dataclass
class _Places:
    """Finds the place of what rules have found."""

    subject: Subject
    file: str | None

    def finding(self, rule: type[Rule], found: Found) -> Finding:
        site = self.subject.site(found.node)
        node = None if found.node is None else self.subject.nodes[found.node]
        file, line, last = (self.file, None, None) if site is None else (_absolute(site.file), site.line, site.end_line)
        called = _CALLED.search(found.call)
        if called is not None and called[2] in self._by_name:
            file, line, last = self._by_name[called[2]], int(called[1]), None
        return Finding(
            rule.code,
            rule.name(),
            found.message,
            found.node,
            None if node is None else node.name,
            file,
            line,
            last,
        )

    def files(self) -> list[str]:
        """All files of the program, as far as they are known."""
        return sorted({*self._by_name.values(), *([] if self.file is None else [self.file])})

    @cached_property
    def _by_name(self) -> dict[str, str]:
        """The files in which operators are made, by their names without folders."""
        files = {site.file for site in self.subject.pipeline.sites.values()}
        return {os.path.basename(file): _absolute(file) for file in files}


def _absolute(file: str) -> str:
    """One name for a file, whatever folder it was named from; cells of notebooks have names in angles."""
    return file if file.startswith("<") else os.path.abspath(file)


def _read_comments(files: Iterable[str | None]) -> dict[str, Comments]:
    """The comments of files that can be read; a notebook's cell has no file."""
    found: dict[str, Comments] = {}
    for file in files:
        if file is not None and file not in found:
            try:
                found[file] = Comments(Path(file).read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError, ValueError):
                found[file] = Comments("")
    return found


def _ignored(finding: Finding, configuration: LintConfiguration) -> bool:
    return any(matches(finding.code, each) for each in configuration.ignored_in(finding.file))


def _suppressed(
    finding: Finding, configuration: LintConfiguration, comments: dict[str, Comments], program: str | None
) -> bool:
    """Whether a finding is not to be told. Comments are asked first, so that all that suppress count as used."""
    file = finding.file or program
    by_comment = file in comments and comments[file].suppress(finding.code, finding.line, finding.last_line)
    return by_comment or _ignored(finding, configuration)


def _of_comments(comments: dict[str, Comments], configuration: LintConfiguration) -> Iterator[Finding]:
    """What there is to say of the comments themselves."""
    for file, each in comments.items():
        for comment in each.all:
            unknown = comment.unknown()
            if unknown and configuration.selects(UnknownSuppression.code):
                yield _about(
                    UnknownSuppression,
                    file,
                    comment,
                    f"The comment names {_named(unknown)}, and there is no such rule. Give a code such as PS001, or "
                    "remove it.",
                )
            unused = _unused(comment, unknown, configuration)
            if unused and configuration.selects(UnusedSuppression.code):
                named = "nothing" if unused == (ALL,) else _named(unused)
                yield _about(
                    UnusedSuppression,
                    file,
                    comment,
                    f"The comment suppresses {named}, which is not found here. Remove it."
                    if named != "nothing"
                    else "The comment suppresses nothing. Remove it.",
                )


def _unused(comment: Comment, unknown: tuple[str, ...], configuration: LintConfiguration) -> tuple[str, ...]:
    """The codes of a comment that have suppressed nothing, though some rule that they mean was looked for."""
    return tuple(
        each
        for each in comment.codes
        if each not in comment.used
        and each not in unknown
        and any(matches(code, each) and configuration.selects(code) for code in RULES)
    )


def _named(codes: tuple[str, ...]) -> str:
    return ", ".join(each or "nothing" for each in codes)


def _about(rule: type[Rule], file: str, comment: Comment, message: str) -> Finding:
    return Finding(rule.code, rule.name(), message, file=file, line=comment.line, last_line=comment.line)
