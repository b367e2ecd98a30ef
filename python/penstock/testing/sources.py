"""A source alone, read step by step as an unbounded job reads it: by hand, or checked for all that a job needs.

A job asks a source on the driver what is pending, cuts it, reads it in tasks on copies of the source, and may fail
after any step and resume from what it had noted. What must hold is in :class:`~penstock.runtime.io.splits.Source`.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from penstock.common import checks
from penstock.job.pickled_code import pickle_operator
from penstock.runtime.io.splits import Records, Source, Split

_STEPS = 100_000
_RESUMED = 200
"""So many places at the most a reader is started at in one check."""


class SourceContractError(AssertionError):
    """A source does not do what a job needs of it."""


class SourceTestHarness:
    """Reads a source in steps, as a job does; SourceContractError if it does something that a job cannot work with."""

    def __init__(self, source: Source[Any], parallelism: int = 1) -> None:
        hint = "Give an object of a subclass of Source with splits() and read()."
        self.source: Source[Any] = checks.instance(source, "SourceTestHarness", Source, hint)
        self.parallelism: int = checks.integer(parallelism, "SourceTestHarness", "parallelism")
        self.positions: dict[str, Any] = {}  # where splits have been left, by id
        self.over: set[str] = set()  # ids of the splits that have been read to their end
        self.read: dict[str, list[Any]] = {}  # the records of each split so far
        self._ends: dict[str, Any] = {}
        self._promised: dict[str, int] = {}
        self._asked: list[Split] | None = None

    def pending(self) -> list[Split]:
        """What is to be read now."""
        if self.source.bounded:
            if self._asked is None:
                self._asked = _checked(self.source.splits(self.parallelism), self.source)
            begun = [replace(split, start=self.positions.get(split.id, split.start)) for split in self._asked]
            left = (split for split in begun if split.id not in self.over)
            return [split for split in left if split.end is None or split.start != split.end]
        splits = self.source.pending(self.parallelism, dict(self.positions), frozenset(self.over))
        for split in (checked := _checked(splits, self.source)):
            self._check_pending(split)
        return checked

    def step(self, records: int | None = None) -> list[Any]:
        """Read what is pending, split after split: about so many records of each at most, None for all."""
        values: list[Any] = []
        for split in self.pending():
            values += self._step(split, records)
        return values

    def run(self, records: int | None = None) -> list[Any]:
        """The records of steps until nothing is pending; an endless source has to come to an end of what it has."""
        values: list[Any] = []
        for _ in range(_STEPS):
            if not self.pending():
                return values
            values += self.step(records)
        raise SourceContractError(
            f"{self.source!r} has something to read after {_STEPS} steps still. Let the test's source stop growing."
        )

    def restarted(self, source: Source[Any] | None = None) -> SourceTestHarness:
        """A job that goes on after a failure of its driver, with the program's new source; None for a copy."""
        other = SourceTestHarness(_copy(self.source) if source is None else source, self.parallelism)
        other.positions, other.over = _noted(self.positions, self.source), set(self.over)
        other._ends, other._promised = dict(self._ends), dict(self._promised)
        other._asked = None if self._asked is None else list(self._asked)  # a bounded source is asked once
        other.read = {name: list(records) for name, records in self.read.items()}
        return other

    def _check_pending(self, split: Split) -> None:
        position = self.positions.get(split.id, split.start)
        if split.start != position:
            raise SourceContractError(
                f"pending() of {self.source!r} begins the split {split.id!r} at {split.start!r}, and it has been left "
                f"at {position!r}. Give it with start=positions.get(split.id, split.start)."
            )
        before = self._ends.get(split.id)
        if _less(split.end, before):
            raise SourceContractError(
                f"The split {split.id!r} of {self.source!r} had the end {before!r} and has {split.end!r} now. An end "
                "may stay or grow; what has been read cannot be taken back."
            )
        self._ends[split.id] = split.end

    def _step(self, split: Split, records: int | None) -> list[Any]:
        cut = split if records is None else self._limited(split, records)
        values: list[Any] = []
        for some in reading(_copy(self.source), cut):
            self._check_promise(split.id, some)
            values += some.values
            self.positions[split.id] = some.position
            if records is not None and len(values) >= records:
                break
        else:
            self._exhausted(split, cut)
        self.read.setdefault(split.id, []).extend(values)
        return values

    def _limited(self, split: Split, records: int) -> Split:
        cut = self.source.limited(split, records)
        kept, empty = (cut.id, cut.start) == (split.id, split.start), cut.end is not None and cut.end == split.start
        if not kept or (empty and cut.end != split.end) or _less(split.end, cut.end):
            raise SourceContractError(
                f"limited({split!r}, {records}) of {self.source!r} gave {cut!r}. It may change the end only, to one "
                "behind the start and not behind the end that was there."
            )
        return cut

    def _exhausted(self, split: Split, cut: Split) -> None:
        if cut.end != split.end:
            split = cut
        elif self.source.bounded or split.finite:
            self.over.add(split.id)
            self.positions.pop(split.id, None)
            return
        position = self.positions.get(split.id, split.start)
        if split.end is not None and position != split.end:
            raise SourceContractError(
                f"read({split!r}) of {self.source!r} stopped at {position!r}, so the rest would be pending for ever. "
                "Its last Records has the split's end as its position; if nothing is left there, give Records([], end)."
            )

    def _check_promise(self, name: str, some: Records[Any]) -> None:
        promised = self._promised.get(name)
        late = [
            time for time in some.timestamps or () if promised is not None and time is not None and time <= promised
        ]
        if late:
            raise SourceContractError(
                f"The split {name!r} of {self.source!r} gave a record of {late[0]} behind the watermark {promised}. A "
                "watermark promises that none of this time or an earlier one is to come."
            )
        if some.watermark is not None:
            self._promised[name] = max(some.watermark, some.watermark if promised is None else promised)


def reading(source: Source[Any], split: Split) -> Iterator[Records[Any]]:
    """The records that a source reads of a split, checked."""
    before = split.start
    for some in source.read(split):
        if not isinstance(some, Records):  # type: ignore[reportUnnecessaryIsInstance] - users'
            raise SourceContractError(
                f"read() of {source!r} gave {checks.shown(some)}. Give Records(values, position)."
            )
        if some.timestamps is not None and len(some.timestamps) != len(some.values):
            raise SourceContractError(
                f"read() of {source!r} gave {len(some.values)} records and {len(some.timestamps)} timestamps. Give one "
                "for each, None for a record without."
            )
        if some.values and some.position == before:
            raise SourceContractError(
                f"read() of {source!r} gave {some.values[0]!r} with the position {before!r}, where it had been before. "
                "A position lies behind the last record that comes with it."
            )
        before = _noted({split.id: some.position}, source)[split.id]
        yield some


def check_source(
    make: Callable[[], Source[Any]],
    *,
    parallelism: int = 2,
    grow: Sequence[Callable[[], object]] = (),
    sizes: Sequence[int] = (1, 2, 7),
) -> dict[str, list[Any]]:
    """Hold a source to what an unbounded job needs: the same records read at once, in steps of several sizes, with a
    new driver after each step, and from every position it has named. O(records²).

    Args:
        make: a source as the program makes it; called for every run, each of the same records from the beginning.
        parallelism: of the job.
        grow: what happens outside between steps, such as a file that is added; done in order, in every run.
        sizes: records of a step.

    Returns:
        The records of each split.

    Raises:
        SourceContractError: it says what is wrong, and what to do.
    """
    expected = SourceTestHarness(make(), parallelism)
    for happens in grow:
        happens()
    expected.run()
    for size in (*sizes, None):
        for restarts in (False, True):
            _compare(expected.read, _in_steps(make, parallelism, grow, size, restarts), expected.source, size, restarts)
    _check_positions(make, parallelism, grow)
    return expected.read


def _in_steps(
    make: Callable[[], Source[Any]],
    parallelism: int,
    grow: Sequence[Callable[[], object]],
    size: int | None,
    restarts: bool,
) -> dict[str, list[Any]]:
    harness, still = SourceTestHarness(make(), parallelism), list(reversed(grow))
    stuck = 0
    for _ in range(_STEPS):
        before = dict(harness.positions), set(harness.over)
        if not harness.step(size) and not still and not harness.pending():
            break
        stuck = stuck + 1 if before == (harness.positions, harness.over) and not still else 0
        if stuck > 3:
            raise SourceContractError(
                f"{harness.source!r} says that {[split.id for split in harness.pending()]} can be read, and reads "
                "nothing of them. Give them an end that is reached, or leave them out of splits() until there is more."
            )
        if still:
            still.pop()()
        harness = harness.restarted() if restarts else harness
    return harness.read


def _compare(
    expected: dict[str, list[Any]], actual: dict[str, list[Any]], source: Source[Any], size: int | None, restarts: bool
) -> None:
    way = f"in steps of {'what there is' if size is None else size}{', restarted after each,' if restarts else ''}"
    for name in sorted({*expected, *actual}):
        whole, parts = expected.get(name, []), actual.get(name, [])
        if whole != parts:
            at = next(
                (i for i, (a, b) in enumerate(zip(whole, parts, strict=False)) if a != b), min(len(whole), len(parts))
            )
            raise SourceContractError(
                f"The split {name!r} of {source!r} read {way} has {len(parts)} records, and read at once "
                f"{len(whole)}; the first difference is at {at}: {parts[at : at + 3]!r} instead of "
                f"{whole[at : at + 3]!r}. Records must depend on positions only, and ids on what they name."
            )


def _check_positions(make: Callable[[], Source[Any]], parallelism: int, grow: Sequence[Callable[[], object]]) -> None:
    harness = SourceTestHarness(make(), parallelism)
    for happens in grow:
        happens()
    for split in harness.pending():
        parts = list(reading(_copy(harness.source), split))
        for index, part in list(enumerate(parts))[:_RESUMED]:
            left = replace(split, start=_noted({split.id: part.position}, harness.source)[split.id])
            rest = [value for some in reading(_copy(harness.source), left) for value in some.values]
            wanted = [value for some in parts[index + 1 :] for value in some.values]
            if rest != wanted:
                raise SourceContractError(
                    f"read() of {harness.source!r} from {part.position!r} of the split {split.id!r} on gave "
                    f"{len(rest)} records, {rest[:3]!r}…; behind the Records with this position there were "
                    f"{len(wanted)}, {wanted[:3]!r}…. A position lies behind the last record that comes with it."
                )


def _checked(splits: Sequence[Split], source: Source[Any]) -> list[Split]:
    for split in (listed := list(splits)):
        if not isinstance(split, Split):  # type: ignore[reportUnnecessaryIsInstance] - users'
            raise SourceContractError(f"{source!r} gave {checks.shown(split)} as a split. Give Split('part-1').")
    names = [split.id for split in listed]
    twice = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set[str]()
    if twice:
        raise SourceContractError(f"{source!r} gave several splits with the id {twice.pop()!r}. An id names one.")
    return listed


def _less(end: Any, other: Any) -> bool:
    """Whether one position is known to lie before another."""
    try:
        return end is not None and other is not None and end < other
    except TypeError:
        return False


def _copy(source: Source[Any]) -> Source[Any]:
    """As it travels to tasks."""
    return pickle.loads(pickle_operator(source, type(source).__name__))


def _noted(positions: dict[str, Any], source: Source[Any]) -> dict[str, Any]:
    """Positions as they come back from where they are kept."""
    for name, position in positions.items():
        try:
            same = pickle.loads(pickle.dumps(position)) == position
        except Exception as error:
            raise SourceContractError(
                f"The position {position!r} of the split {name!r} of {source!r} cannot be kept: {error}. Use numbers, "
                "texts, lists, dicts."
            ) from error
        if not same:
            raise SourceContractError(
                f"The position {position!r} of the split {name!r} of {source!r} is another one when it has been kept: "
                "it does not equal its copy. Use numbers, texts, lists, dicts."
            )
    return pickle.loads(pickle.dumps(positions))
