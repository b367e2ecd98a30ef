"""Programs that reduce and aggregate a stream by key."""

from __future__ import annotations

from penstock.common import Row
from penstock.datastream import DataStream, KeyedStream
from tests.moves.programs.table import READING, RECORD, STRING, by_key, program


@program
def keyed_reduce(env, records):
    return by_key(records).reduce(lambda a, b: (a[0], a[1] * 2 % 1000 + b[1], b[2])).uid("reduce")


@program
def keyed_sum(env, records):
    return by_key(records).sum(1).uid("sum")


@program
def keyed_min(env, records):
    return by_key(records).min(1).uid("min")


@program
def keyed_max(env, records):
    return by_key(records).max(1).uid("max")


@program
def keyed_min_by(env, records):
    return by_key(records).min_by(1).uid("min")


@program
def keyed_max_by(env, records):
    return by_key(records).max_by(1, False).uid("max")


def readings(records: DataStream) -> KeyedStream:
    rows = records.map(lambda record: Row(name=record[0], number=record[1], time=record[2]), READING)
    return rows.set_parallelism(1).key_by(lambda reading: reading.name, STRING)


def as_records(rows: DataStream) -> DataStream:
    return rows.map(lambda reading: (reading.name, reading.number, reading.time), RECORD)


@program
def pojo_sum(env, records):
    return as_records(readings(records).sum("number").uid("sum"))


@program
def pojo_max_by(env, records):
    return as_records(readings(records).max_by("number").uid("max"))


@program
def pojo_reduce(env, records):
    def added(a, b):
        return Row(name=a.name, number=a.number + b.number, time=max(a.time, b.time))

    return as_records(readings(records).reduce(added).uid("reduce"))
