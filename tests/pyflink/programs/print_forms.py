"""What ``print`` shows of values of every kind."""

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.from_collection([(1, "a", None, True), [1, 2], {"a": 1}, Row(1, "a"), Row(x=1, y="a"), 1.5]).print("untyped")
    pair = Types.ROW([Types.INT(), Types.STRING()])
    env.from_collection([Row(1, "a"), (2, None)], type_info=pair).print("row")
    named = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.ROW_NAMED(["c", "d"], [Types.STRING(), Types.INT()])])
    env.from_collection([Row(a=1, b=Row(c="x", d=2))], type_info=named).print("named")
    fields = [Types.INT(), Types.STRING(), Types.BOOLEAN(), Types.DOUBLE(), Types.FLOAT()]
    values = [(1, "a", True, 1e10, 110.1), (2, "b", False, 1e-5, 0.5)]
    env.from_collection(values, type_info=Types.TUPLE(fields)).print("tuple")
    env.from_collection([{"a": 1}], type_info=Types.MAP(Types.STRING(), Types.INT())).print("map")
    env.from_collection([1.5, float("nan"), 1e300], type_info=Types.DOUBLE()).print("double")
    rows = env.from_collection([1, 2], type_info=Types.INT())
    rows.map(lambda x: Row(x, str(x), None), output_type=Types.ROW([Types.INT(), Types.STRING(), Types.INT()])).print(
        "made"
    )
    rows.map(lambda x: (x, str(x))).print("tuples")
    rows.map(lambda x: None if x == 1 else x).print("none")
    env.execute()
