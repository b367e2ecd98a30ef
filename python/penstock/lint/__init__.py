"""Lints: what can be said against a program before it is deployed, by rules with codes.

:func:`lint` takes a program as an executor gets it and gives its findings. Here: the rules
(:mod:`~penstock.lint.rules`), what they look at (:mod:`~penstock.lint.subject`), which of them count
(:mod:`~penstock.lint.configuration`), comments that suppress findings, and the forms in which findings are told. Not
here: how a program is captured, and where what is found is printed (:mod:`penstock.cli.lint`).
"""

from __future__ import annotations

from penstock.lint.checking import lint
from penstock.lint.configuration import LintConfiguration, find_configuration
from penstock.lint.finding import Finding
from penstock.lint.rule import Rule
from penstock.lint.rules import RULES
from penstock.lint.subject import Known

__all__ = ["RULES", "Finding", "Known", "LintConfiguration", "Rule", "find_configuration", "lint"]
