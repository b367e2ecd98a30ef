"""Time to live of state: settings of it, and values that are not over yet."""

from pyflink.common import Time, Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)

TTL = (
    StateTtlConfig.new_builder(Time.hours(1))
    .set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)
    .set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
    .cleanup_full_snapshot()
    .build()
)


class Living(KeyedProcessFunction):
    def open(self, runtime_context):
        value = ValueStateDescriptor("value", Types.INT())
        items = ListStateDescriptor("items", Types.INT())
        entries = MapStateDescriptor("entries", Types.INT(), Types.STRING())
        total = ReducingStateDescriptor("total", lambda x, y: x + y, Types.INT())
        for descriptor in (value, items, entries, total):
            descriptor.enable_time_to_live(TTL)
        self.value = runtime_context.get_state(value)
        self.items = runtime_context.get_list_state(items)
        self.entries = runtime_context.get_map_state(entries)
        self.total = runtime_context.get_reducing_state(total)

    def process_element(self, value, ctx):
        yield value, self.value.value(), list(self.items.get()), sorted(self.entries.items()), self.total.get()
        self.value.update(value)
        self.items.add(value)
        self.entries.put(value, str(value))
        self.total.add(value)


if __name__ == "__main__":
    print(TTL.get_ttl(), TTL.get_update_type().name, TTL.get_state_visibility().name)
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    stream = env.from_collection([1, 2, 3, 4], type_info=Types.INT())
    stream.key_by(lambda value: value % 2, key_type=Types.INT()).process(Living()).print()
    env.execute()
