"""Finding: one thing that is to be said of a restore before it is tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
