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
    def of_arrow(columns: Any, names: list[str] | None = None, single: bool = False) -> Batch | None:
        """The records whose fields are the columns of an Arrow batch.

        Args:
            columns: the Arrow batch, of any library.
            names: of the fields of rows; None for tuples.
            single: whether the only column has the records themselves.

        Returns:
            The batch, which shares the memory of numbers and texts; None when it cannot have such columns.

        Raises:
            ValueError: there are not as many names as columns, or several columns for single values.
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

    @property
    def timed(self) -> bool:
        """Whether records have timestamps."""

    def time(self, row: int) -> int | None:
        """The timestamp of a record; None when it has none.

        Args:
            row: its place.

        Raises:
            ValueError: there are not so many.
        """

    def stamps(self) -> list[tuple[int, int | None]] | bytes:
        """The timestamps as ``penstock.runtime.buffers.stamps.pack`` has them. O(records).

        Returns:
            Runs of equal ones, each with the place of its first record; or the bytes of an array of 64-bit integers.
        """

    def with_stamps(self, stamps: Sequence[tuple[int, int | None]] | bytes) -> Batch:
        """The same records with timestamps out of what ``stamps`` gives.

        Args:
            stamps: runs of equal ones, or the bytes of an array.

        Raises:
            ValueError: there are not as many as records.
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

    def look(
        self, first: int, looks: tuple[int, int, int], limits: tuple[int, int, int, int]
    ) -> tuple[int, int, int, int]:
        """Looks at how large the records are that wait for a buffer, as ``Filling.full`` does: up to the last of this batch, or
        to before the look that finds the buffer full.

        Args:
            first: how many records wait in front of these, all of them looked at.
            looks: how many wait at the next look; how many did at the last one, and about how many bytes these have.
            limits: records and bytes of a full buffer; how many records are between two looks at the most; every how many
                records one is looked at.

        Returns:
            The looks as they are then, and about how many bytes a record has by the last of them; 0 where there was none.

        Raises:
            ValueError: not all of those in front were looked at, or none is.
        """

    def encode(self, key: int, extras: bytes) -> bytes | None:
        """The records as a buffer of typed columns.

        Args:
            key: what ``key_field`` says of their keys.
            extras: bytes that travel with them.

        Returns:
            The bytes that ``encode_columns`` makes of the objects; None when the format does not have such columns.
        """

    def to_arrow(self, names: list[str] | None) -> Any:
        """The fields of the records as the columns of a batch of pyarrow.

        Args:
            names: of the fields; None where the records are single values, for which the column has an empty name.

        Returns:
            The batch, which shares the memory of numbers and texts; None where records have other fields, one is None,
            or a field has values inside of values.
        """

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
class Accumulator:
    """A translated function that keeps values from record to record: it takes them and a record, and gives them as a tuple.

    Args:
        program: the function; the record is its last argument.

    Raises:
        ValueError: it takes no argument, or gives an iterator.
    """

    def __new__(cls, program: Program) -> Accumulator: ...
    def run(self, batch: Batch, start: int, end: int, kept: Batch) -> tuple[Batch, int]:
        """Take some records.

        Args:
            batch: the records.
            start: the first.
            end: the one behind the last.
            kept: the values that are kept, as the only record of a batch, a tuple.

        Returns:
            The values as they are then, likewise, and the place behind the last record that is done; a record there is
            doubtful, so that Python decides.

        Raises:
            ValueError: there are not so many records, or another number of values.
        """

@final
class Program:
    """A function of Python, translated.

    Args:
        text: JSON, as ``penstock.compiler`` writes it.
        classes: those whose objects it makes, each with the names of its attributes, by the number that they have in it.

    Raises:
        ValueError: the text is not a program, or calls something that is not known here; or objects of a class are more than
            their attributes.
    """

    def __new__(cls, text: str, classes: Sequence[tuple[type, Sequence[str]]] | None = None) -> Program: ...
    @property
    def parameters(self) -> int:
        """How many arguments the function takes."""

@final
class Layout:
    """How records are written as text or bytes.

    Args:
        text: JSON, as ``penstock.runtime.columns.layouts`` makes it.

    Raises:
        ValueError: the text is not a layout.
    """

    def __new__(cls, text: str) -> Layout: ...
    def write(self, batch: Batch, start: int, end: int, room: int | None = None) -> tuple[bytes, int, bool]:
        """Some records, one after the other.

        Args:
            batch: the records.
            start: the first.
            end: the one behind the last.
            room: the number of bytes; the record that needs more is the last one. None for any number.

        Returns:
            Their bytes; the place behind the last record in them; and whether the record there is doubtful, so that Python
            writes it.

        Raises:
            ValueError: there are not so many records.
        """
    def messages(self, batch: Batch, start: int, end: int) -> tuple[list[bytes], int, bool]:
        """Some records, each for itself.

        Args:
            batch: the records.
            start: the first.
            end: the one behind the last.

        Returns:
            The bytes of each; the rest is as that of ``write``.

        Raises:
            ValueError: there are not so many records.
        """
    def texts(self, batch: Batch, start: int, end: int) -> tuple[list[str], int, bool]:
        """Some records, each as a text.

        Args:
            batch: the records.
            start: the first.
            end: the one behind the last.

        Returns:
            The text of each; the rest is as that of ``write``.

        Raises:
            ValueError: there are not so many records, or the layout is one of bytes.
        """
