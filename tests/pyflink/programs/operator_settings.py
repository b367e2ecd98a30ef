"""Names, parallelism, chains and slots: results stay, and what was said is given back."""

from pyflink.common import Types
from pyflink.datastream import SlotSharingGroup, StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    numbers = env.from_collection([1, 2, 3, 4], type_info=Types.INT()).name("numbers")
    print(numbers.get_name(), numbers.get_type())
    same = numbers.map(lambda x: x, output_type=Types.INT()).name("same").uid("same").set_description("as they are")
    print(same.get_name())
    chained = same.start_new_chain().set_parallelism(1).set_max_parallelism(8).set_buffer_timeout(50)
    group = SlotSharingGroup.builder("mine").set_cpu_cores(1.0).set_task_heap_memory_mb(100).build()
    alone = chained.map(lambda x: x + 1, Types.INT()).disable_chaining()
    forced = alone.filter(lambda x: x > 2).force_non_parallel()
    sink = forced.print("lines").name("out").uid("out").set_parallelism(1)
    print(group.get_name(), group.get_cpu_cores(), env.get_parallelism(), type(sink).__name__)
    env.execute("settings")
