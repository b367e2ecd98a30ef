"""Sums and extremes by position and by name, reductions by class."""

from pyflink.common import Row, Types
from pyflink.datastream import ReduceFunction, StreamExecutionEnvironment


class Longest(ReduceFunction):
    def reduce(self, value1, value2):
        return value1 if len(value1[1]) >= len(value2[1]) else value2


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    records = [("a", 3, 1.5), ("b", 1, 2.5), ("a", 1, 0.5), ("b", 5, 4.0), ("a", 2, 8.0)]
    fields = [Types.STRING(), Types.INT(), Types.DOUBLE()]
    tuples = env.from_collection(records, type_info=Types.TUPLE(fields)).key_by(lambda v: v[0], Types.STRING())
    tuples.sum(1).print("sum")
    tuples.min(1).print("min")
    tuples.max(2).print("max")
    tuples.min_by(1).print("min_by")
    tuples.max_by(1).print("max_by")
    rows = [Row(*record) for record in records]
    named = env.from_collection(rows, type_info=Types.ROW_NAMED(["word", "n", "x"], fields))
    named.key_by(lambda row: row.word, key_type=Types.STRING()).sum("n").print("named")
    named.key_by(lambda row: row["word"]).max_by("x").print("by name")
    words = env.from_collection([(1, "a"), (1, "bbb"), (2, "c"), (1, "dd")])
    words.key_by(lambda v: v[0]).reduce(Longest()).print("reduce")
    env.from_collection([3, 1, 2], type_info=Types.INT()).key_by(lambda v: 0, key_type=Types.INT()).sum().print("plain")
    env.execute()
