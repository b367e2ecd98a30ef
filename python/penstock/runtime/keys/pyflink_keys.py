"""Keys as PyFlink sends them to Java, by the switch ``penstock.pyflink``: in a row with nothing but the key. The hash
is that of this row (``RowUtils.deepHashCodeRow`` of Flink 2.3.0): null counts as 0 and every other field as 31 plus its
hash, in lists and maps too. A key of undeclared type is its pickle."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, ClassVar

from penstock.common.row import Row, RowKind, names_of
from penstock.common.typeinfo import ListTypeInfo, MapTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.errors import TypeInfoError
from penstock.runtime.keys.javahash import Hash, canonical_undeclared, fold, hash_bytes, signed


@dataclass(frozen=True)
class InRow(TypeInformation[Any]):
    """The type of such keys. None is allowed; without a declared type, so is everything that can be pickled."""

    key_type: TypeInformation[Any] | None

    @property
    def java_name(self) -> str:
        return str(self.key_type)


NULL = (type(None),)  # the canonical form of the key None
_FIELD = 31  # what a row adds to the hash of a field


def deep_hash(field_type: TypeInformation[Any], compile_hash: Callable[[TypeInformation[Any]], Hash]) -> Hash:
    """The part of a field in the hash of a row."""
    if isinstance(field_type, ListTypeInfo):
        element = deep_hash(field_type.element_type, compile_hash)
        return lambda value: 0 if value is None else fold(1, map(element, value))
    if isinstance(field_type, MapTypeInfo):
        key, item = (deep_hash(type_info, compile_hash) for type_info in (field_type.key_type, field_type.value_type))
        return lambda value: 0 if value is None else signed(1 + sum(key(k) ^ item(v) for k, v in value.items()))
    hash_code = _object_hash(field_type, compile_hash)
    return lambda value: 0 if value is None else _FIELD + hash_code(value)


def _object_hash(key_type: TypeInformation[Any], compile_hash: Callable[[TypeInformation[Any]], Hash]) -> Hash:
    """``hashCode`` of a value itself; only rows, and values that contain rows, differ from Flink 1.11."""
    if isinstance(key_type, RowTypeInfo):
        fields = [deep_hash(field, compile_hash) for field in key_type.field_types]

        def row(value: Any) -> int:
            kind = value.get_row_kind().value if isinstance(value, Row) else 0
            return signed(31 * kind + fold(1, (field(v) for field, v in zip(fields, value, strict=True))))

        return row
    if isinstance(key_type, TupleTypeInfo):
        hashes = [_object_hash(field, compile_hash) for field in key_type.field_types]
        return lambda value: fold(0, (0 if v is None else h(v) for h, v in zip(hashes, value, strict=True)))
    return compile_hash(key_type)


def hash_pickled(value: Any) -> int:
    """The hash of a key of undeclared type."""
    return _FIELD if value is None else signed(2 * _FIELD + hash_bytes(pickled(value)))


def pickled_form(value: Any) -> Any:
    """The canonical form of a key of undeclared type."""
    try:
        if type(value) is not Row:  # field names are in the pickle, but not in Java's hash
            return canonical_undeclared(value)
    except TypeInfoError:  # no hash in Java, but a pickle
        pass
    return bytes, pickled(value)


def pickled(value: Any) -> bytes:
    """Pickle a key as PyFlink does, by protocol 5, with the same bytes on every machine."""
    try:
        if type(value) is not Row:
            return pickle.dumps(value, 5)
    except pickle.PicklingError:  # a class of the program's own module, which was sent by value
        pass
    target = io.BytesIO()
    _ByName(target, 5).dump(value)
    return target.getvalue()


def _create_row(*_: Any) -> None:
    """Stands for PyFlink's function of this name, which is in the pickles of its rows."""


_create_row.__module__ = "pyflink.common.types"
_Pickler: Any = pickle._Pickler  # pyright: ignore[reportAttributeAccessIssue] # the fast one cannot be taught


class _ByName(_Pickler):
    """Writes rows as PyFlink does, and classes and functions by name without checking that they can be found."""

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is not Row:
            return NotImplemented
        names = names_of(obj)
        return _create_row, (None if names is None else list(names), tuple(obj), obj.get_row_kind())

    def save_global(self, obj: Any, name: str | None = None) -> None:
        self.save(_create_row.__module__ if obj is RowKind else obj.__module__)
        self.save(name or obj.__qualname__)
        self.write(pickle.STACK_GLOBAL)
        self.memoize(obj)

    dispatch: ClassVar[dict[type, Any]] = {**_Pickler.dispatch, FunctionType: save_global}
