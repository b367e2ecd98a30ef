"""What a program catches when a function fails, and runs on."""

from py4j.protocol import Py4JJavaError
from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment


def fail(value):
    if value == 2:
        raise ValueError(f"no {value} today")
    return value


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.from_collection([1, 3], type_info=Types.INT()).map(fail, Types.INT()).print()
    env.execute()
    env.from_collection([2], type_info=Types.INT()).map(fail, Types.INT()).print()
    try:
        env.execute()
    except Py4JJavaError as error:
        print(
            "caught",
            "no 2 today" in str(error),
            "Traceback (most recent call last)" in str(error),
            "fail" in str(error),
        )
        print(error.java_exception.getClass().getName())
    try:
        env.execute()
    except Exception as error:
        print("nothing to run", isinstance(error, Py4JJavaError))
    env.from_collection([4], type_info=Types.INT()).print()
    env.execute()
