"""Sources that come with Penstock. A program's own sources are objects with ``run(ctx)``, see
:mod:`.operators.source`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from penstock.common.typeinfo import TypeInformation
from penstock.errors import InvalidProgramError
from penstock.runtime import native
from penstock.runtime.io.packed import PackedRecords, packed

_BATCH = 2_000


@dataclass(frozen=True, slots=True)
class Batch:
    """Records of a source, in order, and their timestamps: None for a record without, or where none has one."""

    values: Sequence[Any]
    timestamps: Sequence[int | None] | None = None


class BatchSource:
    """A source that is pulled for batches of records."""

    is_given_rows = False  # whether a task is given what it reads, by `reading`

    def reading(self, batches: Iterable[Any]) -> BatchSource:
        """The source of a subtask that reads these rows, as Arrow batches."""
        return self

    def prepare(self, parallelism: int) -> BatchSource:
        """Called on the driver before the job starts: the source as it travels. PenstockError if it cannot run so."""
        return self

    def batches(self, subtask: int, parallelism: int) -> Iterator[Sequence[Any] | Batch]:
        """The records of one subtask, in order, in batches."""
        raise NotImplementedError

    def locations(self) -> tuple[str, ...]:
        """Paths and URLs of the files and folders that it reads."""
        return ()

    def why_objects(self, functions: ModuleType) -> str:
        """Why records do not come out of it as columns, where an operator takes these; "" where they do."""
        return "this source gives objects"


@dataclass(frozen=True)
class CollectionSource(BatchSource):
    """The elements of a list, which travel with the program, plain data packed. Runs with parallelism 1 (Flink:
    ``FromElementsFunction``)."""

    elements: list[Any] | PackedRecords
    type_info: TypeInformation[Any] | None = None
    native: bool = True  # whether native code may pack them

    def __reduce__(self) -> tuple[Any, ...]:
        elements = self.elements
        if not isinstance(elements, PackedRecords):
            elements = packed(elements, native.functions(self.native)) or elements
        return CollectionSource, (elements, self.type_info, self.native)

    def why_objects(self, functions: ModuleType) -> str:
        elements = self.elements
        plain = isinstance(elements, PackedRecords) or packed(elements, functions) is not None
        return "" if plain else "not all elements are texts, numbers, or tuples of them"

    def prepare(self, parallelism: int) -> CollectionSource:
        if parallelism != 1:
            raise InvalidProgramError(
                f"A collection source cannot have the parallelism {parallelism}: each subtask would emit all "
                "elements. Set the parallelism of the next operator instead.",
                flink_class="java.lang.IllegalArgumentException",
            )
        return self

    def batches(self, subtask: int, parallelism: int) -> Iterator[Sequence[Any]]:
        elements = self.elements
        if isinstance(elements, PackedRecords):
            return elements.batches()
        return (elements[i : i + _BATCH] for i in range(0, len(elements), _BATCH))


@dataclass(frozen=True)
class SequenceSource(BatchSource):
    """The integers from start to end, both included; subtask i of p emits start + i, start + i + p, … (Flink:
    StatefulSequenceSource)."""

    start: int
    end: int

    def batches(self, subtask: int, parallelism: int) -> Iterator[Sequence[Any]]:
        step = parallelism * _BATCH
        for first in range(self.start + subtask, self.end + 1, step):
            yield range(first, min(first + step, self.end + 1), parallelism)
