"""Streams that are keyed, counted, and keyed by something else."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor

SALES = [("ann", "tea", 2), ("bob", "tea", 1), ("ann", "rice", 4), ("bob", "tea", 3), ("cleo", "rice", 1)]
SALE = Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT()])


class PerPerson(KeyedProcessFunction):
    def open(self, runtime_context):
        self.pieces = runtime_context.get_map_state(MapStateDescriptor("pieces", Types.STRING(), Types.INT()))

    def process_element(self, value, ctx):
        who, what, pieces = value
        self.pieces.put(what, (self.pieces.get(what) or 0) + pieces)
        yield who, ctx.get_current_key(), self.pieces.get(what)


class Best(KeyedProcessFunction):
    def open(self, runtime_context):
        self.best = runtime_context.get_map_state(MapStateDescriptor("best", Types.STRING(), Types.INT()))

    def process_element(self, value, ctx):
        self.best[value[0]] = value[2]
        best = max(self.best.items(), key=lambda entry: (entry[1], entry[0]))
        yield ctx.get_current_key(), best[0], best[1]


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    sales = env.from_collection(SALES, type_info=SALE)
    people = sales.key_by(lambda sale: sale[0]).key_by(lambda sale: (sale[0], sale[1])).sum(2)
    people.print("twice keyed")
    people.key_by(lambda sale: sale[1], Types.STRING()).process(Best()).print("best of")
    sales.key_by(lambda sale: sale[1], Types.STRING()).process(PerPerson(), SALE).key_by(lambda v: v[0]).max(2).print(
        "max"
    )
    counts = sales.map(lambda sale: (sale[1], 1)).key_by(lambda pair: pair[0]).sum(1)
    counts.key_by(lambda pair: pair[1]).reduce(lambda one, other: (f"{one[0]}+{other[0]}", one[1])).print("of a count")
    env.execute()
