"""Sources that say on the driver what there is to read, in *splits*, and read each split wherever it is sent.

A split is a range of positions. What is read carries the position after it, from which another reader could go on. A
bounded job reads each split to its end. An unbounded source is read in *steps*: before each it is asked on the driver
what there is, and each split is read from where the step before has left it. Positions are compared by ``==`` and kept:
plain data, numbers, texts, lists, dicts or None, or what can be pickled. Source of the semantics: ``Source``,
``SplitEnumerator`` and ``SourceReader`` (Flink 1.12 and later). There a reader asks for its next split when it has read
one; here splits are dealt out before, by weight, so that a retried task reads the same."""

from __future__ import annotations

import heapq
from abc import ABC
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from penstock.common import checks
from penstock.common.typeinfo import TypeInformation
from penstock.errors import ConfigurationError, InvalidProgramError, PenstockError
from penstock.runtime.io.sources import BatchSource

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T", covariant=True)


@dataclass(frozen=True)
class Split:
    """A piece of what a source reads; plain data that travels.

    Attributes:
        id: names it among the splits of the source, in every run.
        start: position of its first record; None for the beginning.
        end: position behind its last record; None for where it ends by itself. Of an unbounded source it is the
            position behind what there is now, None if unknown.
        weight: how much there is to read, as far as it is known, in any unit.
        finite: of an unbounded source: whether it is over for good once it has been read to its end, as a file is, and
            a partition of a topic is not.
    """

    id: str
    start: Any = None
    end: Any = None
    weight: int = 1
    finite: bool = False


@dataclass(frozen=True)
class Records(Generic[T]):
    """Some records of a split, in order; empty if only a signal or a position is to be passed on.

    Attributes:
        position: behind the last of them; a split that starts there holds what is left.
        timestamps: of the records, in milliseconds since the epoch, None for a record without; None where none has one.
        watermark: promise that no later record of this split has this timestamp, in milliseconds, or a smaller one.
        idle: whether the split is to hold nobody's watermark back until its next record.
    """

    values: Sequence[T]
    position: Any
    timestamps: Sequence[int | None] | None = None
    watermark: int | None = None
    idle: bool = False


class LostSplitsError(ConfigurationError):
    """Splits that were read in part are not there any more, or not as they were: their rest cannot be read.

    Attributes:
        splits: their ids.
    """

    def __init__(self, message: str, splits: Iterable[str]) -> None:
        super().__init__(f"{message} {LEAVING}")
        self.splits: tuple[str, ...] = tuple(splits)


LEAVING = (
    "To leave the rest unread, set execution.savepoint.ignore-unclaimed-state to true (--allow-non-restored-state) for "
    "one run."
)


def check_begun(source: Source[Any], splits: Iterable[Split], positions: Mapping[str, Any]) -> None:
    """A bounded source still gives every split that was read in part: those of ``positions``, by id, have been begun
    and are not over. LostSplitsError if it does not."""
    lost = positions.keys() - {split.id for split in splits} if positions else ()
    if lost:
        named = ", ".join(f"{name!r} up to position {positions[name]!r}" for name in sorted(lost)[:3])
        raise LostSplitsError(
            f"{source!r} was read in part by an earlier run, and does not give {len(lost)} of its splits any more: "
            f"{named}. A file was removed or cut, or the program reads otherwise now (other paths, another format, "
            "or pieces). Bring back what was there.",
            sorted(lost),
        )


class Source(ABC, Generic[T]):
    """A source for ``from_source``. Sources of one's own define :meth:`splits` and :meth:`read`; one that does not can
    be planned, not run.

    Attributes:
        bounded: whether it ends by itself. If not, :meth:`splits` is asked again before every step.
        produced_type: type of its records, where ``from_source`` is given none.
        together: whether its splits are there all the time, as the partitions of a topic are: then each has watermarks
            of its own, and those of a subtask are the least of them, as far as splits have not ended. Else, as of
            files, a subtask has one sequence of watermarks for all of its splits.
        advice: what to use instead where it can be planned, not run.
    """

    bounded: bool = True
    together: bool = False
    advice: str = ""
    produced_type: TypeInformation[object] | None = None

    def __new__(cls, *arguments: Any, **_: Any) -> Self:
        checks.no_java_class(cls, Source, arguments, "Use a connector, or derive a class with splits() and read().")
        return super().__new__(cls)

    def splits(self, parallelism: int) -> Sequence[Split]:
        """The splits to read, asked on the driver: of a bounded source once before a job starts, of an unbounded one
        before every step. It answers at once, without waiting for more.

        An unbounded source gives every split that there is now, also those that have been read as far as they go, each
        with an ``end`` behind what there is now where that is known. A split keeps its id for ever, so that its next
        range goes on where the one before has stopped; new splits may come.

        Args:
            parallelism: number of subtasks that will read; where the job resumes with another number, still the first
                one, so that splits which depend on it stay what they were.
        """
        raise NotImplementedError(f"{type(self).__name__}.splits")

    def pending(self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()) -> Sequence[Split]:
        """The splits of an unbounded source with something to read now, each from where it has been left: what is asked
        on the driver before a step. Steps may leave some of them to later ones. The default asks :meth:`splits`,
        O(splits).

        Args:
            parallelism: number of subtasks that will read.
            positions: where splits have been left, by id; those that are over need not be there.
            over: ids of finite splits that have been read to their end.
        """
        splits = list(self.splits(parallelism))
        _check(splits, type(self).__name__)
        left = (split for split in splits if split.id not in over)
        begun = (replace(split, start=positions.get(split.id, split.start)) for split in left)
        return [split for split in begun if split.end is None or split.start != split.end]

    def available(
        self, parallelism: int, positions: Mapping[str, Any], over: Set[str] = frozenset()
    ) -> Sequence[Split]:
        """As :meth:`pending`, but all of it: what a job is to read that ends with what there is now, and asks once.
        A source that holds back in :meth:`pending` what a step cannot take overrides it."""
        return self.pending(parallelism, positions, over)

    def ended(self) -> bool:
        """Whether nothing is to come behind what :meth:`pending` has said last. Asked on the driver; when all of
        that has been read too, the source has ended for good, and with it its watermarks."""
        return self.bounded

    def close(self) -> None:
        """Give back what :meth:`splits` and :meth:`pending` keep open. Asked on the driver when the job has ended."""

    def limited(self, split: Split, records: int) -> Split:
        """A split cut so that one step reads about so many records of it, 1 or more. Asked on the driver.

        The default leaves it as it is: then the reader stops at the first :class:`Records` with which it has read that
        many. A source that knows where records lie cuts instead, so that the step is the same whenever it is repeated.

        Returns:
            a split with the same id and start that ends there or earlier; then it is not over at its end, even if it is
            finite.
        """
        return split

    def records_in(self, splits: Iterable[Split]) -> int | None:
        """How many records these splits have, from their starts to their ends; None if that is not known, as by
        default. Asked on the driver after each step, of what is not read yet, for ``pendingRecords``."""
        return None

    def read(self, split: Split) -> Iterator[Records[T]]:
        """The records of a split, in order, some at a time. Called in a task, on a copy of the source.

        It ends at the split's end or, if the split has none, where there is nothing more now: it does not wait long.
        """
        raise NotImplementedError(f"{type(self).__name__}.read")

    def read_columns(self, split: Split, functions: ModuleType, wanted: bool) -> Iterator[Records[T]]:
        """As :meth:`read`, where native code is in use, and records may be those of a native batch: Penstock's own
        sources override it. ``wanted`` is whether columns go on as they are, and do not become objects at once."""
        return self.read(split)

    def why_objects(self, functions: ModuleType) -> str:
        """Why :meth:`read_columns` gives objects, where columns are wanted; "" where it gives native batches, but for
        records that native code cannot vouch for."""
        return "this source gives objects"

    def resume(self, positions: Mapping[str, Any] | None) -> None:
        """Called on the driver when a job starts, before it asks for splits: what was kept of an earlier run counts no
        more.

        Args:
            positions: of the splits in the manifest from which the job goes on, by id; None where it begins.
        """

    def positions_of_flink(self, state: str, elements: Iterable[object]) -> Mapping[str, Any] | None:
        """The positions by id of the split, from a list of state that Flink's source of this kind has: where a job
        resumes that begins from a savepoint of Flink. None if that is not known, as by default.

        Args:
            state: the name of the list.
            elements: what is in it, as :func:`penstock.flink.read_entries` reads it.

        Raises ValueError: the list is that of another source."""
        return None

    def committed(self, positions: Mapping[str, Any]) -> None:
        """Called on the driver when a manifest has been written: a restart resumes from these positions, by id of
        the split. What fails in it is the source's own concern: the job goes on."""

    def remembers(self, split: Split) -> bool:
        """Whether the position of a split gets into a manifest as soon as the split is seen, also if nothing of it has
        been read: a source that is resumed could not find it again as it was. Asked on the driver.

        The default says so of splits that are there all the time: which of them were there at first decides where
        reading begins.
        """
        return self.together

    def locations(self) -> Sequence[str]:
        """Paths and URLs of the files and folders that it reads, if any: local ones are refused where a job runs on
        several machines."""
        return ()

    def readable(self) -> bool:
        """Whether it says how it is read."""
        return type(self).splits is not Source.splits and type(self).read is not Source.read


@dataclass(frozen=True)
class SplitSource(BatchSource):
    """A source as it travels: with the splits of each subtask, in the order in which it reads them."""

    source: Source[Any]
    dealt: tuple[tuple[Split, ...], ...] = ()

    @property
    def bounded(self) -> bool:
        return self.source.bounded

    def prepare(self, parallelism: int) -> SplitSource:
        """Ask the source for its splits, and deal them out. InvalidProgramError, by its exception, if the source
        fails."""
        name = type(self.source).__name__
        try:
            splits = list(self.source.splits(parallelism))
        except PenstockError:
            raise
        except Exception as error:
            raise InvalidProgramError(
                f"The source {name} could not say what there is to read: its splits({parallelism}) raised "
                f"{type(error).__name__}: {error}. It runs on the driver, before the job starts."
            ) from error
        _check(splits, name)
        return SplitSource(self.source, deal(splits, parallelism))

    def locations(self) -> tuple[str, ...]:
        return tuple(self.source.locations())

    def why_objects(self, functions: ModuleType) -> str:
        return self.source.why_objects(functions)


def deal(splits: Sequence[Split], parallelism: int) -> tuple[tuple[Split, ...], ...]:
    """Splits for each subtask: the heaviest first, each to whom has least; a subtask reads its own in their given
    order. O(n log n)."""
    shares: list[list[int]] = [[] for _ in range(parallelism)]
    loads = [(0, subtask) for subtask in range(parallelism)]
    for index in sorted(range(len(splits)), key=lambda i: (-splits[i].weight, i)):
        load, subtask = heapq.heappop(loads)
        shares[subtask].append(index)
        heapq.heappush(loads, (load + splits[index].weight, subtask))
    return tuple(tuple(splits[index] for index in sorted(share)) for share in shares)


def _check(splits: list[Any], name: str) -> None:
    seen: set[str] = set()
    for split in splits:
        if not isinstance(split, Split):
            raise InvalidProgramError(
                f"The source {name} gave {split!r} as a split. Its splits() returns Split objects: Split('part-1')."
            )
        if split.id in seen:
            raise InvalidProgramError(
                f"The source {name} gave two splits with the id {split.id!r}. An id names one split of its source."
            )
        seen.add(split.id)
