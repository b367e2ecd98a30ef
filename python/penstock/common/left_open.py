"""A parallelism that a program leaves to its environment."""

from __future__ import annotations


class LeftOpen(int):
    """The environment's parallelism as operators have it that were given none of their own: the same number, and the
    mark that nobody has said it for them. It goes along where an operator takes that of another one.
    """

    __slots__ = ()
