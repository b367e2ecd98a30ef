"""State that is written by one descriptor and read by another, for tests."""

from __future__ import annotations

from penstock.common import Time, Types
from penstock.datastream import (
    AggregateFunction,
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.runtime.checkpoint.state_series import load, save
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.disk.keyed import DiskKeyedState
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_time import Clock
from penstock.runtime.state.store import handle_of

ABOUT = AboutOperator("ab" * 16, "count", "my-uid", 0, 1, 128)
T = Types
STRING = T.STRING()
PERSON = T.ROW_NAMED(["name", "age"], [T.STRING(), T.INT()])
PLACE = T.ROW_NAMED(["city"], [T.STRING()])
SIZED = T.ROW_NAMED(["city", "size"], [T.STRING(), T.INT()])


class FixedClock(Clock):
    def __init__(self):
        self.time = 1_000_000
        super().__init__(lambda: self.time)


class Mean(AggregateFunction):
    def create_accumulator(self):
        return (0, 0)

    def add(self, value, accumulator):
        return (accumulator[0] + value, accumulator[1] + 1)

    def get_result(self, accumulator):
        return accumulator


def value(declared=None):
    return ValueStateDescriptor("x", declared)


def elements(declared=None):
    return ListStateDescriptor("x", declared)


def entries(key=None, declared=None):
    return MapStateDescriptor("x", key, declared)


def reduction(declared=None):
    return ReducingStateDescriptor("x", max, declared)


def mean(declared=None):
    return AggregatingStateDescriptor("x", Mean(), declared)


def living(descriptor, seconds=100):
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(seconds)).build())
    return descriptor


def fresh(disk=False, key_type=STRING):
    keyed = (DiskKeyedState if disk else KeyedState)(KeyHash(key_type), 128, FixedClock())
    keyed.track()
    return keyed


def put(handle, value):
    if handle.kind == "ListState":
        handle.update(value)
    elif handle.kind == "MapState":
        handle.put_all(value)
    elif handle.kind == "ValueState":
        handle.update(value)
    else:
        handle.add(value)


def get(handle):
    if handle.kind == "ListState":
        return list(handle.get())
    if handle.kind == "MapState":
        return dict(handle.items())
    return handle.value() if handle.kind == "ValueState" else handle.get()


def written(folder, descriptor, values, disk=False, key_type=STRING, namespace=None):
    keyed = fresh(disk, key_type)
    handle = handle_of(keyed, descriptor, namespace)
    for key, value in values.items():
        keyed.enter(key)
        put(handle, value)
    return save(str(folder), keyed, None, ABOUT, (), 1)


def reopened(folder, chain, disk=False, key_type=STRING):
    keyed = fresh(disk, key_type)
    load(str(folder), [chain], keyed, None, ABOUT)
    return keyed


def shown(keyed, descriptor, keys, namespace=None):
    handle, values = handle_of(keyed, descriptor, namespace), {}
    for key in keys:
        keyed.enter(key)
        values[key] = get(handle)
    return values


def gained(descriptor, **defaults):
    return descriptor.with_field_defaults({name.replace("__", "."): default for name, default in defaults.items()})
