"""List state: add, add_all, update, clear, and what it gives when nothing is in it."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor


class Lists(KeyedProcessFunction):
    def open(self, runtime_context):
        self.words = runtime_context.get_list_state(ListStateDescriptor("words", Types.STRING()))
        self.pairs = runtime_context.get_list_state(
            ListStateDescriptor("pairs", Types.TUPLE([Types.STRING(), Types.LIST(Types.INT())]))
        )

    def process_element(self, value, ctx):
        yield "before", value, list(self.words), list(self.words.get()), list(self.pairs)
        self.words.add("one")
        self.words.add_all(["two", "three"])
        self.words.add_all([])
        yield "added", list(self.words)
        self.words.update(["only"])
        self.words.add("more")
        yield "updated", list(self.words)
        self.pairs.add(("p", [value]))
        self.pairs.add(("q", []))
        yield "pairs", list(self.pairs.get())
        if value > 2:
            self.words.clear()
            self.pairs.update([])
            yield "cleared", list(self.words), list(self.pairs)


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection([1, 3, 5], type_info=Types.INT())
    numbers.key_by(lambda value: "odd" if value % 2 else "even", Types.STRING()).process(Lists()).print()
    env.execute()
