"""The Parquet files of the sums by key: made once, always the same."""

from __future__ import annotations

import random
from pathlib import Path

KEYS = 100_000
FILES = 2  # one for each reader
PER_SECOND = 10_000
"""Records of a file in a second of event time."""


def table(folder: Path, records: int) -> Path:
    """A folder of two Parquet files with so many records: a key, a value, and the time in milliseconds, which rises in
    each file. All values of a key are the same, and few bits are in each, so that sums do not depend on the order
    of records; made if it is not there."""
    path = folder / f"pairs-{records}"
    if not path.exists():
        import pyarrow as pa
        import pyarrow.parquet as pq

        making = path.with_suffix(".part")
        making.mkdir(parents=True, exist_ok=True)
        drawn = random.Random(7)
        values = [drawn.randrange(1 << 20) / 1024 for _ in range(min(KEYS, records // 2))]
        for number in range(FILES):
            count = records // FILES
            keys = [drawn.randrange(len(values)) for _ in range(count)]
            columns = {
                "key": pa.array(keys, pa.int64()),
                "value": pa.array([values[key] for key in keys], pa.float64()),
                "time": pa.array([row * 1000 // PER_SECOND for row in range(count)], pa.int64()),
            }
            encoding = {"time": "DELTA_BINARY_PACKED"}
            pq.write_table(
                pa.table(columns), making / f"part-{number}.parquet", use_dictionary=["key", "value"],
                column_encoding=encoding, compression="snappy",
            )  # fmt: skip
        making.rename(path)
    return path
