"""Rules to all subtasks of a stream without keys."""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import BroadcastProcessFunction
from pyflink.datastream.state import MapStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Rules(BroadcastProcessFunction):
    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(RULES)
        state.put(value, len(value))
        yield "rule", value, sorted(state.keys()) == sorted(set(state.keys()))

    def process_element(self, value, ctx):
        yield "value", value, ctx.timestamp() == -9223372036854775808


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    rules = env.from_collection(["one", "three"], type_info=Types.STRING()).broadcast(RULES)
    env.from_collection([1, 2, 3], type_info=Types.INT()).connect(rules).process(Rules()).print()
    env.execute()
