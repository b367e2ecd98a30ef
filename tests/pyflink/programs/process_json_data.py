"""Records of JSON texts: read, changed, filtered, written."""

import json

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

RECORDS = [
    (1, '{"name": "Flink", "tel": 111, "addr": {"country": "Germany", "city": "Berlin"}}'),
    (2, '{"name": "hello", "tel": 135, "addr": {"country": "China", "city": "Shanghai"}}'),
    (3, '{"name": "world", "tel": 124, "addr": {"country": "USA", "city": "NewYork"}}'),
]


def update_tel(record):
    data = json.loads(record[1])
    data["tel"] += 1
    return record[0], json.dumps(data)


def country(record):
    return json.loads(record[1])["addr"]["country"]


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    stream = env.from_collection(RECORDS, type_info=Types.ROW_NAMED(["id", "info"], [Types.INT(), Types.STRING()]))
    stream.map(update_tel).filter(lambda record: country(record) != "China").print()
    stream.key_by(country).map(lambda record: (country(record), len(record))).print("second")
    env.execute()
