"""Types of records with fields of different types: tuples and rows.

Sources: as for :mod:`.scalar_types`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.common.row import Row
from penstock.common.scalar_types import TypeInformation
from penstock.errors import TypeInfoError

__all__ = ["RowTypeInfo", "TupleTypeInfo"]

MAX_TUPLE_ARITY = 25  # Flink's largest tuple class is Tuple25


@dataclass(frozen=True, slots=True)
class TupleTypeInfo(TypeInformation[tuple[Any, ...]]):
    """A Flink tuple; its fields are named f0, f1, …

    Attributes:
        field_types: one type per field, 1 to 25 of them.
    """

    field_types: tuple[TypeInformation[object], ...]

    def __post_init__(self) -> None:
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

    def __repr__(self) -> str:
        return f"Types.TUPLE({list(self.field_types)})"


@dataclass(frozen=True, slots=True)
class RowTypeInfo(TypeInformation[Row]):
    """A row with named fields; without names they are f0, f1, …

    Attributes:
        field_types: one type per field.
        field_names: one name per field, all different.
    """

    field_types: tuple[TypeInformation[object], ...]
    field_names: tuple[str, ...]

    def __post_init__(self) -> None:
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

    def __repr__(self) -> str:
        return f"Types.ROW_NAMED({list(self.field_names)}, {list(self.field_types)})"
