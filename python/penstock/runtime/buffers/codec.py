"""How a buffer of records becomes bytes, and how a record is protected from later changes.

A buffer is ``(values, stamps, signals)``: the records in order, their timestamps (:mod:`.stamps`), and the watermarks
among them (:mod:`.signals`). Its first byte tells the codec:

*pickle* (0x80, as every pickle begins): pickle 5 without its memo (``Pickler.fast``). Without a memo an object that
occurs in two records is two objects at the receiver, as in Flink, where every record is serialised by itself. Where it
fails, such as for cyclic objects or classes of the program's own ``__main__``, cloudpickle takes over for the buffer.

*columns* (0x01, :mod:`.columns`): a typed column per field, for plain data, written and read by native code.

``auto`` takes columns where the native functions are there and the type does not rule it out; a buffer that does not
fit is pickled, and then fewer are tried. Per record ``(word, 1)``, written and read: pickle 35 + 54 ns and 12.6 bytes,
columns 20 + 56 ns and 8.6 bytes. Tried and not here: marshal (48 + 57 ns, 22.6 bytes, and it turns a NumPy scalar into
bytes without a word), Arrow IPC (90 + 63 ns, 19.8 bytes). docs/running.md has more of it.
"""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from penstock.common.settings import Settings
from penstock.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    PickledBytesTypeInfo,
    SqlTimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from penstock.runtime import native
from penstock.runtime.buffers import columns
from penstock.runtime.buffers.borders import crossing
from penstock.runtime.buffers.signals import Signals
from penstock.runtime.buffers.stamps import Stamps
from penstock.runtime.buffers.value_checks import checked_all

_ATOMS = frozenset({str, int, float, bool, bytes, type(None)})
_MOST_SKIPPED = 63
"""Buffers that are pickled untried after one that did not fit."""
_NO_COLUMN = frozenset({BasicType.BIG_DEC, BasicType.INSTANT})
_FAILURES = (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError)


class Buffer(NamedTuple):
    """What a buffer holds.

    Attributes:
        values: records in order.
        stamps: their timestamps; empty when no record has one.
        signals: watermarks and the like, by the index of the record they stand before.
        keys: of the records, by the key selector of the edge they came over, if the buffer knows them.
    """

    values: list[Any]
    stamps: Stamps
    signals: Signals
    keys: list[Any] | None = None


def encode(values: list[Any], stamps: Stamps, signals: Signals | tuple[()] = ()) -> bytes:
    """A buffer as a pickle.

    Args:
        values: records in order.
        stamps: their timestamps; empty when no record has one.
        signals: watermarks and the like, by the index of the record they stand before.

    Raises:
        Exception: whatever pickle raises when a record cannot be pickled at all.
    """
    return dumps((values, stamps, signals))


class Encoder:
    """Makes the buffers of one output.

    Args:
        record_type: of the records, None for undeclared.
        settings: of the program, which say which codec.
    """

    def __init__(self, record_type: TypeInformation[Any] | None, settings: Settings) -> None:
        functions = native.functions(settings.native)
        self._columns = columns.encode if functions is None else functions.encode_columns
        self._persistent = settings.codec == "columns"
        fits = settings.codec == "auto" and functions is not None and _may_fit(record_type)
        self._wanted = self._persistent or fits
        self._cross = crossing(record_type, settings)
        self._check = checked_all(record_type) if settings.types_check else None
        self._skip = self._skipped = 0

    def encode(self, values: list[Any], stamps: Stamps, signals: Signals, key: int = columns.UNKNOWN) -> bytes:
        """A buffer's bytes.

        Args:
            values: records in order.
            stamps, signals: as in :class:`Buffer`.
            key: which field of each record is its key (:mod:`.columns`).

        Raises:
            TypeInfoError: a record does not fit its declared type, and a setting asks for that.
            Exception: whatever pickle raises when a record cannot be pickled at all.
        """
        if self._check is not None:
            self._check(pickle.loads(v.data) if type(v) is _Pickled else v for v in values)
        if self._cross is not None:
            values = [self._cross(pickle.loads(v.data) if type(v) is _Pickled else v) for v in values]
        if self._wanted and self._due():
            extras = dumps((stamps, signals)) if stamps or signals else b""
            data = self._columns(values, key, extras)
            if data is not None:
                self._skip = 0
                return data
            self._skip = 0 if self._persistent else min(2 * self._skip + 1, _MOST_SKIPPED)
            self._skipped = 0
        return encode(values, stamps, signals)

    def _due(self) -> bool:
        """Whether to try columns: after each buffer that was none, twice as many are not tried as before."""
        self._skipped += 1
        return self._skipped > self._skip


def decode(data: bytes, functions: ModuleType | None = None) -> Buffer:
    """The buffer behind its bytes, whichever codec wrote them.

    Args:
        data: the bytes.
        functions: the native functions, if they shall be used.
    """
    if data[0] != columns.TAG:
        return Buffer(*pickle.loads(data))
    read = columns.decode if functions is None else functions.decode_columns
    values, keys, extras = read(data)
    stamps, signals = pickle.loads(extras) if extras else ([], [])
    return Buffer(values, stamps, signals, keys)


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


def freezer(type_info: TypeInformation[Any] | None) -> Callable[[Any], Any] | None:
    """How to keep a record that waits in a buffer from being changed by whoever still holds it.

    A function may emit an object and change it afterwards (an accumulator, say); Flink has serialised it by then.
    Records whose declared type is immutable need nothing, and None is returned; otherwise records are checked and, if
    mutable, copied.
    """
    return None if _immutable(type_info) else freeze


def copier(type_info: TypeInformation[Any] | None) -> Callable[[Any], Any] | None:
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
    """About how many bytes a record will take: the length of its texts, bytes and pickled parts, 8 for what else is in
    it."""
    kind = type(value)
    if kind is str or kind is bytes:
        return len(value)
    if kind is tuple:
        return sum(map(text_size, value))
    return len(value.data) if kind is _Pickled else 8


def _immutable(type_info: TypeInformation[Any] | None) -> bool:
    if isinstance(type_info, TupleTypeInfo):
        return all(map(_immutable, type_info.field_types))
    return isinstance(type_info, (BasicTypeInfo, SqlTimeTypeInfo))


def _may_fit(type_info: TypeInformation[Any] | None) -> bool:
    """Whether records of a type can be columns; of an undeclared one, only the records tell."""
    if isinstance(type_info, TupleTypeInfo):
        return all(map(_may_fit, type_info.field_types))
    if isinstance(type_info, BasicTypeInfo):
        return type_info.basic_type not in _NO_COLUMN
    return type_info is None or isinstance(type_info, PickledBytesTypeInfo)
