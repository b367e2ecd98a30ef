"""Lints: problems of a program that can be found before it is deployed, by rules with codes.

:func:`lint` takes a program as an executor gets it and returns its findings. Here: the rules
(:mod:`~penstock.lint.rules`), the view of a program that they have (:mod:`~penstock.lint.subject`), which of them are
selected (:mod:`~penstock.lint.configuration`), comments that suppress findings, and the forms in which findings are
written. Not here: how a program is captured, and where findings are printed (:mod:`penstock.cli.lint`).
"""

from __future__ import annotations

from penstock.lint.configuration import LintConfiguration, find_configuration
from penstock.lint.finding import Finding
from penstock.lint.linter import lint, lint_jobs
from penstock.lint.rule import Rule
from penstock.lint.rules import RULES
from penstock.lint.subject import Known

__all__ = ["RULES", "Finding", "Known", "LintConfiguration", "Rule", "find_configuration", "lint", "lint_jobs"]
