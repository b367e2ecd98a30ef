"""Unions, filters, projections, partitions of one's own, names."""

from pyflink.common import Types
from pyflink.datastream import FilterFunction, KeySelector, Partitioner, StreamExecutionEnvironment


class Even(FilterFunction):
    def filter(self, value):
        return value % 2 == 0


class Tens(KeySelector):
    def get_key(self, value):
        return value // 10


class First(Partitioner):
    def partition(self, key, num_partitions):
        return key % num_partitions


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    some = env.from_collection([1, 2, 11], type_info=Types.INT())
    more = env.from_collection([12, 3], type_info=Types.INT())
    some.union(more).filter(Even()).name("even").uid("even").print("union")
    some.key_by(Tens(), key_type=Types.INT()).sum().print("selector")
    some.partition_custom(First(), lambda value: value).map(lambda value: value + 1).print("custom")
    triples = env.from_collection([(1, "a", 2.5)], type_info=Types.TUPLE([Types.INT(), Types.STRING(), Types.DOUBLE()]))
    triples.project(2, 0).print("project")
    some.rebalance().map(str, output_type=Types.STRING()).set_parallelism(1).print("rebalance")
    some.flat_map(lambda value: [value] * (value % 3)).print("flat")
    some.flat_map(lambda value: str(value)).print("characters")
    print(some.get_type(), some.map(str, output_type=Types.STRING()).get_name(), env.get_parallelism())
    env.execute()
