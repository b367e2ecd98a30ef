"""One environment that is executed several times: each job has what was added since the last one."""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection([1, 2, 3], type_info=Types.INT())
    doubled = numbers.map(lambda value: 2 * value, Types.INT())
    doubled.print("first")
    print(type(env.execute("first")).__name__)
    doubled.filter(lambda value: value > 2).print("second")
    env.execute("second")
    with doubled.execute_and_collect("third") as results:
        print(sorted(results))
    print(sorted(doubled.execute_and_collect("fourth", 3)))
    doubled.key_by(lambda value: 0).sum().print("fifth")
    client = env.execute_async("fifth")
    print(type(client.get_job_execution_result().result()).__name__)
    try:
        env.execute("nothing")
    except Exception:
        print("refused: nothing to do")
