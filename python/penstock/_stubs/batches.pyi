"""Records in columns, and translated functions that run on them. Any is a record of whatever type."""

from collections.abc import Iterator, Sequence
from typing import Any, final, overload

@final
class Batch:
    """Records of one plain type in columns, with their timestamps. It never changes, and reads as a sequence of objects."""

    @staticmethod
    def of(values: list[Any], times: Sequence[int | None] | None = None) -> Batch | None:
        """The columns of some objects. O(objects).

        Args:
            values: the objects.
            times: their timestamps.

        Returns:
            The batch; None when the objects are not of one plain type, or would not come back as equal objects of the same
            classes.

        Raises:
            ValueError: there are not as many timestamps as objects.
        """

    @staticmethod
    def of_buffer(data: bytes) -> tuple[Batch, int, bytes]:
        """The records of a buffer of typed columns.

        Args:
            data: what ``encode_columns`` or ``encode`` has made.

        Returns:
            The batch, without timestamps; what is known of the key; the bytes that travelled with them.

        Raises:
            ValueError: these bytes are something else.
        """

    @staticmethod
    def of_lines(data: bytes) -> Batch | None:
        """The lines of a text in UTF-8.

        Args:
            data: the text; it begins with a line.

        Returns:
            The lines, without their ends, which are line feeds, with a carriage return or without; None when the bytes are not UTF-8.
        """

    @staticmethod
    def concat(parts: list[Batch]) -> Batch | None:
        """The records of some batches, one after the other.

        Args:
            parts: the batches.

        Returns:
            The batch; None when they are of different types, or larger together than a batch can be.
        """

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: int, /) -> Any: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...
    def objects(self, start: int = 0, end: int | None = None) -> list[Any]:
        """The records as objects, made anew. O(records).

        Args:
            start: the first.
            end: the one behind the last; that of the batch if missing.

        Raises:
            ValueError: there are not so many.
        """

    def slice(self, start: int, end: int) -> Batch:
        """Some of the records, without a copy.

        Args:
            start: the first.
            end: the one behind the last.

        Raises:
            ValueError: there are not so many.
        """

    def take(self, indices: Sequence[int]) -> Batch:
        """The records at some places.

        Args:
            indices: the places, in any order.

        Raises:
            ValueError: there are not so many.
        """

    @property
    def times(self) -> list[int | None] | None:
        """The timestamps; None when no record has one."""

    def with_times(self, times: Sequence[int | None] | None) -> Batch:
        """The same records with other timestamps.

        Args:
            times: the timestamps, or None.

        Raises:
            ValueError: there are not as many as records, or one is neither an int of 64 bits nor None.
        """

    def text_size(self, start: int, end: int, step: int) -> int:
        """About how many bytes some records take, as ``penstock.runtime.buffers.codec.text_size`` counts them.

        Args:
            start: the first.
            end: the one behind the last.
            step: from one to the next.

        Raises:
            ValueError: there are not so many, or the step is zero.
        """

    def encode(self, key: int, extras: bytes) -> bytes | None:
        """The records as a buffer of typed columns.

        Args:
            key: what ``key_field`` says of their keys.
            extras: bytes that travel with them.

        Returns:
            The bytes that ``encode_columns`` makes of the objects; None when the format does not have such columns.
        """

@final
class KeyedWindows:
    """Windows by key with the default trigger, as ``penstock.runtime.operators.window`` has them, on columns.

    Args:
        key: gives the key of a record.
        assigner: ``panes`` or ``sessions``.
        spans: in milliseconds: size, slide and offset of panes; the gap of sessions.
        contents: ``sum``, ``min`` or ``max`` of a field, ``reduce``, ``aggregate``, or ``elements``: all of them.
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

    def news(self) -> tuple[list[Batch], list[Batch], list[Batch], list[Batch], bool, list[Batch]]:
        """What the state in Python does not know; it counts as known from then on. O(changes).

        Returns:
            Batches of windows with nothing in them any more (key, start, end); of what is in others (key, start, end,
            contents); of windows that merge and are over (key, start, end); of new ones (key, start, end, and start and end of
            the one under whose name the contents are). Whether all timers follow, as they are in the heap, or what has been
            done with them; and these (whether added, time, key, start, end).

        Raises:
            ValueError: something of it cannot be in a batch.
        """

    def load(self, listed: list[Batch], values: list[Batch], timers: list[Batch]) -> bool:
        """Take the state of Python in place of this one.

        Args:
            listed: windows that merge, as in ``news``.
            values: what is in windows.
            timers: all timers as they are in the heap (time, key, start, end).

        Returns:
            Whether all of it can be here; if not, nothing is.
        """

    def clear(self) -> None:
        """Forget everything."""

@final
class Pipeline:
    """Translated functions, one behind the other.

    Args:
        stages: kind (``map``, ``filter`` or ``flat_map``) and program of each.

    Raises:
        ValueError: a kind is another one, or a function does not take one argument, or gives an iterator and is no flat map.
    """

    def __new__(cls, stages: list[tuple[str, Program]]) -> Pipeline: ...
    def run(self, batch: Batch, start: int, end: int) -> tuple[Batch | None, list[int], int, bool]:
        """Run some records through the stages, depth first.

        Args:
            batch: the records.
            start: the first.
            end: the one behind the last.

        Returns:
            What came out, with the timestamps of the records that it came from, or None where nothing did; how many records
            each stage gave; the place behind the last record that is done; and whether the record there is doubtful, so that
            Python decides. If it is not, and there is one, the next call begins with it.

        Raises:
            ValueError: there are not so many records.
        """

@final
class Program:
    """A function of Python, translated.

    Args:
        text: JSON, as ``penstock.compiler`` writes it.

    Raises:
        ValueError: the text is not a program, or calls something that is not known here.
    """

    def __new__(cls, text: str) -> Program: ...
    @property
    def parameters(self) -> int:
        """How many arguments the function takes."""

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
class KeyedReduce:
    """A running reduction per key, on columns. It stands in front of a table of objects: while a key is here the table does not
    know it, or knows an old value. Who changes the table by himself flushes before.

    Args:
        key: gives the key of a record.
        combine: the name of a fold (sum, min, max) and the position of its field; or a program of the value so far and a record.
        table: the reduction so far by key.
        touched: takes each key as soon as the table has a new value of it; None where nobody asks.

    Raises:
        ValueError: the fold is another one, or a program takes another number of arguments.
    """

    def __new__(
        cls, key: Program, combine: tuple[str, int] | Program, table: dict[Any, Any], touched: set[Any] | None = None
    ) -> KeyedReduce: ...
    def run(self, batch: Batch, start: int, end: int) -> tuple[Batch | None, list[int], int, bool]:
        """Reduce some records.

        Args:
            batch: the records.
            start: the first.
            end: the one behind the last.

        Returns:
            As ``Pipeline.run``: the reduction after each record.

        Raises:
            ValueError: there are not so many records.
        """

    def __len__(self) -> int:
        """How many keys are here."""

    def settle(self) -> None:
        """Bring the table up to date. O(changed keys)."""

    def flush(self) -> None:
        """The same; and from now on the table knows best. O(keys)."""
