"""Operators as statements: what an operator contributes to a generated function (:mod:`.fusion`).

A :class:`Fragment` is the text of an operator's work on one record. In its lines ``{v}`` is the record that comes in,
``{t}`` its timestamp, ``{o}`` the record that goes out, ``{r}`` a name of the fragment's own, and every key of
``bindings`` is the object behind it. Indentation is one space. The statements of the next operators follow the last
line, ``depth`` spaces deeper than the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.runtime.chain.outputs import Feed

Explain = Callable[[Mapping[str, Any], Exception], Exception]
"""A better error, if there is one; given the values of the fragment's names: ``v``, ``o``, ``r`` as far as they are
set."""


@dataclass(frozen=True)
class Fragment:
    """An operator's statements."""

    lines: tuple[str, ...]
    bindings: Mapping[str, Any] = field(default_factory=dict)  # objects that they use
    out: str = "{o}"  # what goes out, or {v}
    depth: int = 0  # indentation of what follows
    counted: bool = False  # whether `emitted` counts what goes out; otherwise each record in is one out
    loops: int = 0  # how many `for` there are around what follows
    explain: Explain | None = None  # improves what the user's function has raised
    before: int = 0  # how many of the statements, the first ones, find the record's key
    of_key: Explain | None = None  # `explain` for these

    def after(self, lines: tuple[str, ...], bindings: Mapping[str, Any], of_key: Explain) -> Fragment:
        """This fragment behind statements that find the key."""
        both = {**bindings, **self.bindings}
        return replace(self, lines=(*lines, *self.lines), bindings=both, before=len(lines), of_key=of_key)


@dataclass(frozen=True)
class Leaf:
    """Where records leave a generated function for good: a record writer, or a sink of Penstock's own."""

    write: Callable[[Any, int | None], None]
    batch: Feed  # takes many of one timestamp, all of them immutable, with the same result
    immutable: bool  # whether records are, by their declared type; otherwise each is looked at
    taker: Any  # what has `room`, the number of records that may be gathered for the next batch
