"""Rows that functions make, of a declared type: by the type's names behind an exchange and where they are printed."""

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection([1, 2], type_info=Types.INT())
    plain = numbers.map(lambda x: Row(x, str(x)), output_type=Types.ROW([Types.INT(), Types.STRING()]))
    plain.rebalance().map(repr).print("plain, exchange")
    plain.print("plain, printed")
    named_type = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])
    named = numbers.map(lambda x: Row(b=f"b{x}", a=x), output_type=named_type)
    named.rebalance().map(repr).print("named, exchange")
    named.print("named, printed")
    unnamed = numbers.map(lambda x: Row(x, f"b{x}"), output_type=named_type)
    unnamed.rebalance().map(lambda row: (row.a, row["b"])).print("by name")
    nested_type = Types.ROW_NAMED(["n", "inner"], [Types.INT(), named_type])
    nested = numbers.map(lambda x: Row(x, Row(x, "c")), output_type=nested_type)
    nested.print("nested, printed")
    nested.rebalance().map(lambda row: row.inner.b).print("nested, exchange")
    keyed = named.key_by(lambda row: row.a, key_type=Types.INT())
    keyed.map(repr).print("keyed")
    keyed.reduce(lambda left, right: left).print("reduced")
    env.execute()
