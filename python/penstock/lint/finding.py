"""A finding: what a rule says of a program, and where."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Finding:
    """One thing that a rule has found; plain data.

    Attributes:
        code: of the rule, such as ``PS001``.
        rule: its name, such as ``stateful-operator-without-uid``.
        message: what it is about, what follows from it, and what to do.
        node: id of the StreamNode that is meant; None where it is the program as a whole.
        operator: its name; None likewise.
        file: of the program, where the operator is made; None where that is not known.
        line: in that file, from 1; None likewise.
        last_line: where the call that begins there ends.
    """

    code: str
    rule: str
    message: str
    node: int | None = None
    operator: str | None = None
    file: str | None = None
    line: int | None = None
    last_line: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain data, for JSON."""
        return asdict(self)

    @property
    def place(self) -> tuple[str, int, int, str]:
        """What findings are sorted by: file, line, node, code; those of the program as a whole come first."""
        return (self.file or "", self.line or 0, -1 if self.node is None else self.node, self.code)

    def __str__(self) -> str:
        place = (str(each) for each in (self.file, self.line) if each is not None)
        return f"{':'.join(place) or '<program>'}: {self.code} {self.message}"
