"""From a program to its findings: rules, configuration, places, comments.

Cost: O(operators + edges) for each rule, once over the user's functions, and once over each file with operators.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from penstock.lint.comments import Comments
from penstock.lint.configuration import LintConfiguration, matches
from penstock.lint.finding import Finding
from penstock.lint.rule import Found, Rule
from penstock.lint.rules import RULES
from penstock.lint.rules.suppressions import unused_suppression
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
    """The findings of the rules in a program, in order of files and lines.

    Functions are inspected and not called, except for ``open`` of those that keep state. The files in which operators
    are made are read for comments that suppress.

    Args:
        pipeline: the program, as an executor gets it.
        configuration: which rules are selected.
        known: facts beside the program; a configuration overrides its ``long_running`` and ``large``.
        file: of the program, whose comments count for findings without a place too.
    """
    return lint_jobs([(pipeline, known or Known())], configuration, file=file)


def lint_jobs(
    jobs: Iterable[tuple[Pipeline, Known]],
    configuration: LintConfiguration | None = None,
    *,
    file: str | None = None,
    whole: bool = True,
) -> list[Finding]:
    """As :func:`lint`, the findings in several jobs of one program, each with facts beside it. A finding that repeats
    at the same place, as in a function that makes several jobs, is reported once. Unused comments are only reported if
    these are all jobs of the program: ``whole``."""
    chosen = configuration or LintConfiguration()
    file = None if file is None else _absolute(file)
    findings: list[Finding] = []
    files: set[str] = set()
    for pipeline, known in jobs:
        if configuration is not None:
            known = replace(known, long_running=chosen.long_running, large=chosen.large_capture)
        subject = Subject(pipeline, known)
        places, before = _Places(subject, file), {_visible_part(finding) for finding in findings}
        selected = [rule for code, rule in RULES.items() if chosen.selects(code)]
        of_job = [places.finding(rule, result) for rule in selected for result in rule.find(subject)]
        findings += [finding for finding in of_job if _visible_part(finding) not in before]
        files.update(places.files())
    comments = _read_comments([*(finding.file for finding in findings), *sorted(files)])
    kept: list[Finding] = []
    for finding in findings:  # comments come before the configuration, so that their codes count as used
        in_file = comments.get(finding.file or file or "")
        if in_file is None or not in_file.suppress(finding.code, finding.line, finding.last_line):
            kept.append(finding)
    for name, in_file in comments.items():
        of_comments = (finding for comment in in_file.all for finding in comment.findings(name, chosen))
        kept += [finding for finding in of_comments if whole or finding.code != unused_suppression.code]
    kept = [
        finding for finding in kept if not any(matches(finding.code, code) for code in chosen.ignored_in(finding.file))
    ]
    return sorted(kept, key=lambda finding: finding.place)


def _visible_part(finding: Finding) -> tuple[object, ...]:
    """The part of a finding that a reader sees."""
    return finding.code, finding.file, finding.line, finding.message


@dataclass
class _Places:
    """Adds places to what rules have found."""

    subject: Subject
    file: str | None

    def finding(self, rule: Rule, result: Found) -> Finding:
        site = self.subject.site(result.node)
        name = None if result.node is None else self.subject.nodes[result.node].name
        file, line, last = (self.file, None, None) if site is None else (_absolute(site.file), site.line, site.end_line)
        called = _CALLED.search(result.call)
        if called is not None and called[2] in self._by_name:
            file, line, last = self._by_name[called[2]], int(called[1]), None
        return Finding(rule.code, rule.name(), result.message, result.node, name, file, line, last)

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
    comments: dict[str, Comments] = {}
    for file in dict.fromkeys(filter(None, files)):
        with suppress(OSError, ValueError):
            comments[file] = Comments(Path(file).read_text(encoding="utf-8"))
    return comments
