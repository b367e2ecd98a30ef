"""JobID: which run of which program. Source of the name: ``pyflink.common.JobID``."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass, field

from penstock.common.checks import refuse

_HEX = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class JobID:
    """Names one run of a program; every run has another.

    Attributes:
        text: 32 hex digits, by chance unless given.

    Raises:
        InvalidProgramError: another text.
    """

    text: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or _HEX.fullmatch(self.text) is None:  # pyright: ignore[reportUnnecessaryIsInstance]
            refuse(f"JobID({self.text!r}): it is a text of 32 hex digits in small letters. Take it from str(job_id).")

    def __str__(self) -> str:
        return self.text
