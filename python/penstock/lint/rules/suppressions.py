"""PS9xx: the comments that suppress findings. They are found where these are read (:mod:`penstock.lint.checking`)."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.lint.rule import Found, Rule
from penstock.lint.subject import Subject


class UnusedSuppression(Rule):
    """A comment suppresses what is not found.

    The reason has gone, or the comment stands in a line without an operator. Left there, it would hide the next
    finding. A comment that names a rule which is not selected is no finding.

    Bad::

        amounts = orders.map(lambda order: order[1])  # penstock: ignore[PS502]
        amounts.print()

    Good::

        amounts = orders.map(lambda order: order[1])
        amounts.print()
    """

    code = "PS901"
    found_by = "the file of the program"

    def find(self, subject: Subject) -> Iterator[Found]:
        return iter(())


class UnknownSuppression(Rule):
    """A comment suppresses a rule that does not exist.

    A code is `PS` and three digits, or the beginning of one, such as `PS3`; several stand with commas between. A
    comment that is not understood suppresses nothing.

    Bad::

        amounts = orders.map(lambda order: order[1])  # penstock: ignore[PS999]
        amounts.print()

    Good::

        amounts = orders.map(lambda order: order[1])
        amounts.print()
    """

    code = "PS902"
    found_by = "the file of the program"

    def find(self, subject: Subject) -> Iterator[Found]:
        return iter(())
