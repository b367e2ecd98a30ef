"""An entry of a state."""

from __future__ import annotations

from typing import Any, NamedTuple


class Entry(NamedTuple):
    """An entry of a state of an operator.

    Of keyed state it is the value of a key in a namespace: of a list or map state the whole list or map, of a timer its
    time in milliseconds. Of operator state it is an element of a list, or a key of a broadcast state with its value.
    Of raw state it is the bytes that an operator wrote for a partition or key group.
    """

    operator_id: str
    state: str
    kind: str
    """``value``, ``list``, ``map``, ``reducing``, ``aggregating``, ``timers``; ``list``, ``union list``,
    ``broadcast``; ``raw keyed``, ``raw operator``."""
    subtask: int
    key_group: int | None
    key: Any
    namespace: Any
    """The window; None where there are none."""
    value: Any
