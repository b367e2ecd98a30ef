"""The forms of values that PyFlink hands to Java, and types, tags and kinds of rows as Java shows them."""

from datetime import date, datetime, time, timedelta, timezone

from pyflink.common import Row, RowKind, Types
from pyflink.common.typeinfo import RowTypeInfo, TupleTypeInfo
from pyflink.datastream import OutputTag


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


EAST = timezone(timedelta(hours=2))
DATE, TIME, TIMESTAMP = Types.SQL_DATE(), Types.SQL_TIME(), Types.SQL_TIMESTAMP()
PLAIN = Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()])
DATED = Types.ROW_NAMED(["y", "x"], [DATE, Types.LONG()])
PAIR = Types.TUPLE([Types.STRING(), DATED])

for kind in (Types.INT(), DATE, TIME, TIMESTAMP, PLAIN, PAIR, Types.LIST(DATE), Types.PICKLED_BYTE_ARRAY()):
    print("conversion", kind, kind.need_conversion())
for day in (date(1970, 1, 2), date(1582, 10, 4), date(2024, 2, 29), None):
    print("day", DATE.to_internal_type(day), DATE.from_internal_type(DATE.to_internal_type(day)))
for second in (time(1, 2, 3, 4, tzinfo=EAST), time(23, 59, 59, 999999, tzinfo=timezone.utc), None):
    print("time", TIME.to_internal_type(second))
print("again", TIME.from_internal_type(TIME.to_internal_type(time(13, 14, 15, 16))))
for moment in (datetime(2024, 5, 6, 7, 8, 9, 10, tzinfo=EAST), datetime(1970, 1, 1, tzinfo=timezone.utc), None):
    print("moment", TIMESTAMP.to_internal_type(moment))
print("again", TIMESTAMP.from_internal_type(TIMESTAMP.to_internal_type(datetime(2024, 5, 6, 7, 8, 9, 10))))
print("row", PLAIN.to_internal_type(Row(1, "a")), PLAIN.to_internal_type(Row(y="a", x=1)))
print("row", PLAIN.to_internal_type({"x": 1}), PLAIN.to_internal_type([1, "a"]), PLAIN.to_internal_type(Point(1, "b")))
print("row", PLAIN.to_internal_type(Row.of_kind(RowKind.DELETE, 1, "a")), PLAIN.to_internal_type(None))
print("dated", DATED.to_internal_type(Row(x=1, y=date(1970, 1, 11))), DATED.to_internal_type((date(1970, 1, 1), 5)))
print("dated", DATED.to_internal_type({"y": date(1970, 1, 3)}), DATED.to_internal_type(Point(7, date(1969, 12, 31))))
print("pair", PAIR.to_internal_type(("a", Row(date(1970, 1, 2), 3))), PAIR.to_internal_type(Row("a", None)))
print("from", PAIR.from_internal_type(("a", 1)), PLAIN.from_internal_type([1, 2]), PAIR.from_internal_type(None))
print("from", DATED.from_internal_type(iter([1, 2])) if hasattr(DATED, "from_internal_type") else None)
print("list", Types.LIST(DATE).to_internal_type([date(1970, 1, 2)]))
for kind, value in ((PLAIN, 1), (PAIR, "ab"), (PAIR, {"a": 1})):
    try:
        print(kind.to_internal_type(value))
    except ValueError:
        print("refused", kind)

print("equal", RowTypeInfo([Types.INT(), Types.STRING()], ["x", "y"]) == PLAIN)
print("names", RowTypeInfo([Types.INT()]).get_field_names(), TupleTypeInfo([Types.INT()]) == Types.TUPLE([Types.INT()]))

ALL = [
    *(Types.STRING(), Types.BYTE(), Types.BOOLEAN(), Types.SHORT(), Types.INT(), Types.LONG(), Types.FLOAT()),
    *(Types.DOUBLE(), Types.CHAR(), Types.BIG_INT(), Types.BIG_DEC(), Types.INSTANT(), DATE, TIME, TIMESTAMP),
    *(Types.PICKLED_BYTE_ARRAY(), PLAIN, DATED, PAIR, Types.LIST(Types.INT()), Types.MAP(Types.STRING(), PLAIN)),
    *(Types.PRIMITIVE_ARRAY(Types.INT()), Types.PRIMITIVE_ARRAY(Types.BYTE()), Types.PRIMITIVE_ARRAY(Types.CHAR())),
    *(Types.BASIC_ARRAY(Types.STRING()), Types.BASIC_ARRAY(Types.INT()), Types.OBJECT_ARRAY(Types.STRING())),
    *(Types.OBJECT_ARRAY(Types.INT()), Types.OBJECT_ARRAY(DATE), Types.OBJECT_ARRAY(PLAIN)),
]
for kind in ALL:
    java = kind.get_java_type_info()
    print(java.toString(), java.getClass().getSimpleName(), java.isBasicType(), java.getArity(), java.getTotalFields())
for kind in (Types.INT(), Types.BIG_DEC(), Types.INSTANT(), DATE, PLAIN, PAIR, Types.MAP(Types.INT(), Types.INT())):
    print("records", kind.get_java_type_info().getTypeClass().getName(), kind.get_java_type_info().isTupleType())
tag = OutputTag("late", PLAIN).get_java_output_tag()
print("tag", tag.getId(), tag.getTypeInfo().toString(), OutputTag("any").get_java_output_tag().getTypeInfo().toString())
for kind in RowKind:
    java = kind.to_j_row_kind()
    print("kind", kind, java.toString(), java.shortString(), java.ordinal(), java.toByteValue())
