"""Rows inside rows, tuples, lists and maps keep the names of their types."""

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    inner = Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()])
    outer = Types.ROW_NAMED(
        ["n", "row", "rows", "by"], [Types.INT(), inner, Types.LIST(inner), Types.MAP(Types.STRING(), inner)]
    )

    def made(x):
        return Row(x, Row(y="in", x=x), [Row(x, "list")], {"k": Row(x, "map")})

    numbers = env.from_collection([1], type_info=Types.INT())
    numbers.map(made, output_type=outer).rebalance().map(repr).print("exchange")
    numbers.map(made, output_type=outer).rebalance().map(lambda row: row.rows[0].y + row.by["k"].y).print("names")
    numbers.map(made, output_type=outer).print("printed")
    pair = Types.TUPLE([Types.INT(), inner])
    numbers.map(lambda x: (x, Row(x, "tuple")), output_type=pair).rebalance().map(repr).print("tuple")
    numbers.map(lambda x: (x, Row(x, "tuple")), output_type=pair).print("tuple printed")
    nested = Types.ROW_NAMED(["n", "row"], [Types.INT(), inner])
    source = env.from_collection([Row(1, Row(2, "a")), (3, (4, "b")), Row(n=5, row=Row(6, "c"))], type_info=nested)
    source.map(repr).print("source")
    source.print("source printed")
    arrays = Types.OBJECT_ARRAY(inner)
    numbers.map(lambda x: [Row(x, "array")], output_type=arrays).rebalance().map(repr).print("array")
    env.execute()
