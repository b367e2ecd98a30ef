"""Selectors of keys: classes with settings of their own, functions, attributes and fields of rows."""

from operator import itemgetter

from pyflink.common import Row, Types
from pyflink.datastream import KeyedProcessFunction, KeySelector, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor

PERSON = Types.ROW_NAMED(["name", "city", "age"], [Types.STRING(), Types.STRING(), Types.INT()])
PEOPLE = [Row("Ann", "Rome", 31), Row("Bob", "Oslo", 28), Row("Cleo", "Rome", 35), Row("Dan", "Oslo", 39)]


class Decade(KeySelector):
    def __init__(self, size):
        self.size = size

    def get_key(self, value):
        return value["age"] // self.size * self.size


class Initial(KeySelector):
    def get_key(self, value):
        return value.name[0] < "C"


class Seen(KeyedProcessFunction):
    def open(self, runtime_context):
        self.names = runtime_context.get_state(ValueStateDescriptor("names", Types.STRING()))

    def process_element(self, value, ctx):
        self.names.update((self.names.value() or "") + value["name"])
        yield f"{ctx.get_current_key()}: {self.names.value()}"


def city(person):
    return person["city"]


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    people = env.from_collection(PEOPLE, type_info=PERSON)
    people.key_by(Decade(10), Types.INT()).process(Seen(), Types.STRING()).print("decade")
    people.key_by(Decade(5)).process(Seen(), Types.STRING()).print("five years")
    people.key_by(Initial(), Types.BOOLEAN()).process(Seen(), Types.STRING()).print("initial")
    people.key_by(city, Types.STRING()).process(Seen(), Types.STRING()).print("city")
    people.key_by(itemgetter("city")).process(Seen(), Types.STRING()).print("item")
    people.key_by(lambda _: None).process(Seen(), Types.STRING()).print("all")
    people.map(lambda row: (row.city, row.age), Types.TUPLE([Types.STRING(), Types.INT()])).key_by(
        itemgetter(0), Types.STRING()
    ).sum(1).print("ages")
    env.execute()
