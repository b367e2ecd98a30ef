"""Encodes buffers of records as bytes, and protects records from later changes. A buffer is ``(values, stamps,
signals)``. Its first byte identifies the codec: a *pickle* (0x80) without memo, so an object in two records is two
objects at the receiver, as in Flink; where it fails, as for cyclic objects or classes of ``__main__``, cloudpickle is
used. Or *columns* (0x01, :mod:`.columns`), one per field of plain data, by native code. A buffer that does not fit is
pickled, and later ones are tried less often."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from penstock.common import typeinfo as types
from penstock.common.row import Row
from penstock.common.settings.settings import Settings
from penstock.common.typeinfo import BasicType, TypeInformation
from penstock.runtime import native
from penstock.runtime.buffers import columns
from penstock.runtime.buffers.borders import crossing
from penstock.runtime.buffers.signals import Signals
from penstock.runtime.buffers.stamps import Stamps
from penstock.runtime.buffers.value_checks import checked_all

ATOMS = frozenset({str, int, float, bool, bytes, type(None)})
_DEPTH = 3  # tuples inside each other, where these are looked through
_MOST_SKIPPED = 63  # most buffers that are pickled untried after one that did not fit
_NO_COLUMN = frozenset({BasicType.BIG_DEC, BasicType.INSTANT})
_FAILURES = (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError)


class Buffer(NamedTuple):
    """The content of a buffer; ``keys`` are known for some buffers of columns."""

    values: list[Any]
    stamps: Stamps
    signals: Signals
    keys: list[Any] | None = None


def encode(values: list[Any], stamps: Stamps, signals: Signals | tuple[()] = ()) -> bytes:
    """Encode a buffer as a pickle."""
    return dumps((values, stamps, signals))


class Encoder:
    """Encodes the buffers of one output."""

    def __init__(self, record_type: TypeInformation[Any] | None, settings: Settings) -> None:
        functions = native.functions(settings.native)
        self._persistent = settings.codec == "columns"
        wanted = self._persistent or (settings.codec == "auto" and may_fit(record_type))
        self._columns = functions.encode_columns if functions is not None and wanted else None
        self._cross = crossing(record_type, settings)
        self._check = checked_all(record_type) if settings.types_check else None
        self._skip = self._skipped = 0

    @property
    def takes_columns(self) -> bool:
        """Whether records that are columns need not become objects before they are encoded."""
        return self._columns is not None and self._check is None and self._cross is None

    @staticmethod
    def extras(stamps: Stamps, signals: Signals) -> bytes:
        """The part of a buffer of columns that is not records."""
        return dumps((stamps, signals)) if stamps or signals else b""

    def encode(self, values: list[Any], stamps: Stamps, signals: Signals, key: int = columns.UNKNOWN) -> bytes:
        if self._check is not None:
            self._check(pickle.loads(v.data) if type(v) is _Pickled else v for v in values)
        if self._cross is not None:
            values = [self._cross(pickle.loads(v.data) if type(v) is _Pickled else v) for v in values]
        self._skipped += 1
        # each buffer that does not fit doubles the number of those that are not tried
        if self._columns is not None and self._skipped > self._skip:
            data = self._columns(values, key, self.extras(stamps, signals))
            if data is not None:
                self._skip = 0
                return data
            self._skip = 0 if self._persistent else min(2 * self._skip + 1, _MOST_SKIPPED)
            self._skipped = 0
        return encode(values, stamps, signals)


def decode(data: bytes, functions: ModuleType | None = None) -> Buffer:
    """Decode a buffer of any codec."""
    if data[0] != columns.TAG:
        return Buffer(*pickle.loads(data))
    read = columns.decode if functions is None else functions.decode_columns
    values, keys, extras = read(data)
    return Buffer(values, *unpack_extras(extras), keys)


def unpack_extras(extras: bytes) -> tuple[Stamps, Signals]:
    """The stamps and signals in the :meth:`Encoder.extras` of a buffer of columns."""
    return pickle.loads(extras) if extras else ([], [])


def decode_value(data: bytes) -> Any:
    """Decode the result of :func:`dumps`."""
    return pickle.loads(data)


def dumps(value: Any) -> bytes:
    """Pickle a value in the fastest way that works."""
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
    """A record that is already pickled; unpickles as the record itself."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __reduce__(self):
        return pickle.loads, (self.data,)


def freezer(type_info: TypeInformation[Any] | None) -> Callable[[Any], Any] | None:
    """A function that protects a waiting record from changes, which Flink has serialised; None if it is immutable."""
    return None if _immutable(type_info) else freeze


def copier(type_info: TypeInformation[Any] | None) -> Callable[[Any], Any] | None:
    """A function that copies a record for a second reader; None if the type is immutable."""
    return None if _immutable(type_info) else copy_record


def keeper(type_info: TypeInformation[Any] | None) -> Callable[[Any], Any] | None:
    """A function that protects a record that waits inside an operator from changes; None if its type is immutable."""
    if _immutable(type_info):
        return None
    if not isinstance(type_info, types.RowTypeInfo) or not all(map(_immutable, type_info.field_types)):
        return copy_record

    def keep(value: Any) -> Any:
        if type(value) is not Row:
            return copy_record(value)
        return Row.of_values(value._values, value._names, value._kind)

    return keep


def is_immutable(value: Any, depth: int = _DEPTH) -> bool:
    """Whether a record is a str, number, bytes, None, or a tuple of these, up to three tuples inside each other."""
    kind = type(value)
    if kind is not tuple:
        return kind in ATOMS
    if ATOMS.issuperset(map(type, value)):
        return True
    return depth > 1 and all(is_immutable(part, depth - 1) for part in value)


def copy_record(value: Any) -> Any:
    """The record itself if it is immutable, otherwise a deep copy."""
    if is_immutable(value):
        return value
    try:
        return pickle.loads(_fast(value))  # several times faster than deepcopy
    except _FAILURES:
        return copy.deepcopy(value)


def freeze(value: Any) -> Any:
    """The record itself if it is immutable, otherwise a copy that only :func:`encode` can use."""
    if is_immutable(value):
        return value
    try:
        return _Pickled(_fast(value))
    except _FAILURES:
        return copy.deepcopy(value)


def text_size(value: Any) -> int:
    """An estimate of a record's bytes: the length of its texts, bytes and pickled parts, and 8 for each other field."""
    kind = type(value)
    if kind is str or kind is bytes:
        return len(value)
    if kind is tuple:
        return sum(map(text_size, value))
    return len(value.data) if kind is _Pickled else 8


def _immutable(type_info: TypeInformation[Any] | None) -> bool:
    if isinstance(type_info, types.TupleTypeInfo):
        return all(map(_immutable, type_info.field_types))
    return isinstance(type_info, (types.BasicTypeInfo, types.SqlTimeTypeInfo))


def may_fit(type_info: TypeInformation[Any] | None) -> bool:
    """Whether records of a type can be columns; for an undeclared type only the records tell."""
    if isinstance(type_info, types.TupleTypeInfo):
        return all(map(may_fit, type_info.field_types))
    if isinstance(type_info, types.BasicTypeInfo):
        return type_info.basic_type not in _NO_COLUMN
    if isinstance(type_info, types.SqlTimeTypeInfo):
        return True
    return type_info is None or isinstance(type_info, types.PickledBytesTypeInfo)
