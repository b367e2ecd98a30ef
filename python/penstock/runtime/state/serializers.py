"""Names of Flink's type serializers, as they appear in snapshots and in the names of windows over a whole stream."""

from __future__ import annotations

from typing import Any

from penstock.common import typeinfo as types
from penstock.common.typeinfo import BasicType, TypeInformation

_BASE = "org.apache.flink.api.common.typeutils.base."
_TYPEUTILS = "org.apache.flink.api.java.typeutils.runtime."
_BASIC_SERIALIZERS = {
    BasicType.BIG_DEC: "BigDecSerializer",
    BasicType.BIG_INT: "BigIntSerializer",
    BasicType.INSTANT: "InstantSerializer",
}
LIST = _BASE + "ListSerializer"
TTL = "org.apache.flink.runtime.state.ttl.TtlStateFactory$TtlSerializer"
"""The serializer of values with a time to live: the value, and its last access."""


def serializer_class(type_info: TypeInformation[Any] | None) -> str:
    """Flink's serializer class of a type."""
    if isinstance(type_info, types.BasicTypeInfo):
        kind = type_info.basic_type
        return _BASE + _BASIC_SERIALIZERS.get(kind, f"{kind.name.capitalize()}Serializer")
    if isinstance(type_info, types.TupleTypeInfo):
        return _TYPEUTILS + "TupleSerializer"
    if isinstance(type_info, types.RowTypeInfo):
        return _TYPEUTILS + "RowSerializer"
    if isinstance(type_info, types.ListTypeInfo):
        return LIST
    if isinstance(type_info, types.MapTypeInfo):
        return _BASE + "MapSerializer"
    return _BASE + "array.BytePrimitiveArraySerializer"  # pickled records are bytes to Flink
