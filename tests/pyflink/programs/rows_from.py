"""What a collection of rows may be made of: dicts, objects, tuples, lists, rows by name and by position."""

from collections import namedtuple
from dataclasses import dataclass

from pyflink.common import Row, RowKind, Types
from pyflink.datastream import StreamExecutionEnvironment

Pair = namedtuple("Pair", "b a")


class Thing:
    def __init__(self, a, b):
        self.a, self.b = a, b


@dataclass
class Data:
    a: int
    b: str


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    records = [
        Row(1, "row"),
        Row(b="by name", a=2),
        (3, "tuple"),
        [4, "list"],
        {"a": 5, "b": "dict"},
        {"b": "less"},
        {"a": 6, "b": "more", "c": 7},
        Thing(8, "object"),
        Pair("named tuple", 9)[::-1],
        Data(10, "dataclass"),
        Row.of_kind(RowKind.DELETE, 11, "deleted"),
        Row(None, None),
    ]
    named = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
    rows = env.from_collection(records, type_info=named)
    rows.map(repr).print("seen")
    rows.print("printed")
    rows.map(lambda row: (row.a, row["b"])).print("fields")
    plain = env.from_collection([(1, "x"), {"f0": 2, "f1": "y"}], type_info=Types.ROW([Types.INT(), Types.STRING()]))
    plain.map(repr).print("without names")
    env.execute()
