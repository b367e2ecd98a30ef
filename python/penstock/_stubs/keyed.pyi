"""Operators with keyed state on columns. Any is a record, a key or a value of whatever type."""

from typing import Any, final

from penstock._stubs.batches import Batch, Program

@final
class ColumnRouter:
    """Sends the records of a batch to the subtasks that own their keys.

    Args:
        key: gives the key of a record.
        key_type: code of the declared type of the key (``key_types.native_code``).
        max_parallelism: number of key groups.
        channels: number of subtasks.

    Raises:
        ValueError: the code is none, a number is zero, or the program does not take one argument.
    """

    def __new__(cls, key: Program, key_type: bytes, max_parallelism: int, channels: int) -> ColumnRouter: ...
    def split(self, batch: Batch) -> list[tuple[int, Batch]] | None:
        """Distribute the records of a batch. O(records + channels).

        Args:
            batch: the records.

        Returns:
            Channel and records, in order, for each channel that gets some; None where the key of some record is in doubt.
        """

@final
class TimestampAssigner:
    """Gives the records of a batch the timestamps that a program returns.

    Args:
        assigner: takes a record and its timestamp.
        unset: stands for no timestamp.

    Raises:
        ValueError: the program takes another number of arguments.
    """

    def __new__(cls, assigner: Program, unset: int | None) -> TimestampAssigner: ...
    def run(self, batch: Batch, start: int, end: int) -> tuple[Batch | None, int | None, int]:
        """Give some records their timestamps.

        Args:
            batch: the records.
            start: the first.
            end: the one behind the last.

        Returns:
            The records up to the first that is in doubt; the latest of their timestamps, None without a record; and the place
            behind the last of them.

        Raises:
            ValueError: there are not so many records.
        """

@final
class KeyedWindows:
    """Windows by key with the default trigger, as ``penstock.runtime.operators.window`` has them, on columns.

    Args:
        key: gives the key of a record.
        assigner: ``panes`` or ``sessions``.
        spans: in milliseconds: size, slide and offset of panes; the gap of sessions.
        contents: ``sum``, ``min``, ``max``, ``min_by``, ``max_by``, ``min_by_last`` or ``max_by_last`` of a field, ``reduce``, ``aggregate``, or ``elements``: all of them.
        position: of the field.
        programs: of ``reduce`` the function; of ``aggregate`` create_accumulator, add, get_result, and merge if there is one.
        lateness: how long a window lives on after its end, in milliseconds.
        side: whether late records are wanted, and not only counted.
        shows: whether results come with key and window, as (key, start, end, fires, clears, value).
        clears: whether these also say which windows are over.
        seeing: a function of key, window and list of contents, or without the key: what it gives are the results.

    Raises:
        ValueError: these do not go together.
    """

    def __new__(
        cls,
        key: Program,
        assigner: str,
        spans: list[int],
        contents: str,
        position: int = 0,
        programs: list[Program] = ...,
        lateness: int = 0,
        side: bool = False,
        shows: bool = False,
        clears: bool = False,
        seeing: Program | None = None,
    ) -> KeyedWindows: ...
    def __len__(self) -> int: ...
    def memory(self) -> int:
        """How much memory they take, in bytes. O(windows, and items of accumulators)."""

    def has_objects(self) -> bool:
        """Whether accumulators are changed in place, so that they are by themselves in ``news`` and ``load``."""

    def is_empty(self) -> bool:
        """Whether there is neither a window nor a timer."""

    def next_due(self) -> int | None:
        """The time of the first timer; None where there is none."""

    def run(
        self, batch: Batch, start: int, end: int, watermark: int, now: int | None = None
    ) -> tuple[Batch | None, list[int], int, int, bool]:
        """Put some records into their windows.

        Args:
            batch: the records.
            start: the first.
            end: the one behind the last.
            watermark: of the operator; the smallest where the clock counts.
            now: by the clock, where that counts.

        Returns:
            What has fired at once, or None; the places of late records, all of which came before what has fired; how many
            late records were dropped; the place behind the last record that is done; whether the record there is doubtful, so
            that Python decides. If it is not, and there is one, the next call begins with it.

        Raises:
            ValueError: there are not so many records.
        """

    def advance(self, limit: int) -> tuple[Batch | None, bool, bool]:
        """Fire timers up to a time, in order.

        Args:
            limit: the watermark, or the time of the clock.

        Returns:
            The results, or None; whether more timers are due; whether the next one is doubtful, so that Python goes on.
        """

    def news(
        self,
    ) -> tuple[list[Batch], list[Batch], list[Batch], list[Batch], bool, list[Batch], list[Any], list[bool]]:
        """What the state in Python does not know; it counts as known from then on. O(changes).

        Returns:
            Batches of windows with nothing in them any more (key, start, end); of what is in others (key, start, end,
            contents); of windows that merge and are over (key, start, end); of new ones (key, start, end, and start and end of
            the one under whose name the contents are). Whether all timers follow, as they are in the heap, or what has been
            done with them; and these (whether added, time, key, start, end). Accumulators that are changed in place: then there is
            None instead of the contents. Of which contents Python has others.

        Raises:
            ValueError: something of it cannot be in a batch.
        """

    def load(
        self, listed: list[Batch], values: list[Batch], timers: list[Batch], contents: list[Any] | None = None
    ) -> bool:
        """Take the state of Python in place of this one.

        Args:
            listed: windows that merge, as in ``news``.
            values: what is in windows.
            timers: all timers as they are in the heap (time, key, start, end).
            contents: accumulators that are changed in place; then there is None in ``values``.

        Returns:
            Whether all of it can be here; if not, nothing is.
        """

    def clear(self) -> None:
        """Forget everything."""

@final
class KeyedCounts:
    """Windows by key on the global window with a ``CountTrigger``, as ``penstock.runtime.operators.window`` has them, on columns.

    Args:
        key: gives the key of a record.
        every: with how many records of a key its window fires.
        purges: whether it is emptied then.
        most: how many records an evictor leaves before it fires; None where there is none.
        contents: as of ``KeyedWindows``.
        position: of the field.
        programs: as of ``KeyedWindows``, without merge.
        shows: whether results come with key, as (key, start, end, fires, clears, value).
        seeing: a function of key, None and list of contents, or without the key: what it gives are the results.

    Raises:
        ValueError: these do not go together.
    """

    def __new__(
        cls,
        key: Program,
        every: int,
        purges: bool,
        most: int | None,
        contents: str,
        position: int = 0,
        programs: list[Program] = ...,
        shows: bool = False,
        seeing: Program | None = None,
    ) -> KeyedCounts: ...
    def __len__(self) -> int: ...
    def memory(self) -> int:
        """How much memory they take, in bytes. O(windows, and items of accumulators)."""

    def has_objects(self) -> bool:
        """Whether accumulators are changed in place, so that they are by themselves in ``news`` and ``load``."""

    def counting(self) -> int:
        """How many windows have records that came since they fired. O(windows)."""

    def run(self, batch: Batch, start: int, end: int) -> tuple[Batch | None, int, bool]:
        """Put some records into the windows of their keys.

        Args:
            batch: the records.
            start: the first.
            end: the one behind the last.

        Returns:
            What has fired, or None; the place behind the last record that is done; whether the record there is doubtful, so that
            Python decides. If it is not, and there is one, the next call begins with it.

        Raises:
            ValueError: there are not so many records.
        """

    def news(self) -> tuple[list[Batch], list[Batch], list[Batch], list[Any], list[bool]]:
        """What the state in Python does not know; it counts as known from then on. O(changes).

        Returns:
            Batches of empty windows (key and two numbers), of what is in others (key, two numbers, contents), and of how many
            records came since these fired (key, number). Accumulators that are changed in place: then there is None instead of
            the contents. Of which contents Python has others.

        Raises:
            ValueError: something of it cannot be in a batch.
        """

    def load(self, values: list[Batch], counts: list[Batch], contents: list[Any]) -> bool:
        """Take the state of Python in place of this one.

        Args:
            values: what is in windows (key, 0, 0, contents).
            counts: how many records came since they fired (key, number).
            contents: accumulators that are changed in place; then there is None in ``values``.

        Returns:
            Whether all of it can be here; if not, nothing is.
        """

    def clear(self) -> None:
        """Forget everything."""
