"""The state of process functions: bases of the classes of ``penstock.runtime.state.native_handles``."""

from collections.abc import Iterable, Iterator
from typing import Any, Final, final

class Handle:
    """Base of the native handles: what belongs to the current key, in a table that is a dict."""

    def clear(self) -> None:
        """Forget what belongs to the current key."""

class ValueState(Handle):
    """One value per key."""

    def clear(self) -> None:
        """Forget what belongs to the current key."""

    def value(self) -> Any:
        """The value of the current key; a copy of the default where there is none."""

    def update(self, value: Any) -> None:
        """Set the value of the current key; None clears it.

        Args:
            value: the value.
        """

class ReducingState(Handle):
    """A running reduction per key."""

    def clear(self) -> None:
        """Forget what belongs to the current key."""

    def get(self) -> Any:
        """The reduction of the current key, None where nothing was added."""

    def add(self, value: Any) -> None:
        """Reduce a value into what the current key has.

        Args:
            value: the value.
        """

class AggregatingState(Handle):
    """A running aggregation per key."""

    def clear(self) -> None:
        """Forget what belongs to the current key."""

    def get(self) -> Any:
        """The result for the current key, None where nothing was added."""

    def add(self, value: Any) -> None:
        """Add a value to what the current key has.

        Args:
            value: the value.
        """

class ListState(Handle):
    """A list per key."""

    def clear(self) -> None:
        """Forget what belongs to the current key."""

    def get(self) -> Iterator[Any]:
        """The elements of the current key, in order of addition."""

    def add(self, value: Any) -> None:
        """Append an element.

        Args:
            value: the element.
        """

    def update(self, values: Any) -> None:
        """Have these elements instead.

        Args:
            values: the elements.
        """

class MapState(Handle):
    """A map per key."""

    def clear(self) -> None:
        """Forget what belongs to the current key."""

    def __getitem__(self, key: Any, /) -> Any: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __delitem__(self, key: Any, /) -> None: ...
    def __contains__(self, key: Any, /) -> bool: ...
    def get(self, key: Any) -> Any:
        """The value of a key of the map, None where there is none.

        Args:
            key: the key of the map.
        """

    def contains(self, key: Any) -> bool:
        """Whether the map has a key.

        Args:
            key: the key of the map.
        """

    def put(self, key: Any, value: Any) -> None:
        """Set the value of a key of the map.

        Args:
            key: the key of the map.
            value: its value.
        """

    def remove(self, key: Any) -> None:
        """Remove a key of the map, if it is there.

        Args:
            key: the key of the map.
        """

    def is_empty(self) -> bool:
        """Whether the map has no key."""

    def keys(self) -> list[Any]:
        """The keys of the map, in order of insertion."""

    def values(self) -> list[Any]:
        """The values of the map."""

    def items(self) -> list[tuple[Any, Any]]:
        """Keys and values of the map."""

class Lifetime:
    """Base of the native time to live: `sweep`."""

    def sweep(self) -> None:
        """Look at the next few values, of any key."""

class LivingValueState(Handle):
    """One value per key, that expires."""

    def clear(self) -> None:
        """Forget what belongs to the current key."""

    def value(self) -> Any:
        """The value of the current key, if it has not expired."""

    def update(self, value: Any) -> None:
        """Set the value of the current key; None clears it.

        Args:
            value: the value.
        """

@final
class Timer:
    """One timer."""

    time: Final[int]
    slot: Final[Any]
    key: Final[Any]
    namespace: Final[Any]
    index: Final[int]

class TimerQueue:
    """Timers by time."""

    @property
    def noted(self) -> list[tuple[bool, Timer]] | None:
        """The moves since the last file, None where they are not noted."""

    @property
    def all_new(self) -> bool:
        """Whether all timers are to be written instead of moves."""

    def __iter__(self) -> Iterator[Timer]: ...
    def __len__(self) -> int: ...
    def first(self) -> Timer | None:
        """The timer that is next, None if there is none."""

    def add(self, time: Any, slot: Any, key: Any, namespace: Any) -> bool:
        """Add a timer.

        Args:
            time: its time.
            slot: the canonical form of its key.
            key: its key.
            namespace: its window, or None.

        Returns:
            Whether it is new.
        """

    def remove(self, time: Any, slot: Any, namespace: Any) -> None:
        """Remove a timer, if it is there.

        Args:
            time: its time.
            slot: the canonical form of its key.
            namespace: its window, or None.
        """

    def find(self, time: Any, slot: Any, namespace: Any) -> Timer | None:
        """The timer of a name.

        Args:
            time: its time.
            slot: the canonical form of its key.
            namespace: its window, or None.

        Returns:
            The timer, None if there is none.
        """

    def postpone(self, timer: Timer, time: Any, namespace: Any) -> Timer:
        """Add a timer of the same key, which is new and not earlier, and remove a timer.

        Args:
            timer: the timer that is removed.
            time: the time of the new one.
            namespace: its window.

        Returns:
            The new one.
        """

    def poll_until(self, limit: int) -> list[tuple[int, Any, Any, Any]]:
        """Remove all timers up to a time.

        Args:
            limit: the time.

        Returns:
            Their time, canonical form, key and namespace, in the order of :meth:`poll`.
        """

    def poll(self) -> Timer:
        """The timer that is next, removed."""

    def due(self, limit: int | None) -> Timer | None:
        """The timer that is next, removed, if its time is not after a limit.

        Args:
            limit: the limit, None for none.
        """

    def enter_due(self, limit: int | None, keyed: Any) -> int | None:
        """Remove the timer that is next, if its time is not after a limit, and make its key current. Timers of windows are
        skipped.

        Args:
            limit: the limit, None for none.
            keyed: the keyed state.

        Returns:
            Its time; None when none is due.
        """

    def outgrown(self, moves: int) -> bool:
        """Whether so many moves are more than it takes to write all timers.

        Args:
            moves: how many.
        """

    def fill(self, timers: Iterable[Any]) -> None:
        """Have these timers instead of all others, in the order of a heap.

        Args:
            timers: the timers.
        """

class TimerService:
    """Base of the native timer service: timers by event time, of the current key.

    Args:
        slow: the service in Python, for all that is not as usual.
        keyed: the keyed state.
        queue: its timers by event time.
    """

    def __new__(cls, slow: Any, keyed: Any, queue: TimerQueue) -> TimerService: ...
    def register_event_time_timer(self, timestamp: Any) -> None:
        """Have ``on_timer`` called for the current key when the watermark reaches a time.

        Args:
            timestamp: the time.
        """

    def delete_event_time_timer(self, timestamp: Any) -> None:
        """Forget a timer of the current key by event time.

        Args:
            timestamp: the time.
        """

    def register_processing_time_timer(self, timestamp: Any) -> None:
        """Have ``on_timer`` called for the current key when the clock reaches a time.

        Args:
            timestamp: the time.
        """

    def delete_processing_time_timer(self, timestamp: Any) -> None:
        """Forget a timer of the current key by the clock.

        Args:
            timestamp: the time.
        """

    def current_watermark(self) -> int:
        """The operator's watermark."""

    def current_processing_time(self) -> int:
        """The machine's clock."""
