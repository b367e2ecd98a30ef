"""Types of records with fields of different types: tuples and rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from penstock.common.callables import shown
from penstock.common.java.java_types import OTHERS, JavaTypeInformation
from penstock.common.row import Row, RowKind
from penstock.common.typesystem.scalars import TypeInformation
from penstock.errors import TypeInfoError

__all__ = ["RowTypeInfo", "TupleTypeInfo"]

MAX_TUPLE_ARITY = 25  # Flink's largest tuple class is Tuple25


def _types(name: str, field_types: Iterable[TypeInformation[object]]) -> tuple[TypeInformation[object], ...]:
    """The types of fields, all checked."""
    if not isinstance(field_types, Iterable) or isinstance(field_types, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeInfoError(f"{name} was given {shown(field_types)}. Give a list of types such as [Types.INT()].")
    types = tuple(field_types)
    for position, each in enumerate(types):
        if not isinstance(each, TypeInformation):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeInfoError(
                f"{name} was given {shown(each)} as the type of field {position}. Write the type with its parentheses, "
                "such as Types.STRING()."
            )
    return types


def _each_to_internal(types: Iterable[TypeInformation[object]], values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(field.to_internal_type(value) for field, value in zip(types, values, strict=False))  # as PyFlink


def _each_from_internal(types: Iterable[TypeInformation[object]], obj: Any) -> Any:
    """Tuples and lists are what PyFlink's pickler has made, and stay; other sequences are converted."""
    if obj is None or isinstance(obj, tuple | list):
        return obj  # pyright: ignore[reportUnknownVariableType]
    return tuple(field.from_internal_type(value) for field, value in zip(types, obj, strict=False))


@dataclass(frozen=True, slots=True, init=False)
class TupleTypeInfo(TypeInformation[tuple[Any, ...]]):
    """A Flink tuple; its fields are named f0, f1, …"""

    field_types: tuple[TypeInformation[object], ...]  # one type per field, 1 to 25 of them

    def __init__(self, field_types: Sequence[TypeInformation[object]]) -> None:
        object.__setattr__(self, "field_types", _types("TupleTypeInfo", field_types))
        if not 1 <= len(self.field_types) <= MAX_TUPLE_ARITY:
            raise TypeInfoError(
                f"Types.TUPLE was given {len(self.field_types)} field types; a Flink tuple has 1 to {MAX_TUPLE_ARITY} "
                "fields. Use Types.ROW for wider records.",
                flink_class="java.lang.IllegalArgumentException",
            )

    @property
    def field_names(self) -> tuple[str, ...]:
        return tuple(f"f{i}" for i in range(len(self.field_types)))

    @property
    def java_name(self) -> str:
        return f"Java Tuple{len(self.field_types)}<{', '.join(t.java_name for t in self.field_types)}>"

    def __str__(self) -> str:
        return f"TupleTypeInfo({', '.join(map(str, self.field_types))})"

    def get_field_types(self) -> list[TypeInformation[object]]:
        """The field types, as a new list (PyFlink)."""
        return list(self.field_types)

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, obj: Any) -> tuple[Any, ...] | None:
        """The fields in their internal forms; TypeInfoError of what is no tuple, list or row."""
        if obj is None:
            return None
        if not isinstance(obj, list | tuple | Row):
            raise _no_record(obj, self, "a tuple, a list or a Row")
        return _each_to_internal(self.field_types, cast("Iterable[Any]", obj))

    def from_internal_type(self, obj: Any) -> Any:
        return _each_from_internal(self.field_types, obj)

    def get_java_type_info(self) -> JavaTypeInformation:
        fields = [field.get_java_type_info() for field in self.field_types]
        tuple_class = f"org.apache.flink.api.java.tuple.Tuple{len(fields)}"
        return JavaTypeInformation(self.java_name, f"{OTHERS}TupleTypeInfo", tuple_class, fields, self.field_names)

    def __repr__(self) -> str:
        return f"Types.TUPLE({list(self.field_types)})"


@dataclass(frozen=True, slots=True, init=False)
class RowTypeInfo(TypeInformation[Row]):
    """A row with named fields; without names they are f0, f1, …"""

    field_types: tuple[TypeInformation[object], ...]  # one type per field
    field_names: tuple[str, ...]  # one name per field, all different

    def __init__(
        self, field_types: Sequence[TypeInformation[object]], field_names: Sequence[str] | None = None
    ) -> None:
        types = _types("RowTypeInfo", field_types)
        names = [f"f{i}" for i in range(len(types))] if field_names is None else field_names
        if isinstance(names, str) or not all(isinstance(each, str) for each in names):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeInfoError(f"RowTypeInfo was given the names {shown(field_names)}. Give texts such as ['a', 'b'].")
        object.__setattr__(self, "field_types", types)
        object.__setattr__(self, "field_names", tuple(names))
        self._check()

    def _check(self) -> None:
        if len(self.field_names) != len(self.field_types):
            raise TypeInfoError(
                f"A row type was given {len(self.field_names)} names {list(self.field_names)} for "
                f"{len(self.field_types)} field types. Give one name per type, as in Types.ROW_NAMED(['a', 'b'], "
                "[Types.INT(), Types.STRING()]).",
                flink_class="java.lang.IllegalArgumentException",
            )
        if len(set(self.field_names)) != len(self.field_names):
            twice = sorted({n for n in self.field_names if self.field_names.count(n) > 1})
            raise TypeInfoError(
                f"A row type names {twice} more than once in {list(self.field_names)}. Field names must differ, "
                "otherwise a field could not be addressed by its name.",
                flink_class="java.lang.IllegalArgumentException",
            )

    @property
    def java_name(self) -> str:
        fields = (f"{n}: {t.java_name}" for n, t in zip(self.field_names, self.field_types, strict=True))
        return f"Row({', '.join(fields)})"

    def __str__(self) -> str:
        names = [f"{name}: " for name in self.field_names]
        if self.field_names == tuple(f"f{i}" for i in range(len(names))):  # what nobody has named
            names = [""] * len(names)
        return (
            f"RowTypeInfo({', '.join(name + str(field) for name, field in zip(names, self.field_types, strict=True))})"
        )

    def get_field_types(self) -> list[TypeInformation[object]]:
        """The field types, as a new list (PyFlink)."""
        return list(self.field_types)

    def get_field_names(self) -> list[str]:
        """The field names, as a new list (PyFlink)."""
        return list(self.field_names)

    def get_field_index(self, field_name: str) -> int:
        """Position of a field by name, −1 if there is none (PyFlink)."""
        return self.field_names.index(field_name) if field_name in self.field_names else -1

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, obj: Any) -> tuple[Any, ...] | None:
        """The number of the row's kind, then the fields in their internal forms: of a dict, an object or a row with
        names those of the type's names, else in their order. TypeInfoError of what has no fields, or not these."""
        if obj is None:
            return None
        kind = obj.get_row_kind() if isinstance(obj, Row) else RowKind.INSERT
        return (kind.value, *_each_to_internal(self.field_types, self._values(obj)))

    def _values(self, obj: Any) -> Iterable[Any]:
        if isinstance(obj, Row):
            return obj.get_fields_by_names(self.field_names)
        if isinstance(obj, tuple | list):
            return obj  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(obj, dict) and not hasattr(obj, "__dict__"):
            raise _no_record(obj, self, "a Row, a dict, a tuple, a list or an object with attributes")
        attributes = cast("dict[str, Any]", obj if isinstance(obj, dict) else vars(obj))
        return [attributes.get(name) for name in self.field_names]

    def from_internal_type(self, obj: Any) -> Any:
        return _each_from_internal(self.field_types, obj)

    def get_java_type_info(self) -> JavaTypeInformation:
        fields = [field.get_java_type_info() for field in self.field_types]
        row_class = "org.apache.flink.types.Row"
        return JavaTypeInformation(self.java_name, f"{OTHERS}RowTypeInfo", row_class, fields, self.field_names)

    def __repr__(self) -> str:
        return f"Types.ROW_NAMED({list(self.field_names)}, {list(self.field_types)})"


def _no_record(obj: object, type_info: TypeInformation[Any], expected: str) -> TypeInfoError:
    return TypeInfoError(f"{type_info!r} has no internal form of {shown(obj)}. Give {expected}.")
