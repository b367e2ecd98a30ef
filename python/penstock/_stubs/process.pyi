"""Process functions on columns. Any is a key of whatever type."""

from typing import Any, final

from penstock._stubs.batches import Batch, Program

_Results = tuple[Batch | None, list[tuple[int, Batch]], list[tuple[int | None, int]], int, bool]

@final
class KeyedProcess:
    """The state and the timers of a compiled process function, as ``penstock.runtime.operators.process`` has them, on columns.

    Args:
        inputs: of each input, what gives the key of a record, and what takes a record.
        on_timer: takes the time of a timer; None where nothing is done then.
        states: of each state, ``value``, ``list``, ``map``, ``buffer`` or ``frozen``: a buffer of records that nobody can change.
        lives: of each state, None or how its values expire: after how many milliseconds, whether reading makes them live on,
            whether those that are over can be seen, and how many each access looks at.
        defaults: of each state, None or a batch of one value, which is there where there is none.
        bounds: where two inputs are joined, how far a right record's time may be from a left one's, the least and the most. Then
            a function takes both records, and there are two buffers.
        partly: whether it has some of the keys of a larger state in Python.

    Raises:
        ValueError: these do not go together.
    """

    def __new__(
        cls,
        inputs: list[tuple[Program, Program]],
        on_timer: Program | None,
        states: list[str],
        lives: list[tuple[int, bool, bool, int] | None],
        defaults: list[Batch | None],
        bounds: tuple[int, int] | None = None,
        partly: bool = False,
    ) -> KeyedProcess: ...
    def __len__(self) -> int: ...
    def memory(self) -> int:
        """How much memory state and timers take, in bytes. O(state)."""

    def weight(self) -> int:
        """How many values there are, items of lists, entries of maps, and records of buffers."""

    def next_due(self, event_time: bool) -> int | None:
        """The time of the first timer, of event time or by the clock; None where there is none."""

    def run(self, input: int, batch: Batch, start: int, end: int, watermark: int, now: int) -> _Results:
        """Call the function for some records of an input.

        Args:
            input: 0, or 1 for the second one.
            batch: the records.
            start: the first.
            end: the one behind the last.
            watermark: of the operator.
            now: the time of the clock.

        Returns:
            The results, or None; those for side outputs, each with the number of its tag; where there are some, in which order
            all came, as tag or None, and how many. The place behind the last record that is done; whether the record there is doubtful, so that
            Python decides. If it is not, and there is one, the next call begins with it.

        Raises:
            ValueError: there are not so many records, or no such input.
        """

    def advance(self, event_time: bool, limit: int, watermark: int, now: int) -> _Results:
        """Fire timers up to a time, in order.

        Args:
            event_time: whether those of event time, or those by the clock.
            limit: the time.
            watermark: of the operator.
            now: the time of the clock.

        Returns:
            As ``run``; instead of the place how many timers have fired.
        """

    def news(
        self,
    ) -> tuple[list[tuple[list[Batch], list[Batch], list[Batch], list[bool]]], list[tuple[bool, list[Batch]]]]:
        """What the state in Python does not know; it counts as known from then on. O(changes).

        Returns:
            Of each state, batches of keys with nothing in it any more, or with a new map (each in a tuple); of maps what they
            have not any more (key, key in the map); and of what is in it (key, value; of maps key, key in the map, value; of
            a buffer, for each record, key, number of buckets, time and record). Each is to be applied before the next one. Where
            it has some of the keys, and but for maps, whether there is a value in Python in place of each.
            Of the timers of event time, and of those by the clock: whether all follow, as they are in the heap, or what has
            been done with them; and these (whether added, time, key, and two numbers).

        Raises:
            ValueError: something of it cannot be in a batch.
        """

    def places(self) -> list[tuple[int, list[Batch]]]:
        """How far the look at values that expire has come.

        Returns:
            Of each state how many may be looked at now, and batches of the keys that this round still looks at, each in a tuple.

        Raises:
            ValueError: one of them cannot be in a batch.
        """

    def load(
        self,
        states: list[list[Batch]],
        timers: list[Batch],
        by_clock: list[Batch],
        places: list[tuple[int, list[Batch]]],
    ) -> bool:
        """Take the state of Python in place of this one.

        Args:
            states: what is in each state, as ``news`` gives it.
            timers: all timers of event time as they are in the heap (time, key, and the times of a window that has this
                time alone).
            by_clock: those by the clock.
            places: as ``places`` gives them.

        Returns:
            Whether all of it can be here; if not, nothing is.
        """

    def begin(self, input: int, batch: Batch, start: int, end: int) -> tuple[list[Any], int]:
        """Begin a turn with some records, where it has some of the keys.

        Args:
            input: 0, or 1 for the second one.
            batch: the records.
            start: the first.
            end: the one behind the last.

        Returns:
            Keys of these records that are not here, each once; and the place behind the last record whose key, and those before
            it, is not in doubt. With what Python has of these keys brought, the records up to there can be taken.

        Raises:
            ValueError: there are not so many records, or no such input.
        """

    def due(self, event_time: bool, limit: int, most: int) -> list[Any]:
        """Begin a turn with the timers that are due next, where it has some of the keys.

        Args:
            event_time: whether those of event time, or those by the clock.
            limit: the time up to which they are due.
            most: about how many at the most.

        Returns:
            Keys of these timers that are not here. With what Python has of them brought, ``advance`` fires the timers up to one
            whose key is another.

        Raises:
            ValueError: the keys take more than 2 GiB.
        """

    def bring(self, states: list[list[Batch]]) -> bool:
        """Take what Python has of the keys that were asked for.

        Args:
            states: what is in each state, as ``news`` gives it.

        Returns:
            Whether all of it can be here; if not, nothing of it is.
        """

    def is_over(self, bytes: int) -> bool:
        """Whether it is time to forget keys, where what they have may take so much memory, in bytes."""

    def forget_idle(self, bytes: int) -> None:
        """Forget the keys that were used longest ago, until half of so much memory is taken. Python knows everything. O(keys log keys)."""

    def fresh(self) -> int:
        """How many values, lists and maps more there are than Python knows."""

    def mean(self) -> int:
        """How much memory a key took when ``is_over`` last looked at all of them, in bytes; 0 before."""

    def keys(self) -> int:
        """How many keys have state here."""

    def waiting(self) -> tuple[int, int]:
        """How many timers there are, of event time and by the clock."""

    def clear(self) -> None:
        """Forget everything."""
