"""Counters, gauges, meters and distributions, as functions see them."""

from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Measured(MapFunction):
    def open(self, runtime_context):
        group = runtime_context.get_metrics_group()
        self.seen = group.counter("seen")
        self.odd = group.add_group("kinds").counter("odd")
        self.meter = group.meter("rate", 60)
        self.sizes = group.add_group("key", "value").distribution("sizes")
        group.gauge("last", lambda: 7)

    def map(self, value):
        self.seen.inc()
        self.odd.inc(value % 2)
        self.meter.mark_event(2)
        self.sizes.update(value)
        return value, self.seen.get_count(), self.odd.get_count(), self.meter.get_count()


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.from_collection([1, 2, 3], type_info=Types.INT()).map(Measured()).print()
    env.execute()
