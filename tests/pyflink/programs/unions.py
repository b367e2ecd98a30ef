"""Streams of one type as one, before windows, keys and another union."""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    first = env.from_collection([("a", 1)], type_info=pair)
    second = env.from_collection([("a", 10), ("b", 20)], type_info=pair)
    third = env.from_collection([("b", 300)], type_info=pair)
    first.union(second, third).key_by(lambda v: v[0]).sum(1).key_by(lambda v: v[0]).max(1).map(
        lambda v: v[0] if v[1] > 100 else "less"
    ).filter(lambda v: v != "less").print("sums")
    first.union(first).print("twice")
    first.union(second).union(third).map(lambda v: v[1]).print("chained")
    env.execute()
