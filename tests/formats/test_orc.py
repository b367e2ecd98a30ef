"""ORC files: written for others to read."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import example, given
from pyarrow import orc

from penstock.common import Configuration, Row, Types
from penstock.common.data_types import DataTypes as D
from penstock.datastream.formats import OrcBulkWriters
from penstock.errors import JobExecutionError, UnsupportedError
from penstock.runtime.columns.arrow import BatchReader
from tests.formats.programs import files, write
from tests.formats.values import NESTED, rows_of

KINDS = {name: kind for name, kind in NESTED.items() if name not in ("hour", "map")}
"""ORC has no times of day."""
ROW_TYPE = D.ROW([D.FIELD(name, kind) for name, (kind, _) in KINDS.items()])


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_others_read_what_is_written(tmp_path, parallelism):
    pairs = Types.ROW_NAMED(["word", "total"], [Types.STRING(), Types.INT()])
    records = [Row(word=str(number), total=number) for number in range(2_000)]
    paths = write(tmp_path, OrcBulkWriters.for_row_type(pairs), records, pairs, parallelism)
    assert len(paths) == parallelism
    table = pd.concat([pd.read_orc(path) for path in paths]).sort_values("total")
    assert list(table.itertuples(index=False, name=None)) == [tuple(row) for row in records]


@given(rows_of(KINDS))
@example(Row.of_values([None] * len(ROW_TYPE), tuple(ROW_TYPE.names)))
def test_every_value_is_there(tmp_path_factory, record):
    path = tmp_path_factory.mktemp("orc") / "file"
    with path.open("wb") as file:
        writer = OrcBulkWriters.for_row_type(ROW_TYPE).create(file)
        writer.add_element(record)
        writer.finish()
    [batch] = orc.ORCFile(path).read().to_batches()
    assert BatchReader(batch.schema, ROW_TYPE, "file").records(batch, "stripe") == [record]


def test_properties(tmp_path):
    row_type = D.ROW([D.FIELD("n", D.INT())])
    plain = write(tmp_path / "a", OrcBulkWriters.for_row_type(row_type), [(1,)])
    none = Configuration().set_string("orc.compress", "NONE")
    other = write(tmp_path / "b", OrcBulkWriters.for_row_type(row_type, none), [(1,)])
    assert [orc.ORCFile(path).compression for path in plain + other] == ["ZLIB", "UNCOMPRESSED"]


def test_a_record_that_does_not_fit_fails_the_job(tmp_path):
    row_type = D.ROW([D.FIELD("n", D.INT())])
    with pytest.raises(JobExecutionError, match=r"/part-.*: The value 'x' cannot be written into the column 'n'"):
        write(tmp_path, OrcBulkWriters.for_row_type(row_type), [("x",)])
    assert files(tmp_path) == []
    with pytest.raises(UnsupportedError, match="times of day"):
        OrcBulkWriters.for_row_type(D.ROW([D.FIELD("t", D.TIME())]))
