"""Records of JSON texts by the basic operations: shown, mapped, filtered, keyed, summed."""

import json

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

PEOPLE = [
    (1, '{"name": "Ada", "address": {"town": "London"}, "phone": 12}'),
    (2, '{"name": "Emmy", "address": {"town": "Erlangen"}, "phone": 34}'),
    (3, '{"name": "Sofia", "address": {"town": "Moscow"}, "phone": 56}'),
    (4, '{"name": "Karen", "address": {"town": "London"}, "phone": 78}'),
]


def moved(record):
    person = json.loads(record[1])
    person["phone"] += 1
    return record[0], json.dumps(person)


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    people = env.from_collection(PEOPLE, type_info=Types.ROW_NAMED(["id", "info"], [Types.INT(), Types.STRING()]))
    people.print("all")
    people.map(moved).print("mapped")
    people.filter(lambda record: record[0] == 2).print("filtered")
    towns = people.map(
        lambda record: (json.loads(record[1])["address"]["town"], 1), Types.TUPLE([Types.STRING(), Types.INT()])
    )
    towns.key_by(lambda town: town[0]).sum(1).print("summed")
    people.key_by(lambda record: record[0] % 2).map(lambda record: record.info[:14]).print("named")
    env.execute()
