"""Types of columns in Arrow, and what makes of the values of a file's columns those of records.

A type in a file may be wider or narrower than the declared one where it is of the same kind: values that do not fit are
refused one by one. Nested values cross as Python objects, a conversion per value; scalars mostly need none.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timezone
from typing import Any

import pyarrow as pa

from penstock.common import column_types as ct
from penstock.common.conversions import Convert, optional, same
from penstock.runtime.io.formats.fields import BITS, maker, within
from penstock.runtime.io.moments import instant_of

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

_SIMPLE: dict[type[ct.DataType], Callable[[], pa.DataType]] = {
    ct.BooleanType: pa.bool_,
    ct.TinyIntType: pa.int8,
    ct.SmallIntType: pa.int16,
    ct.IntType: pa.int32,
    ct.BigIntType: pa.int64,
    ct.FloatType: pa.float32,
    ct.DoubleType: pa.float64,
    ct.DateType: pa.date32,
    ct.VarCharType: pa.string,
    ct.CharType: pa.string,
    ct.VarBinaryType: pa.binary,
    ct.BinaryType: pa.binary,
}


def arrow_type(wanted: ct.DataType) -> pa.DataType:
    """The type of a column in Arrow.

    Args:
        wanted: as declared.
    """
    if isinstance(wanted, ct.DecimalType):
        return pa.decimal128(wanted.precision, wanted.scale)
    if isinstance(wanted, ct.TimeType):
        return pa.time32("ms") if wanted.precision <= 3 else pa.time64("us")
    if isinstance(wanted, ct.TimestampType):
        zone = "UTC" if isinstance(wanted, ct.LocalZonedTimestampType) else None
        return pa.timestamp("us" if wanted.precision <= 6 else "ns", zone)
    if isinstance(wanted, ct.ArrayType):
        return pa.list_(arrow_field("item", wanted.element_type))
    if isinstance(wanted, ct.MapType):
        return pa.map_(arrow_type(wanted.key_type), arrow_field("value", wanted.value_type))
    if isinstance(wanted, ct.RowType):
        return pa.struct([arrow_field(each.name, each.data_type) for each in wanted])
    return _SIMPLE[type(wanted)]()


def arrow_field(name: str, wanted: ct.DataType) -> pa.Field:
    """A column in Arrow."""
    return pa.field(name, arrow_type(wanted), wanted.nullable)


def arrow_schema(row_type: ct.RowType) -> pa.Schema:
    """All columns in Arrow."""
    return pa.schema([arrow_field(each.name, each.data_type) for each in row_type])


class Mismatch(Exception):
    """A column of a file is of another kind than the declared one."""


def inward(found: pa.DataType, wanted: ct.DataType, utc: bool = True) -> tuple[pa.DataType, Convert | None]:
    """How a column of a file is read: the Arrow type that it is cast to first, and what makes of such a value one in a
    record; None where it is the same.

    Args:
        found: type of the column in the file.
        wanted: as declared.
        utc: whether moments become clocks on walls in UTC, otherwise in the zone of the machine.

    Raises:
        Mismatch: they are of another kind.
    """
    if isinstance(found, pa.BaseExtensionType):
        return inward(found.storage_type, wanted, utc)
    if pa.types.is_dictionary(found):
        return inward(found.value_type, wanted, utc)
    if pa.types.is_null(found):
        return found, None
    for kind, reader in _READERS.items():
        if isinstance(wanted, kind):
            read = reader(found, wanted, utc)
            if read is not None:
                return read
    raise Mismatch(f"{found} in the file, {wanted} declared")


_Read = tuple[pa.DataType, "Convert | None"] | None


def _integer(found: pa.DataType, wanted: Any, utc: bool) -> _Read:
    if not pa.types.is_integer(found):
        return None
    bits = BITS[type(wanted)]
    narrow = found.bit_width > bits or (found.bit_width == bits and pa.types.is_unsigned_integer(found))
    return found, (optional(within(bits)) if narrow else None)


def _float(found: pa.DataType, wanted: Any, utc: bool) -> _Read:
    wide = isinstance(wanted, ct.DoubleType)
    return (found, None) if pa.types.is_floating(found) and (wide or found.bit_width <= 32) else None


def _decimal(found: pa.DataType, wanted: ct.DecimalType, utc: bool) -> _Read:
    if not pa.types.is_decimal(found):
        return None
    if wanted.whole and found.scale == 0:
        return found, optional(int)
    return arrow_type(wanted), None


def _text(found: pa.DataType, wanted: Any, utc: bool) -> _Read:
    fits = pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found)
    return (pa.large_string(), None) if fits else None


def _bytes(found: pa.DataType, wanted: Any, utc: bool) -> _Read:
    fits = pa.types.is_binary(found) or pa.types.is_large_binary(found) or pa.types.is_fixed_size_binary(found)
    return (found, None) if fits else None


def _moment(found: pa.DataType, wanted: ct.LocalZonedTimestampType, utc: bool) -> _Read:
    if not pa.types.is_timestamp(found):
        return None
    if wanted.zoned:
        return pa.timestamp("us"), optional(lambda value: value.replace(tzinfo=timezone.utc))
    per_second = PER_SECOND[found.unit]
    return pa.int64(), optional(lambda ticks: instant_of(ticks, per_second))


def _clock(found: pa.DataType, wanted: Any, utc: bool) -> _Read:
    if not pa.types.is_timestamp(found):
        return None
    if found.tz is None or utc:
        return pa.timestamp("us"), None
    return pa.timestamp("us"), optional(
        lambda value: value.replace(tzinfo=timezone.utc).astimezone().replace(tzinfo=None)
    )


def _array(found: pa.DataType, wanted: ct.ArrayType, utc: bool) -> _Read:
    if not (pa.types.is_list(found) or pa.types.is_large_list(found) or pa.types.is_fixed_size_list(found)):
        return None
    plain, element = inward(found.value_type, wanted.element_type, utc)
    convert = element and optional(lambda values: [element(value) for value in values])
    return pa.large_list(pa.field(found.value_field.name, plain)), convert


def _map(found: pa.DataType, wanted: ct.MapType, utc: bool) -> _Read:
    if not pa.types.is_map(found):
        return None
    (plain_key, key), (plain_item, item) = (
        inward(found.key_type, wanted.key_type, utc),
        inward(found.item_type, wanted.value_type, utc),
    )
    if key is None and item is None:
        return pa.map_(plain_key, plain_item), optional(dict)
    key, item = key or same, item or same
    return pa.map_(plain_key, plain_item), optional(lambda pairs: {key(k): item(v) for k, v in pairs})


def _row(found: pa.DataType, wanted: ct.RowType, utc: bool) -> _Read:
    if not pa.types.is_struct(found):
        return None
    own = {found.field(index).name: found.field(index) for index in range(found.num_fields)}
    plain, converts = dict[str, pa.DataType]({name: field.type for name, field in own.items()}), []
    for each in wanted:
        if each.name not in own:
            raise Mismatch(f"no field {each.name!r} in {found}")
        plain[each.name], convert = inward(own[each.name].type, each.data_type, utc)
        converts.append((each.name, convert or same))
    return pa.struct(list(plain.items())), optional(_to_row(converts, wanted))


def _to_row(converts: list[tuple[str, Convert]], row_type: ct.RowType) -> Convert:
    make = maker(row_type)
    return lambda value: make([convert(value[name]) for name, convert in converts])


_READERS: dict[Any, Callable[[pa.DataType, Any, bool], _Read]] = {
    tuple(BITS): _integer,
    (ct.FloatType, ct.DoubleType): _float,
    ct.BooleanType: lambda found, wanted, utc: (found, None) if pa.types.is_boolean(found) else None,
    ct.DecimalType: _decimal,
    ct.VarCharType: _text,
    ct.VarBinaryType: _bytes,
    ct.DateType: lambda found, wanted, utc: (pa.date32(), None) if pa.types.is_date(found) else None,
    ct.TimeType: lambda found, wanted, utc: (pa.time64("us"), None) if pa.types.is_time(found) else None,
    ct.LocalZonedTimestampType: _moment,
    ct.TimestampType: _clock,
    ct.ArrayType: _array,
    ct.MapType: _map,
    ct.RowType: _row,
}
"""How columns are read, by what is declared."""
