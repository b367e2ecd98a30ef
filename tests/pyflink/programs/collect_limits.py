"""``execute_and_collect`` with a limit, in a ``with``, by ``next``, and of an empty stream."""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    numbers = env.from_collection([1, 2, 3, 4], type_info=Types.INT())
    print(numbers.execute_and_collect(limit=2))
    print(numbers.map(lambda x: x * 2).execute_and_collect("named", 10))
    with numbers.map(
        lambda x: (x, str(x)), Types.TUPLE([Types.INT(), Types.STRING()])
    ).execute_and_collect() as records:
        print(list(records))
    records = numbers.filter(lambda x: x > 2).execute_and_collect()
    print(next(records))
    for record in records:
        print("then", record)
    records.close()
    print(list(numbers.filter(lambda x: x > 9).execute_and_collect()))
