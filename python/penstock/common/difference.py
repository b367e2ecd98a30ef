"""What differs between two savepoints, ours or Flink's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Difference:
    """One thing that differs.

    Attributes:
        what: ``savepoint``, ``operator``, ``state`` or ``source``.
        where: the operator's ID; "" of the whole savepoint.
        name: the operator's, with its uid, as far as they are known; the place of the whole savepoint.
        change: ``added``, ``removed``, or the field that has changed.
        before, after: of it; None if there was or is none.
    """

    what: str
    where: str
    name: str
    change: str
    before: Any = None
    after: Any = None
