"""What is said about savepoints: what a restore would do, and what differs between two, ours or Flink's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Difference:
    """One thing that differs."""

    what: str  # ``savepoint``, ``operator``, ``state`` or ``source``
    where: str  # the operator's ID; "" of the whole savepoint
    name: str  # the operator's, with its uid, as far as they are known; the place of the whole savepoint
    change: str  # ``added``, ``removed``, or the field that has changed
    before: Any = None
    after: Any = None


Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Finding:
    """One thing."""

    code: str  # its kind, such as ``inherited`` or ``starts-empty``
    severity: Severity  # ``error`` where state is lost or wrong, ``warning`` where it may be, ``info``
    operator_id: str  # whose: in the savepoint, or of the program where it is not there
    message: str  # a sentence, with what can be done
