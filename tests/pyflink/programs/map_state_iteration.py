"""All that a map state does, as a dict would."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor


class Maps(KeyedProcessFunction):
    def open(self, runtime_context):
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.STRING(), Types.INT()))

    def process_element(self, value, ctx):
        state = self.map
        yield "empty", state.is_empty(), state.get("a"), state.contains("a"), "a" in state
        state.put("a", 1)
        state["b"] = 2
        state["c"], state["d"] = 3, 4
        yield "keys", sorted(state.keys()), sorted(state), sorted(state.values()), sorted(state.items())
        state.remove("a")
        del state["b"]
        yield "left", state["c"], state.get("a"), sorted(state.items()), state.is_empty()
        for key in list(state.keys()):
            state.put(key, state.get(key) * 10)
        yield "changed", sorted(state.items())
        state.clear()
        yield "cleared", state.is_empty(), list(state.items())


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    stream = env.from_collection([1, 2], type_info=Types.INT())
    stream.key_by(lambda value: value, key_type=Types.INT()).process(Maps()).print()
    env.execute()
