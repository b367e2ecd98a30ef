"""Functions of batches beside functions of records: the same work per record, in this process, without Spark.

Each kind of work is a function of a record, and the same for columns of some libraries. The time of one is that of a
program with it, less that of one without.
"""

from __future__ import annotations

import gc
import math
import re
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from penstock.common import Types
from penstock.datastream import StreamExecutionEnvironment

RECORDS = "map"
PAIR = Types.TUPLE([Types.LONG(), Types.DOUBLE()])
_WEIGHTS = [0.5, -0.25, 1.0, -1.5, 0.75, 0.0, 0.3, -0.6]
_FORM = "%d/%m/%Y:%H:%M:%S"
_NUMBER = re.compile(r"order-(?P<number>\d+)/")


def line(pair: tuple[int, float]) -> tuple[int, float]:
    n, x = pair
    return n * 3 + 1, x * x + n * 0.25 if x > 10 else 0.0


def line_arrow(batch: pa.RecordBatch) -> pa.RecordBatch:
    n, x = batch.columns
    y = pc.add(pc.multiply(x, x), pc.multiply(pc.cast(n, pa.float64()), 0.25))
    columns = [pc.add(pc.multiply(n, 3), 1), pc.if_else(pc.greater(x, 10), y, 0.0)]
    return pa.record_batch(columns, names=["f0", "f1"])


def line_pandas(batch: pd.DataFrame) -> pd.DataFrame:
    n, x = batch["f0"], batch["f1"]
    return pd.DataFrame({"f0": n * 3 + 1, "f1": (x * x + n * 0.25).where(x > 10, 0.0)})


def line_polars(batch: pl.DataFrame) -> pl.DataFrame:
    n, x = pl.col("f0"), pl.col("f1")
    return batch.select(n * 3 + 1, pl.when(x > 10).then(x * x + n * 0.25).otherwise(0.0).alias("f1"))


def line_numpy(batch: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    n, x = batch["f0"], batch["f1"]
    return {"f0": n * 3 + 1, "f1": np.where(x > 10, x * x + n * 0.25, 0.0)}


def score(fields: tuple[float, ...]) -> float:
    """A model of eight numbers."""
    total = 0.1
    for weight, field in zip(_WEIGHTS, fields, strict=True):
        total += weight * field
    return 1 / (1 + math.exp(-total))


def score_numpy(batch: dict[str, np.ndarray]) -> np.ndarray:
    return 1 / (1 + np.exp(-(0.1 + np.stack(list(batch.values()), axis=1) @ np.array(_WEIGHTS))))


def hour(text: str) -> int:
    return datetime.strptime(text, _FORM).hour


def hour_arrow(batch: pa.Array) -> pa.Array:
    return pc.hour(pc.strptime(batch, format=_FORM, unit="s"))


def number(text: str) -> str:
    match = _NUMBER.search(text)
    return "" if match is None else match["number"].zfill(12)


def number_arrow(batch: pa.Array) -> pa.Array:
    digits = pc.struct_field(pc.extract_regex(batch, _NUMBER.pattern), "number")
    return pc.fill_null(pc.utf8_lpad(digits, 12, "0"), "")


def number_polars(batch: pl.Series) -> pl.Series:
    return batch.str.extract(_NUMBER.pattern).str.zfill(12).fill_null("")


class Work(NamedTuple):
    """Work by its ways: that of records first."""

    type_info: Any
    record: Callable[[int], Any]
    ways: dict[str, Callable[[Any], Any]]
    result_type: Any = None  # that of the records, unless there is one


def pair(n: int) -> tuple[int, float]:
    return n, n * 0.5


def eight(n: int) -> tuple[float, ...]:
    return tuple([(n % (11 + field)) / 10 for field in range(8)])


def moment(n: int) -> str:
    return f"{n % 28 + 1:02}/11/2026:{n % 24:02}:{n % 60:02}:00"


def path(n: int) -> str:
    return f"/shops/{n % 7}/order-{n}/items" if n % 5 else "/shops/"


KINDS: dict[str, Work] = {
    "arithmetic on two fields": Work(
        PAIR,
        pair,
        {RECORDS: line, "Arrow": line_arrow, "NumPy": line_numpy, "polars": line_polars, "pandas": line_pandas},
    ),
    "a part of a text": Work(Types.STRING(), path, {RECORDS: number, "Arrow": number_arrow, "polars": number_polars}),
    "a model of eight fields": Work(
        Types.TUPLE([Types.DOUBLE()] * 8), eight, {RECORDS: score, "NumPy": score_numpy}, Types.DOUBLE()
    ),
    "the hour of a time in a text": Work(Types.STRING(), moment, {RECORDS: hour, "Arrow": hour_arrow}, Types.LONG()),
}


def program(kind: str, way: str | None, records: int) -> Any:
    """Numbers made into records, and the work on them."""
    env = StreamExecutionEnvironment.get_execution_environment(executor="local")
    work = KINDS[kind]
    stream = env.generate_sequence(1, records).map(work.record, output_type=work.type_info)
    if way is None:
        return stream
    function = work.ways[way]
    return (stream.map if way == RECORDS else stream.map_batches)(function, work.result_type or work.type_info)


def results(kind: str, way: str, records: int) -> list[Any]:
    """The results; floats to twelve digits, as the order of additions differs."""
    with program(kind, way, records).execute_and_collect() as collected:
        return [round(value, 12) if isinstance(value, float) else value for value in collected]


def ignore(value: Any) -> None:
    """A sink that does nothing."""


def measure(kind: str, way: str, records: int, rounds: int) -> list[float]:
    """CPU seconds per round of the work alone."""
    return [max(_spent(kind, way, records) - _spent(kind, None, records), 0) for _ in range(rounds)]


def _spent(kind: str, way: str | None, records: int) -> float:
    stream = program(kind, way, records)
    stream.add_sink(ignore)
    gc.collect()
    before = time.process_time()
    stream.get_execution_environment().execute()
    return time.process_time() - before
