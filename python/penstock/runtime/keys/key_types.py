"""The types of keys, compiled to the Java hash (:mod:`.javahash`) and the canonical form of their values."""

from __future__ import annotations

from typing import Any

from penstock.common import typeinfo as types
from penstock.common.row import Row
from penstock.common.typeinfo import BasicType, TypeInformation
from penstock.common.typesystem.conversions import same
from penstock.errors import TypeInfoError
from penstock.runtime.keys import javahash
from penstock.runtime.keys.javahash import BASIC, SQL_TIME, Basic, Canonical, Hash
from penstock.runtime.keys.pyflink_keys import NULL, InRow, deep_hash, hash_pickled, pickled_form

Look = tuple[str, dict[str, Any]]
_NEVER: Look = "False", {}
_STR, _KIND = "type(value) is str", "type(value) is kind"


class KeyHash:
    """A key type, compiled."""

    def __init__(self, key_type: TypeInformation[Any] | None = None) -> None:
        self.key_type: TypeInformation[Any] | None = key_type
        hash_code, canonical = _compile(key_type)
        self.hash: Hash = hash_code
        self.identity: bool = canonical is None
        self.canonical: Canonical = canonical or same
        undeclared = self.hash in (javahash.hash_undeclared, hash_pickled)
        self.checked: Canonical = self.canonical if undeclared else _checked_form(self)
        self.plain: Look = _plain(key_type, canonical)
        self.plain_kind: type | None = {_STR: str, _KIND: self.plain[1].get("kind")}.get(self.plain[0])
        """The one type that :attr:`plain` looks for, if it looks for no more."""
        text = isinstance(key_type, types.BasicTypeInfo) and key_type.basic_type is BasicType.STRING
        self.takes_any_text: bool = undeclared or text
        self.nullable: bool = isinstance(key_type, InRow)
        if self.nullable:
            self.canonical, self.checked = _null_apart(self.canonical), _null_apart(self.checked)


def is_of_days(key_type: TypeInformation[Any] | None) -> bool:
    """Whether keys are dates, and times stand for their days."""
    return isinstance(key_type, types.DateTypeInfo)


def native_code(key_type: TypeInformation[Any] | None) -> bytes | None:
    """A key type as ``rust/runtime/src/key_type.rs`` reads it; None where it does not know the type."""
    if key_type is None or isinstance(key_type, types.PickledBytesTypeInfo):
        return b"u"
    basic = _basic(key_type)
    if basic is not None:
        return basic.native
    if not isinstance(key_type, types.TupleTypeInfo):
        return None
    codes = [native_code(field) for field in key_type.field_types]
    return None if None in codes else b"t" + bytes([len(codes)]) + b"".join(filter(None, codes))


def _compile(key_type: TypeInformation[Any] | None) -> tuple[Hash, Canonical | None]:
    """Hash and canonical form of a type; None for the form means the value itself."""
    if key_type is None or isinstance(key_type, types.PickledBytesTypeInfo):
        return javahash.hash_undeclared, javahash.canonical_undeclared
    basic = _basic(key_type)
    if basic is not None:
        return _checked(basic.hash, basic.python_types, key_type), basic.canonical
    if isinstance(key_type, (types.TupleTypeInfo, types.RowTypeInfo)):
        return _compile_fields(key_type)
    if isinstance(key_type, InRow):
        return _compile_in_row(key_type.key_type)
    if isinstance(key_type, types.ListTypeInfo):
        hash_code, canonical = _compile(key_type.element_type)
        element, form = _nullable(hash_code), canonical or same
        return (
            _checked(lambda value: javahash.fold(1, map(element, value)), (list, tuple), key_type),
            lambda value: (list, *(None if v is None else form(v) for v in value)),
        )
    if isinstance(key_type, types.MapTypeInfo):
        return _compile_map(key_type)
    raise TypeInfoError(
        f"A {key_type} cannot be a key: it has no hash code that is the same in every process. Key by a text, a "
        "number, or a tuple of them.",
        flink_class="org.apache.flink.api.common.InvalidProgramException",
    )


def _basic(key_type: TypeInformation[Any] | None) -> Basic | None:
    if isinstance(key_type, types.BasicTypeInfo):
        return BASIC[key_type.basic_type]
    return SQL_TIME[key_type.sql_type] if isinstance(key_type, types.SqlTimeTypeInfo) else None


def _compile_map(key_type: types.MapTypeInfo[Any, Any]) -> tuple[Hash, Canonical]:
    """As ``AbstractMap.hashCode``: whatever the order of its entries."""
    (key_hash, key_form), (item_hash, item_form) = _compile(key_type.key_type), _compile(key_type.value_type)
    of_key, of_item = _nullable(key_hash), _nullable(item_hash)
    keys, items = key_form or same, item_form or same

    def form(value: Any) -> tuple[type, frozenset[Any]]:
        return dict, frozenset((keys(k), None if v is None else items(v)) for k, v in value.items())

    return _checked(
        lambda value: javahash.signed(sum(of_key(k) ^ of_item(v) for k, v in value.items())), dict, key_type
    ), form


def _nullable(hash_code: Hash) -> Hash:
    return lambda value: 0 if value is None else hash_code(value)


def _compile_in_row(key_type: TypeInformation[Any] | None) -> tuple[Hash, Canonical | None]:
    hash_code, canonical = _compile(key_type)
    if hash_code is javahash.hash_undeclared:
        return hash_pickled, pickled_form
    assert key_type is not None
    inner = deep_hash(key_type, lambda type_info: _compile(type_info)[0])

    def checked(value: Any) -> int:
        hash_code(value)  # refuses what does not fit
        return javahash.signed(31 + inner(value))

    return lambda value: hash_pickled(None) if value is None else checked(value), canonical


def _checked(hash_code: Hash, python_type: type | tuple[type, ...], key_type: TypeInformation[Any]) -> Hash:
    def checked(value: Any) -> int:
        if not isinstance(value, python_type):
            raise TypeInfoError(
                f"The key {value!r} is a {type(value).__name__}, but the key type is declared as {key_type!r}. "
                "Declare the type that the key selector returns."
            )
        return hash_code(value)

    return checked


def _checked_form(key_hash: KeyHash) -> Canonical:
    """The canonical form after a look at the exact types; what looks odd is hashed, which may refuse it."""
    key_type, hash_code, canonical = key_hash.key_type, key_hash.hash, key_hash.canonical
    if isinstance(key_type, InRow):
        key_type = key_type.key_type
    kind = _exact(key_type)

    def checked(value: Any) -> Any:
        if type(value) is not kind:
            hash_code(value)
        return canonical(value)

    look = _looks(key_type) if isinstance(key_type, (types.TupleTypeInfo, types.RowTypeInfo)) else None
    if look is None:
        return checked
    # written out as code, which takes a third of the time of a loop over the fields
    expression, names = look
    form = "value" if canonical is tuple else "canonical(value)"
    names = {**names, "canonical": canonical, "odd": checked}
    return eval(f"lambda value: {form} if {expression} else odd(value)", names)


def _null_apart(form: Canonical) -> Canonical:
    return lambda value: NULL if value is None else form(value)


def _plain(key_type: TypeInformation[Any] | None, canonical: Canonical | None) -> Look:
    declared = key_type.key_type if isinstance(key_type, InRow) else key_type
    if isinstance(declared, types.BasicTypeInfo) and canonical is None:
        return _KIND, {"kind": _exact(declared)}
    if isinstance(declared, types.TupleTypeInfo) and canonical is tuple:
        return _looks(declared) or _NEVER
    return (_STR, {}) if canonical in (javahash.canonical_undeclared, pickled_form) else _NEVER


def _looks(key_type: types.TupleTypeInfo | types.RowTypeInfo) -> Look | None:
    """A look at the exact types of a value and all its fields; None if some need more than that."""
    kinds = [_exact(field) for field in key_type.field_types]
    if None in kinds:
        return None
    looks = "".join(f" and type(value[{i}]) is kind{i}" for i in range(len(kinds)))
    outer = tuple if isinstance(key_type, types.TupleTypeInfo) else Row
    names = {f"kind{i}": kind for i, kind in enumerate(kinds)}
    return f"type(value) is outer and len(value) == {len(kinds)}{looks}", {**names, "outer": outer}


def _exact(key_type: TypeInformation[Any] | None) -> type | None:
    basic = _basic(key_type)
    return None if basic is None else basic.python_types[0]


def _compile_fields(key_type: types.TupleTypeInfo | types.RowTypeInfo) -> tuple[Hash, Canonical | None]:
    compiled = [_compile(t) for t in key_type.field_types]
    hashes = [_nullable(h) for h, _ in compiled]
    forms = [c or same for _, c in compiled]
    arity = len(hashes)

    def fields(value: Any) -> Any:
        if len(value) != arity:
            raise TypeInfoError(f"The key {value!r} has {len(value)} fields, but its type {key_type!r} has {arity}.")
        return (h(v) for h, v in zip(hashes, value, strict=True))

    def form(value: Any) -> tuple:
        return tuple(None if v is None else f(v) for f, v in zip(forms, value, strict=True))

    if isinstance(key_type, types.TupleTypeInfo):
        plain = all(c is None for _, c in compiled)
        hash_code = _checked(lambda value: javahash.fold(0, fields(value)), (tuple, list), key_type)
        return hash_code, tuple if plain else form

    def row(value: Any) -> int:
        kind = value.get_row_kind().value if isinstance(value, Row) else 0
        return javahash.signed(31 * kind + javahash.fold(1, fields(value)))

    def row_form(value: Any) -> tuple:
        return (value.get_row_kind().value if isinstance(value, Row) else 0, *form(value))

    return _checked(row, (Row, tuple, list), key_type), row_form
