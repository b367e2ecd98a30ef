"""What is said about savepoints: what a restore would do, and what differs between two, ours or Flink's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


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


Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Finding:
    """One thing.

    Attributes:
        code: its kind, such as ``inherited`` or ``starts-empty``.
        severity: ``error`` where state is lost or wrong, ``warning`` where it may be, ``info``.
        operator_id: whose: in the savepoint, or of the program where it is not there.
        said: a sentence, with what can be done.
    """

    code: str
    severity: Severity
    operator_id: str
    said: str
