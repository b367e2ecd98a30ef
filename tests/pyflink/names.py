"""The public names of PyFlink, as ``record_names`` has written them: ``names.tsv``, a line per name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "names.tsv"


class Name(NamedTuple):
    """A name of PyFlink.

    Attributes:
        versions: that have it, such as ``1.20+2.3``. Parameters that changed make two lines.
        module: where it is.
        path: in the module: ``Class``, ``Class.method``, ``Class.Inner.method``, ``function``.
        kind: class, method, staticmethod, classmethod, property, attribute, function, constant; import: handed on;
            refused: a method of a base class that raises an error here.
        parameters: names of parameters, bases of a class, where an import comes from.
        priority: by use in public programs: P0, P1, P2, or X; empty if unknown.
        uses: how many of 292 public programs use it; empty if unknown.
    """

    versions: str
    module: str
    path: str
    kind: str
    parameters: str
    priority: str = ""
    uses: str = ""


def read() -> list[Name]:
    """All names; none while there is no file."""
    lines = FILE.read_text(encoding="utf-8").splitlines()[1:] if FILE.exists() else []
    return [Name(*line.split("\t")) for line in lines]


def write(names: Iterable[Name]) -> None:
    """Write the file anew."""
    lines = ["\t".join(name) for name in (Name._fields, *names)]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
