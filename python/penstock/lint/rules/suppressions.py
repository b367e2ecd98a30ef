"""PS9xx: the comments that suppress findings. Comments are checked in :mod:`penstock.lint.comments`."""

from __future__ import annotations

from penstock.lint.rule import program, rule
from penstock.lint.subject import Subject


@rule("PS901", program, found_by="the file of the program")
def unused_suppression(subject: Subject) -> None:
    """A comment suppresses a finding that does not exist.

    The reason is gone, or the comment is in a line without an operator. If it stays, it hides the next finding.
    Comments for rules that are not selected are not reported.

        - amounts = orders.map(lambda order: order[1])  # penstock: ignore[PS502]
        + amounts = orders.map(lambda order: order[1])
          amounts.print()
    """


@rule("PS902", program, found_by="the file of the program")
def unknown_suppression(subject: Subject) -> None:
    """A comment suppresses a rule that does not exist.

    A code is `PS` and three digits, or the beginning of one, such as `PS3`; several codes are separated by commas. A
    comment that is not understood suppresses nothing.

        - amounts = orders.map(lambda order: order[1])  # penstock: ignore[PS999]
        + amounts = orders.map(lambda order: order[1])
          amounts.print()
    """
