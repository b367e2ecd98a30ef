"""How a buffer of records becomes bytes, and how a record is protected from later changes.

A buffer is ``(values, stamps, signals)``: the records in order, their timestamps run by run, ``(index of the first,
timestamp)``, and the watermarks among them (:mod:`.signals`).

Records are written with pickle 5 without its memo (``Pickler.fast``). Measured against marshal it costs the same, its
bytes are fewer, and it has none of marshal's traps (marshal turns a NumPy scalar into bytes without a word). Without a
memo an object that occurs in two records is two objects at the receiver, as in Flink, where every record is serialised
by itself. Where that fails, such as for cyclic objects or classes of the program's own ``__main__``, cloudpickle takes
over for the buffer.
"""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

from penstock.common.typeinfo import BasicTypeInfo, SqlTimeTypeInfo, TupleTypeInfo, TypeInformation
from penstock.runtime.signals import Signals

Stamps = list[tuple[int, int]]

_ATOMS = frozenset({str, int, float, bool, bytes, type(None)})
_FAILURES = (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError)


def encode(values: list[Any], stamps: Stamps, signals: Signals | tuple[()] = ()) -> bytes:
    """Bytes of a buffer.

    Args:
        values: records in order.
        stamps: runs of equal timestamps; empty when no record has one.
        signals: watermarks and the like, by the index of the record they stand before.

    Raises:
        Exception: whatever pickle raises when a record cannot be pickled at all.
    """
    return dumps((values, stamps, signals))


def decode(data: bytes) -> tuple[list[Any], Stamps, Signals]:
    """The buffer behind its bytes."""
    return pickle.loads(data)


def decode_value(data: bytes) -> Any:
    """The value behind the bytes of :func:`dumps`."""
    return pickle.loads(data)


def dumps(value: Any) -> bytes:
    """Pickle a value by the fastest way that works."""
    try:
        return _fast(value)
    except _FAILURES:
        import cloudpickle  # not needed by most jobs, and slow to import

        return cloudpickle.dumps(value, 5)


def _fast(value: Any) -> bytes:
    target = io.BytesIO()
    pickler = pickle.Pickler(target, 5)
    pickler.fast = True
    pickler.dump(value)
    return target.getvalue()


class _Pickled:
    """A record already pickled; unpickles as the record itself."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __reduce__(self):
        return pickle.loads, (self.data,)


def freezer(type_info: TypeInformation | None) -> Callable[[Any], Any] | None:
    """How to keep a record that waits in a buffer from being changed by whoever still holds it.

    A function may emit an object and change it afterwards (an accumulator, say); Flink has serialised it by then.
    Records whose declared type is immutable need nothing, and None is returned; otherwise records are checked and, if
    mutable, copied.
    """
    return None if _immutable(type_info) else freeze


def copier(type_info: TypeInformation | None) -> Callable[[Any], Any] | None:
    """How to give a record to a second reader; None when its declared type is immutable and one object serves all."""
    return None if _immutable(type_info) else copy_record


def is_immutable(value: Any) -> bool:
    """Whether nobody can change a record: a text, a number, bytes, None, or a tuple of these."""
    kind = type(value)
    return kind in _ATOMS or (kind is tuple and _ATOMS.issuperset(map(type, value)))


def copy_record(value: Any) -> Any:
    """The record itself if it is immutable, otherwise a deep copy."""
    if is_immutable(value):
        return value
    try:
        return pickle.loads(_fast(value))  # several times faster than deepcopy
    except _FAILURES:
        return copy.deepcopy(value)


def freeze(value: Any) -> Any:
    """The record itself if it is immutable, otherwise a copy for a buffer (only good for :func:`encode`)."""
    if is_immutable(value):
        return value
    try:
        return _Pickled(_fast(value))
    except _FAILURES:
        return copy.deepcopy(value)


def text_size(value: Any) -> int:
    """About how many bytes the texts, bytes and pickled parts of a record will take; what has a small fixed size
    counts nothing."""
    kind = type(value)
    if kind is str or kind is bytes:
        return len(value)
    if kind is tuple:
        return sum(map(text_size, value))
    return len(value.data) if kind is _Pickled else 0


def _immutable(type_info: TypeInformation | None) -> bool:
    if isinstance(type_info, TupleTypeInfo):
        return all(map(_immutable, type_info.field_types))
    return isinstance(type_info, (BasicTypeInfo, SqlTimeTypeInfo))
