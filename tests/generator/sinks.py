"""Sinks of programs that are edited: what has come is given back by the job, or committed in two phases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from penstock.datastream.sinks import TwoPhaseCommitSink
from penstock.runtime.io.sinks import CollectSink
from tests.generator.operators import Bag

_COMMITTED: dict[tuple[str, str, int], list[int]] = {}


class Committed(TwoPhaseCommitSink[int, list[int]]):
    """Keeps what is committed in this process, by checkpoint directory and version: a second time it is the same."""

    def __init__(self, label: str) -> None:
        self.label = label

    def open(self, context: Any) -> None:
        self.values: list[int] = []

    def write(self, value: int) -> None:
        self.values.append(value)

    def prepare(self, version: int) -> list[int] | None:
        values, self.values = self.values, []
        return values or None

    def commit(self, committables: Sequence[list[int]], version: int) -> None:
        _COMMITTED[self.label, self.owner, version] = [value for values in committables for value in values]


def collect(stream: Any, label: str, parallelism: int | None) -> Any:
    """A sink whose records the job gives back."""
    return stream._sink(label, CollectSink(label), parallelism)


def commit(stream: Any, label: str, parallelism: int | None) -> Any:
    sink = stream.sink_to(Committed(label))
    return sink if parallelism is None else sink.set_parallelism(parallelism)


def committed(label: str, before: set[tuple[str, str, int]]) -> Bag:
    """What a sink has committed since there was :func:`known`."""
    return Counter(value for key, values in _COMMITTED.items() if key[0] == label and key not in before
                   for value in values)  # fmt: skip


def known() -> set[tuple[str, str, int]]:
    return set(_COMMITTED)
