"""BATCH mode: the broadcast records come first, then each key's."""

from pyflink.common import Configuration, Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.functions import KeyedBroadcastProcessFunction
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Apply(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value[0], value[1])
        return []

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        factor = ctx.get_broadcast_state(RULES).get(value[0])
        yield value[0], self.count.value(), None if factor is None else factor * value[1]


def environment():
    settings = Configuration()
    settings.set_string("python.execution-mode", "thread")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.set_parallelism(1)
    return env


if __name__ == "__main__":
    env = environment()
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    rules = env.from_collection([("a", 10), ("b", 100)], type_info=pair).broadcast(RULES)
    values = env.from_collection([("b", 1), ("a", 2), ("b", 3), ("c", 4)], type_info=pair)
    values.key_by(lambda v: v[0], key_type=Types.STRING()).connect(rules).process(Apply()).print()
    env.execute()
