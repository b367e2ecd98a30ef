"""What ``execute_and_collect`` gives, of keyed streams too."""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    stream = env.from_collection([("a", 1), ("b", 2)], type_info=pair)
    with stream.map(lambda value: value[1]).execute_and_collect() as results:
        print(list(results))
    print(stream.execute_and_collect(limit=1))
    with stream.key_by(lambda value: value[0], key_type=Types.STRING()).execute_and_collect() as results:
        print(list(results))
    with stream.key_by(lambda value: value[0]).execute_and_collect() as results:
        print([type(result[0]).__name__ for result in results])
