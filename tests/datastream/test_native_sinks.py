"""Built-in sinks write the same bytes with native code, which hands them columns, and without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, Row, Types
from penstock.common.data_types import DataTypes
from penstock.common.serialization import Encoder
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.connectors import BucketAssigner, FileSink, RollingPolicy
from penstock.datastream.formats import CsvBulkWriters, CsvSchema, JsonLinesEncoder, OrcBulkWriters, ParquetBulkWriters
from penstock.runtime.chain import segments
from penstock.runtime.native import functions as native_functions

TEXTS = [
    *("", "a", 'say "yes"', "1,2", "two\nlines", "back\\slash", "#1", "é€\U0001f600", "\x00\x1f\x7f\t\r\x08\x0c"),
    *("a text of more than twenty-four characters", "ééééééééééééé", " ", "\u2028"),
]
FLOATS = [0.0, -0.0, 1.5, 1e-3, 9.999e-4, 1e7, 9_999_999.5, 1e16, 1e300, 5e-324, 0.1, 123456.789, -2.5e-7]
ODD = [float("nan"), float("inf"), float("-inf"), 1.0]
TYPE = Types.ROW_NAMED(
    ["id", "name", "share", "odd", "large"],
    [Types.LONG(), Types.STRING(), Types.DOUBLE(), Types.DOUBLE(), Types.BOOLEAN()],
)
COLUMNS = DataTypes.ROW(
    [
        DataTypes.FIELD("id", DataTypes.BIGINT()),
        DataTypes.FIELD("name", DataTypes.STRING()),
        DataTypes.FIELD("share", DataTypes.DOUBLE()),
        DataTypes.FIELD("odd", DataTypes.DOUBLE()),
        DataTypes.FIELD("large", DataTypes.BOOLEAN()),
    ]
)
SCHEMA = (
    CsvSchema.builder()
    .add_number_column("id", DataTypes.BIGINT())
    .add_string_column("name")
    .add_number_column("share", DataTypes.DOUBLE())
    .add_number_column("odd", DataTypes.DOUBLE())
    .add_boolean_column("large")
)
COUNT = 4_321


def fields(n: int) -> tuple[Any, ...]:
    name = None if n % 29 == 5 else TEXTS[n % 13]
    share = None if n % 31 == 7 else FLOATS[n % 13]
    return n - 2_000, name, share, ODD[n % 4], n % 3 == 0


def as_row(n: int) -> Row:
    return Row(id=n - 2_000, name=TEXTS[n % 13], share=FLOATS[n % 13], odd=ODD[n % 4], large=n > 99)


def as_unnamed_row(n: int) -> Row:
    return Row(n - 2_000, TEXTS[n % 13], FLOATS[n % 13], ODD[n % 4], n > 99)


def in_doubt(n: int) -> tuple[Any, ...]:
    """Now and then a number of 64 bits in between: Python makes it."""
    number = n * 2**61 // 2**61 if n % 500 == 499 else n
    return number, TEXTS[n % 13], FLOATS[n % 13], ODD[n % 4], True


def ends_in_error(n: int) -> tuple[Any, ...]:
    return n * 2**50, TEXTS[n % 13], FLOATS[n % 13], ODD[n % 4], True


def whole_shares(n: int) -> tuple[Any, ...]:
    """Whole numbers where the type has floats."""
    return n, TEXTS[n % 13], n * 1_000, ODD[n % 4], False


class ByName(BucketAssigner):
    def get_bucket_id(self, element: Any, context: Any) -> str:
        return f"odd-{element[0] % 2}"


class Shouting(JsonLinesEncoder):
    def encode(self, element: Any, stream: Any, /) -> None:
        stream.write(b"!")
        super().encode(element, stream)


def rows(path: Path, encoder: Encoder[Any], assigner: Any = None) -> FileSink:
    builder = FileSink.for_row_format(str(path), encoder)
    builder = builder.with_rolling_policy(RollingPolicy.default_rolling_policy(part_size=20_000))
    return (builder if assigner is None else builder.with_bucket_assigner(assigner)).build()


def bulk(path: Path, factory: Any) -> FileSink:
    return FileSink.for_bulk_format(str(path), factory).build()


SINKS: dict[str, Callable[[Path], FileSink]] = {
    "texts": lambda path: rows(path, Encoder.simple_string_encoder()),
    "texts in Latin-1": lambda path: rows(path, Encoder.simple_string_encoder("latin-1")),
    "JSON lines": lambda path: rows(path, JsonLinesEncoder.for_row_type(COLUMNS)),
    "texts in buckets by record": lambda path: rows(path, Encoder.simple_string_encoder(), ByName()),
    "JSON lines of a derived class": lambda path: rows(path, Shouting(COLUMNS)),
    "CSV": lambda path: bulk(path, CsvBulkWriters.for_schema(SCHEMA.build())),
    "CSV with other characters": lambda path: bulk(
        path,
        CsvBulkWriters.for_schema(
            SCHEMA.set_column_separator("|").set_null_value("-").set_escape_char("!").set_use_header(True).build()
        ),
    ),
    "Parquet": lambda path: bulk(path, ParquetBulkWriters.for_row_type(COLUMNS)),
    "ORC": lambda path: bulk(path, OrcBulkWriters.for_row_type(COLUMNS)),
}


BY_OBJECTS = ("texts in Latin-1", "texts in buckets by record", "JSON lines of a derived class")


def environment(native: str) -> StreamExecutionEnvironment:
    settings = Configuration().set_string("penstock.native", native)
    env = StreamExecutionEnvironment.get_execution_environment(settings, executor="local")
    return env.set_parallelism(1)


def stream(env: StreamExecutionEnvironment, function: Callable[[int], Any], type_info: Any = TYPE) -> DataStream:
    return env.from_collection(list(range(COUNT)), Types.LONG()).map(function, output_type=type_info)


def files(folder: Path) -> list[tuple[str, int, bytes]]:
    """Bucket, number and bytes of each file; the names have the id of the job."""
    parts = [path for path in folder.rglob("part-*") if path.is_file()]
    named = [(str(path.parent.relative_to(folder)), int(path.name.rpartition("-")[2]), path) for path in parts]
    return [(bucket, number, path.read_bytes()) for bucket, number, path in sorted(named)]


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the batches that sinks get."""
    from penstock.runtime.operators.sink import _BuiltinSink

    sizes, columns = list[int](), _BuiltinSink.columns

    def watched(self: Any, number: int) -> Any:
        taker = columns(self, number)
        if taker is None:
            return None

        def take(batch: Any) -> None:
            sizes.append(len(batch))
            taker.take_all(batch)

        return segments.Taker(take, taker.closed)

    monkeypatch.setattr(_BuiltinSink, "columns", watched)
    return sizes


@pytest.mark.parametrize("function", [fields, as_row, as_unnamed_row, in_doubt, whole_shares])
@pytest.mark.parametrize("sink", SINKS)
def test_files_have_the_same_bytes(
    sink: str, function: Callable[[int], Any], tmp_path: Path, batches: list[int]
) -> None:
    results = []
    for native in ("auto", "off"):
        env, batches[:] = environment(native), []
        stream(env, function).sink_to(SINKS[sink](tmp_path / native))
        env.execute()
        results.append(files(tmp_path / native))
        taken = sum(batches)
        by_objects = native == "off" or sink in BY_OBJECTS
        assert taken == 0 if by_objects else taken > COUNT * 0.9, taken
    assert results[0] == results[1]
    assert results[0]


@pytest.mark.parametrize("function", [fields, as_row, as_unnamed_row, in_doubt, whole_shares])
@pytest.mark.parametrize("type_info", [TYPE, Types.TUPLE(list(TYPE.field_types)), None], ids=["row", "tuple", "none"])
def test_lines_of_texts_are_the_same(
    function: Callable[[int], Any], type_info: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = []
    for native in ("auto", "off"):
        env = environment(native)
        values = stream(env, function, type_info)
        values.write_as_text(str(tmp_path / native))
        values.print("here")
        env.execute()
        lines = (tmp_path / native).read_bytes()
        results.append((lines, capsys.readouterr().out))
    assert results[0] == results[1]


def test_a_misfit_is_the_same_error(tmp_path: Path) -> None:
    narrow = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.INT()), *COLUMNS.fields[1:]])
    for factory in (
        lambda path: rows(path, JsonLinesEncoder.for_row_type(narrow)),
        lambda path: bulk(path, ParquetBulkWriters.for_row_type(narrow)),
    ):
        messages = []
        for native in ("auto", "off"):
            env = environment(native)
            stream(env, ends_in_error).sink_to(factory(tmp_path / native))
            with pytest.raises(Exception, match="cannot be written") as caught:
                env.execute()
            messages.append(str(caught.value).replace(str(tmp_path / native), ""))
        first, second = (message.partition("The value")[2].splitlines()[0] for message in messages)
        assert first == second


@pytest.mark.skipif(native_functions() is None, reason="there is no native module")
def test_rows_without_names_are_the_columns_of_a_file_by_position() -> None:
    batch_of = native_functions().Batch.of  # type: ignore[union-attr]
    assert batch_of([Row(1, "a"), Row(2, "b")]).to_arrow(["n", "t"]).to_pydict() == {"n": [1, 2], "t": ["a", "b"]}
    assert batch_of([Row(1, "a")]).to_arrow(["n"]) is None
    assert batch_of([Row(n=1, t="a")]).to_arrow(["t", "n"]) is None
