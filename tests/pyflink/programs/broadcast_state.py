"""Rules by broadcast state beside a keyed stream: all rules come first here, so what is told is what was known."""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.functions import BroadcastProcessFunction
from pyflink.datastream.state import MapStateDescriptor

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Apply(BroadcastProcessFunction):
    def process_element(self, value, ctx: BroadcastProcessFunction.ReadOnlyContext):
        yield "element", value

    def process_broadcast_element(self, value, ctx: BroadcastProcessFunction.Context):
        state = ctx.get_broadcast_state(RULES)
        state.put(value[0], value[1] + (state.get(value[0]) or 0))
        yield "rule", sorted(state.items())


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    rules = env.from_collection([("a", 1), ("b", 2), ("a", 3)], type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
    numbers = env.from_collection([1, 2], type_info=Types.INT())
    numbers.connect(rules.broadcast(RULES)).process(Apply()).print()
    env.execute()
