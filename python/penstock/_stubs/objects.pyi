"""A batch of records at a time, for ``penstock.runtime.native``. Any is a record or a key of whatever type."""

from collections.abc import Callable
from typing import Any, Literal, TypeVar, final

_K = TypeVar("_K")
_V = TypeVar("_V")
_T = TypeVar("_T")

@final
class KeyedFold:
    """A cache in front of a table of reductions: keys whose records are plain tuples with an integer in one field.

    While a key is here the table does not know it, or knows an old value; `settle` and `flush` write back what has
    changed. Keys and values that do not fit go through the table and the Python function, so the results are always the
    same. Who changes the table by himself flushes before.

    Args:
        table: the reduction so far by key.
        kind: sum, min or max.
        position: the field.
        reduce: what does the same for records that do not fit; what it raises is passed on.
        touched: takes each key as soon as the table has a new value of it; None where nobody asks.
    """

    def __new__(
        cls,
        table: dict[Any, Any],
        kind: Literal["sum", "min", "max"],
        position: int,
        reduce: Callable[[Any, Any], Any],
        touched: set[Any] | None = None,
    ) -> KeyedFold: ...
    def add(self, keys: list[Any], values: list[Any], results: list[Any]) -> None:
        """Reduce a batch of records.

        Args:
            keys: of the records, in order, each its own canonical form.
            values: the records.
            results: takes the reduction after each record; when an error stops it, those before.
        """

    def add_columns(self, data: bytes) -> list[Any] | None:
        """Reduce a buffer of pairs, a text that is the key and an integer, without making records of it.

        A key that occurs in it several times is looked up once.

        Args:
            data: a buffer of typed columns.

        Returns:
            The reduction after each record, in order. None if the buffer holds something else, or what has been reached does
            not fit; then nothing has been done.

        Raises:
            ValueError: these bytes are no buffer.
        """

    def settle(self) -> None:
        """Bring the table up to date. O(changed keys, and at most so many slots as are kept)."""

    def flush(self) -> None:
        """The same; and from now on the table knows best. O(slots)."""

@final
class KeyRouter:
    """Sends the records of a batch to the subtasks that own their keys.

    Args:
        key_type: code of the declared type of the key (``key_types.native_code``).
        max_parallelism: number of key groups.
        channels: number of subtasks.

    Raises:
        ValueError: the code is none, or one of the numbers is zero.
    """

    def __new__(cls, key_type: bytes, max_parallelism: int, channels: int) -> KeyRouter: ...
    def split(
        self, keys: list[_K], values: list[_V], assign: Callable[[_K], int], times: list[_T] | None = None
    ) -> tuple[list[tuple[int, list[_V], list[_T] | None]], int]:
        """Distribute records to channels. O(records + channels).

        Args:
            keys: of the records, in order.
            values: the records.
            assign: gives the channel of a key that is not plain data; what it raises is passed on.
            times: the timestamps of the records, if they have any.

        Returns:
            Channel, records and timestamps, in order, for each channel that gets some; and what ``key_field`` says of all
            records.

        Raises:
            ValueError: there are not as many keys, or timestamps, as records.
        """

    def split_by_field(
        self, field: int, values: list[_V], assign: Callable[[Any], int], times: list[_T] | None = None
    ) -> list[tuple[int, list[_V], list[_T] | None]] | None:
        """The same where a field of the records is the key.

        Args:
            field: its position.
            values: the records.
            assign, times: as for ``split``.

        Returns:
            Channel, records and timestamps; None, where some records are not plain tuples with such a field.
        """

def are_immutable(values: list[Any]) -> bool:
    """Whether no record can change: each is a text, a number, a truth value, bytes, None, or a tuple of them.

    Args:
        values: the records.
    """

def are_own_forms(keys: list[Any]) -> bool:
    """Whether every key is its own canonical form as an undeclared type: a text, an int, or a tuple of texts, ints and Nones.

    Args:
        keys: the keys.
    """

def decode_columns(data: bytes) -> tuple[list[Any], list[Any] | None, bytes]:
    """The records in typed columns.

    Args:
        data: what ``encode_columns`` or ``columns.encode`` has made.

    Returns:
        The records, their keys (None where they are not known), and the bytes that travelled with them.

    Raises:
        ValueError: these bytes are something else.
    """

def encode_columns(values: list[Any], key: int, extras: bytes) -> bytes | None:
    """Records as typed columns.

    Args:
        values: the records.
        key: what ``key_field`` says of their keys.
        extras: bytes that travel with them.

    Returns:
        The bytes, as ``columns.encode`` makes them; None when the records are not of one plain type.
    """

def is_immutable(value: object) -> bool:
    """The same for one record.

    Args:
        value: the record.
    """

def key_field(keys: list[Any], values: list[Any]) -> int:
    """Which field of its record each key is, the very object.

    Args:
        keys: of the records, in order.
        values: the records.

    Returns:
        The field of plain tuples; 254 when each record is its own key; 255 when it is neither.
    """

def text_size(values: list[Any]) -> int | None:
    """About how many bytes some records will take, as the Python function of this name counts them.

    Args:
        values: the records.

    Returns:
        The sum, None when a record is neither plain nor a tuple of what is plain.
    """
