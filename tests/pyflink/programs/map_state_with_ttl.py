"""Map and aggregating state with a time to live that is far away: read, iterated, changed while it is listed."""

from pyflink.common import Time, Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import AggregatingStateDescriptor, MapStateDescriptor, StateTtlConfig

TTL = (
    StateTtlConfig.new_builder(Time.days(1))
    .update_ttl_on_create_and_write()
    .never_return_expired()
    .disable_cleanup_in_background()
    .build()
)


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class Stock(KeyedProcessFunction):
    def open(self, runtime_context):
        pieces = MapStateDescriptor("pieces", Types.STRING(), Types.INT())
        mean = AggregatingStateDescriptor("mean", Mean(), Types.PICKLED_BYTE_ARRAY())
        pieces.enable_time_to_live(TTL)
        mean.enable_time_to_live(TTL)
        self.pieces = runtime_context.get_map_state(pieces)
        self.mean = runtime_context.get_aggregating_state(mean)

    def process_element(self, value, ctx):
        shop, item, pieces = value
        if item == "all":
            for name in list(self.pieces):
                self.pieces.put(name, self.pieces.get(name) + pieces)
            self.pieces.put_all([("extra", 0), ("other", 1)])
        elif pieces == 0:
            self.pieces.remove(item)
        else:
            self.pieces.put(item, pieces)
            self.mean.add(pieces)
        yield shop, sorted(self.pieces.items()), self.mean.get(), "tea" in self.pieces


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    records = [("a", "tea", 3), ("b", "rice", 1), ("a", "oil", 6), ("a", "all", 10), ("b", "rice", 0), ("a", "tea", 0)]
    stream = env.from_collection(records, type_info=Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT()]))
    stream.key_by(lambda v: v[0], key_type=Types.STRING()).process(Stock()).print()
    env.execute()
