"""Running reductions and their tables. Any is a key or a value of whatever type."""

from typing import Any, final

from penstock._stubs.batches import Batch, Program

@final
class KeyedReduce:
    """A running reduction per key, on columns; what each key has reached is in a table.

    Args:
        key: gives the key of a record.
        combine: the name of a fold (sum, min, max, min_by, max_by, min_by_last, max_by_last) and the position of its field; or a program of the value so far and a record.
        table: the reduction so far by key.

    Raises:
        ValueError: the fold is another one, or a program takes another number of arguments.
    """

    def __new__(cls, key: Program, combine: tuple[str, int] | Program, table: KeyedTable) -> KeyedReduce: ...
    def begin(self, batch: Batch, start: int, end: int) -> tuple[list[Any], int]:
        """Begin a turn of a table that has some of the keys of a store.

        Args:
            batch: the records.
            start: the first of the turn.
            end: the one behind the last.

        Returns:
            Keys of these records that are not in the table, each once; and the place behind the last record whose key, and those
            before it, is not in doubt. With these keys loaded, if the store has them, the records up to there can be reduced.

        Raises:
            ValueError: there are not so many records, or the table has all keys there are.
        """

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

@final
class KeyOrder:
    """Some keys of a table in an order."""

    def __len__(self) -> int:
        """How many keys there are."""

    @property
    def groups(self) -> list[tuple[int, int]]:
        """The key groups that have keys, in order, and for each the place behind its last key, if they are in this order."""

@final
class KeyedTable:
    """Values by key, of plain types. It knows which have changed since they were written.

    Args:
        partly: whether it has some of the keys of a store, and not all there are; then it knows which were used lately.
    """

    def __new__(cls, partly: bool = False) -> KeyedTable: ...
    def __len__(self) -> int:
        """How many keys there are."""

    @property
    def memory(self) -> int:
        """How much memory it takes, in bytes."""

    @property
    def changes(self) -> int:
        """How many keys have changed since the last ``written``."""

    @property
    def fresh(self) -> int:
        """How many keys there are that the store has nothing of."""

    def written(self) -> None:
        """Count no key as changed any more: the store has them as they are. O(changes)."""

    def clear(self) -> None:
        """Forget all keys."""

    def load(self, keys: list[Any], values: list[Any]) -> bool:
        """Give some keys their values, without counting them as changed.

        Args:
            keys: the keys.
            values: their values.

        Returns:
            Whether all of them can be here; if not, some are.
        """

    def touch(self, keys: list[Any]) -> bool:
        """Count some keys as changed.

        Returns:
            Whether all are here; if not, none is counted.
        """

    def order(self, key_type: bytes, max_parallelism: int, besides: list[Any] | None = None) -> KeyOrder | None:
        """Sort keys by their key groups. O(n log n) in the keys.

        Args:
            key_type: code of the declared type of the key (``key_types.native_code``).
            max_parallelism: number of key groups.
            besides: keys that are wanted besides those that have changed; None for all there are.

        Returns:
            The order, to be used before anything changes; None where a key has no key group here, or is not in the table.

        Raises:
            ValueError: the code is none, or there is no key group.
        """

    def changed(self, among: KeyOrder | None = None) -> KeyOrder:
        """The keys that have changed, of all or of some. O(changes, or these).

        Args:
            among: some keys.

        Raises:
            IndexError: there are not so many.
        """

    def idle(self, bytes: int) -> KeyOrder:
        """The keys that are to leave a table which takes more than so many bytes, so that it takes half of them: those that were
        used longest ago. O(keys).

        Raises:
            ValueError: the table has all keys there are.
        """

    def forget(self, order: KeyOrder) -> None:
        """Take keys out, and give back their memory. O(keys of the table).

        Raises:
            IndexError: there are not so many.
            ValueError: the table has all keys there are.
        """

    def stored(self, order: KeyOrder, start: int, end: int) -> list[bool]:
        """Whether the store has something of the keys of some places of an order.

        Args:
            order: the order.
            start: the first place.
            end: the one behind the last.

        Raises:
            IndexError: there are not so many.
            ValueError: the table has all keys there are.
        """

    def part(self, order: KeyOrder, start: int, end: int) -> tuple[list[Any], list[Any]]:
        """Keys and values of some places of an order.

        Args:
            order: the order.
            start: the first place.
            end: the one behind the last.

        Raises:
            IndexError: there are not so many.
            ValueError: together they would take more than 2 GiB of texts.
        """

    def section(self, order: KeyOrder, start: int, end: int, names: bytes) -> bytes | None:
        """The section of a state file that has the keys and values of some places of an order, if the table is that of its only
        state.

        Args:
            order: the order.
            start: the first place.
            end: the one behind the last.
            names: the section's namespaces, pickled.

        Returns:
            The section; None where a key or value has a class that a pickle would name.

        Raises:
            IndexError: there are not so many.
        """

    def items(self, start: int, end: int) -> tuple[list[Any], list[Any]]:
        """The keys and values from one number to before another: numbers are below the length.

        Raises:
            IndexError: there are not so many.
            ValueError: together they would take more than 2 GiB of texts.
        """

    def changed_keys(self) -> list[Any]:
        """The keys that have changed. O(changes)."""
