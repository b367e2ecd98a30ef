"""Windows with other triggers than the default one, and with evictors, on columns."""

from typing import Any, final

from penstock._stubs.batches import Batch, Program

@final
class KeyedTriggers:
    """Windows by key with any trigger of Flink's, or a compiled one, and with an evictor or without, as
    ``penstock.runtime.operators.window`` has them, on columns.

    Args:
        key: gives the key of a record.
        assigner: as of ``KeyedWindows``, ``counted`` or ``global``.
        spans: of the assigner; of ``counted`` how many records a window has, and how many are from one to the next.
        contents: as of ``KeyedWindows``.
        position: of the field.
        programs: as of ``KeyedWindows``.
        trigger: ``never``, ``at_end``, ``count``, ``every``, ``delta`` or ``own``; whether its time is that of records; with
            how many records it fires, or at which interval in milliseconds; the threshold of ``delta``; the function of
            ``delta``, or the methods of ``own``: on_element, on_event_time, on_processing_time, on_merge and clear, None for
            one that does nothing; and whether a window that fires is emptied.
        evictor: ``count``, ``time`` or ``delta``; how many records it leaves, or of how many milliseconds; the threshold and
            the function of ``delta``; and whether it evicts after the function. None where there is none.
        event_time: whether the time of windows is that of records, or the clock's.
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
        position: int,
        programs: list[Program],
        trigger: tuple[str, bool, int, float | None, list[Program | None], bool],
        evictor: tuple[str, int, float | None, Program | None, bool] | None,
        event_time: bool,
        lateness: int = 0,
        side: bool = False,
        shows: bool = False,
        clears: bool = False,
        seeing: Program | None = None,
    ) -> KeyedTriggers: ...
    def __len__(self) -> int: ...
    def entries(self) -> int:
        """How many entries the state in Python has for these: contents, what is remembered, windows that merge, and counts."""

    def memory(self) -> int:
        """How much memory they take, in bytes. O(windows, and items of accumulators)."""

    def has_objects(self) -> bool:
        """Whether accumulators are changed in place, so that they are by themselves in ``news`` and ``load``."""

    def next_due(self, event_time: bool) -> int | None:
        """The time of the first timer, of event time or by the clock; None where there is none."""

    def run(
        self, batch: Batch, start: int, end: int, watermark: int, now: int
    ) -> tuple[Batch | None, list[int], int, int, bool]:
        """Put some records into their windows.

        Args:
            batch: the records.
            start: the first.
            end: the one behind the last.
            watermark: of the operator.
            now: by the clock.

        Returns:
            As ``KeyedWindows.run``.

        Raises:
            ValueError: there are not so many records.
        """

    def advance(self, event_time: bool, limit: int, watermark: int, now: int) -> tuple[Batch | None, bool, bool]:
        """Fire timers up to a time, in order.

        Args:
            event_time: whether those of event time, or those by the clock.
            limit: the time.
            watermark: of the operator.
            now: by the clock.

        Returns:
            The results, or None; whether more timers are due; whether the next one is doubtful, so that Python goes on.
        """

    def news(
        self,
    ) -> tuple[
        list[Batch],
        list[Batch],
        list[Batch],
        list[Batch],
        list[Batch],
        list[Batch],
        bool,
        list[Batch],
        list[Batch],
        list[Batch],
        list[Any],
        list[bool],
    ]:
        """What the state in Python does not know; it counts as known from then on. O(changes).

        Returns:
            Batches of windows with nothing in them any more (key, start, end); of what is in others (key, start, end,
            contents); of windows that merge and are over (key, start, end); of new ones (key, start, end, and start and end
            of the one under whose name the contents are); of windows of which the trigger has forgotten all (key, start,
            end), and of what it remembers of others (key, start, end, and that). Whether all timers follow, as they are in
            the heaps, or what has been done with them; and these, of event time and by the clock (whether added, time, key,
            start, end). Where windows are numbered, how many records a key has had (key, count). Accumulators that are
            changed in place: then there is None instead of the contents. Of which contents Python has others.

        Raises:
            ValueError: something of it cannot be in a batch.
        """

    def load(
        self,
        listed: list[Batch],
        values: list[Batch],
        remembered: list[Batch],
        timers: list[Batch],
        by_clock: list[Batch],
        seen: list[Batch],
        contents: list[Any],
    ) -> bool:
        """Take the state of Python in place of this one.

        Args:
            listed: windows that merge, as in ``news``.
            values: what is in windows.
            remembered: what the trigger remembers of windows.
            timers: all timers of event time as they are in the heap (time, key, start, end).
            by_clock: those by the clock.
            seen: how many records keys have had.
            contents: accumulators that are changed in place; then there is None in ``values``.

        Returns:
            Whether all of it can be here; if not, nothing is.
        """

    def clear(self) -> None:
        """Forget everything."""
