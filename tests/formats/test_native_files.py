"""Files that native code reads have the records that Python reads, and its errors."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastavro
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.common import Configuration, Duration, Time, Types, WatermarkStrategy
from penstock.common.data_types import DataTypes as D
from penstock.connectors.formats import csv as csv_format
from penstock.connectors.formats import native_csv
from penstock.datastream import (
    AggregateFunction,
    KeyedProcessFunction,
    StreamExecutionEnvironment,
    ValueStateDescriptor,
)
from penstock.datastream.connectors import FileSource, HybridSource
from penstock.datastream.formats import AvroReaderFormat, AvroSchema, CsvReaderFormat, CsvSchema, JsonReaderFormat
from penstock.datastream.window import SlidingEventTimeWindows, TumblingEventTimeWindows
from penstock.errors import JobExecutionError
from penstock.runtime import native
from penstock.runtime.io.file_format import FileFormat
from penstock.runtime.io.splits import Split
from penstock.runtime.native import BatchRecords
from tests.datastream.test_endless_sources import added, some
from tests.datastream.test_endless_sources import environment as in_steps
from tests.formats.csv_cases import READ
from tests.formats.programs import NONE
from tests.formats.values import ROW_TYPE

FUNCTIONS: Any = native.functions()
pytestmark = pytest.mark.skipif(FUNCTIONS is None, reason="there is no native module")


def read(batches: Iterator[Any]) -> tuple[list[str], Any, int]:
    """The records, as texts; the last position, or the error; how many were columns."""
    rows, position, columns = list[str](), None, 0
    try:
        for records in batches:
            rows += map(repr, records.values)
            position = records.position
            columns += len(records.values) if isinstance(records.values, BatchRecords) else 0
    except Exception as error:
        return rows, f"{type(error).__name__}: {error}", columns
    return rows, position, columns


def compare(file_format: FileFormat[Any], path: Path, start: Any = None) -> int:
    """Read a file both ways; how many records were columns."""
    split = Split(str(path), start)
    expected = read(file_format.read(split))
    actual = read(file_format.read_columns(split, FUNCTIONS))
    assert actual[:2] == expected[:2]
    return actual[2]


def csv_of(build: Any) -> CsvReaderFormat:
    return CsvReaderFormat.for_schema(build(CsvSchema.builder()).build())


def columns(builder: Any) -> Any:
    kinds = D.TINYINT(), D.BIGINT(), D.DOUBLE(), D.FLOAT()
    for name, kind in zip("abcd", kinds, strict=True):
        builder.add_number_column(name, kind)
    return builder.add_boolean_column("e").add_string_column("f")


SCHEMAS = {
    "plain": columns,
    "null": lambda b: columns(b).set_null_value(""),
    "comments": lambda b: columns(b).set_allow_comments().set_null_value("n").set_any_property_name("x"),
    "escapes": lambda b: columns(b).set_escape_char("\\").set_column_separator("|").set_null_value(""),
    "no quotes": lambda b: columns(b).disable_quote_char().set_escape_char("!").set_null_value(""),
    "header": lambda b: columns(b).set_use_header().set_skip_first_data_row().set_quote_char("'").set_null_value(""),
    "tabs": lambda b: columns(b).set_column_separator("\t").set_null_value(""),
    "spaces": lambda b: columns(b).set_column_separator(" ").set_null_value(""),
}
NUMBER = st.floats().map(str) | st.sampled_from(
    [
        *("0", "-1", "+7", " 12 ", "127", "128", "-129", "007", "1_0", "١", "\u20033", "\x0b3\x1f", f"{'0' * 70}1"),
        *("9223372036854775807", "-9223372036854775808", "9223372036854775808", "1.5", "-0.0", ".5", "5.", "1e3"),
        *(
            "1E-400",
            "1e400",
            "1e39",
            "NaN",
            "+NaN",
            "Infinity",
            "-Infinity",
            "nan",
            "inf",
            "1d",
            "2F",
            "0x1p3",
            "",
            " ",
        ),
        *("1e", ".", "-", "--1", "n", "3.4028235677973366e38", "1.17549435e-38", "1e-46", "0.1", "4.35", "true"),
    ]
)
TEXT = st.text("ab,|\"\\'!# \t\u00a0éz🦀n", max_size=6) | st.sampled_from(["NULL", "x" * 200, "0", "\x00", "\ufeff"])
CELL = NUMBER | TEXT | st.sampled_from(['"a"', '"a""b"', '"a\nb"', '"a" ', '" "', '""', "'x'", "true", " TRUE ", "no"])
END = st.sampled_from(["\n", "\r\n", "\r", "\n\n", ""])
SEPARATOR = st.sampled_from([",", ",", ",", "|", "\t", " "])


@st.composite
def tables(draw: Any) -> bytes:
    """Files that are often tables, and often something else."""
    separator, lines = draw(SEPARATOR), []
    fits = st.tuples(
        *(st.integers(-9, 9).map(str) | NUMBER, st.integers(-(2**64), 2**64).map(str) | NUMBER),
        *(st.floats().map(str) | NUMBER, NUMBER, st.sampled_from(["true", "False", ""]) | CELL, CELL),
    )
    for row in draw(st.lists(fits | st.lists(CELL, max_size=7), max_size=6)):
        lines.append(separator.join(row) + draw(END))
    text = draw(st.sampled_from(["", "", "\ufeff", "# note\n", "a,b,c,d,e,f\n"])) + "".join(lines)
    data = text.encode()
    return data + draw(st.sampled_from([b"", b"", b"", b"\xff", b"\xef\xbb", b'"', b"\\"]))


@pytest.mark.parametrize("name", SCHEMAS)
@given(data=tables())
@example(data=b"\xef\xbb")
@example(data=b"\xef\xbb\xbf")
@example(data=b'1,2,3,4,true,"x')
def test_any_csv_has_the_rows_of_python(name: str, data: bytes, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("csv") / "file"
    path.write_bytes(data)
    compare(csv_of(SCHEMAS[name]), path)


LINES = st.lists(st.text('a1,"\r\n# \\', max_size=9), max_size=8).map("\n".join)


@given(text=LINES, size=st.integers(1, 9), batch=st.integers(1, 4), start=st.integers(0, 9))
def test_a_file_may_come_in_any_blocks(text: str, size: int, batch: int, start: int, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("csv") / "file"
    path.write_text(text, newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native_csv, "BLOCK_BYTES", size)
        patch.setattr(csv_format, "_BATCH", batch)
        for build in (
            lambda b: b.add_string_column("a"),
            lambda b: b.add_string_column("a").set_any_property_name("x").set_allow_comments().set_escape_char("\\"),
            lambda b: b.add_string_column("a").add_number_column("b", D.INT()).set_null_value(""),
        ):
            compare(csv_of(build), path)
            compare(csv_of(build), path, start)


@pytest.mark.parametrize("name", READ)
def test_files_as_of_flink(name: str, tmp_path: Path) -> None:
    build, text = READ[name]
    (tmp_path / "file").write_text(text, newline="")
    compare(csv_of(lambda b: build(b, D)), tmp_path / "file")


PAIR = csv_of(lambda b: b.add_number_column("n").add_string_column("word"))
MANY = [f"{number},w{number}" for number in range(6_500)]


@pytest.mark.parametrize(
    ("at", "line", "least"),
    [
        (None, "", 6_500),
        (3_000, "+٣,x", 6_499),  # the digit of another script: Python reads this row
        (3_000, '5,"a" ', 6_500),
        (3_000, "x,x", 2_000),
        (3_000, "1,2,3", 2_000),
        (6_499, '6499,"x', 6_000),
        (5_000, "\udcff,x", 0),
    ],
)
def test_most_rows_are_columns(at: int | None, line: str, least: int, tmp_path: Path) -> None:
    lines = list(MANY)
    if at is not None:
        lines[at] = line
    (tmp_path / "file").write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    assert compare(PAIR, tmp_path / "file") >= least


def test_many_rows_in_doubt_are_converted_together(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("\n".join(line if number % 3 else "٣,w" for number, line in enumerate(MANY)))
    assert 0 < compare(PAIR, tmp_path / "file") < 100


def test_compressed_files_and_those_that_are_cut(tmp_path: Path) -> None:
    data = gzip.compress("\n".join(MANY).encode())
    for name, content in (("whole.gz", data), ("cut.gz", data[:-2_000]), ("bad.gz", b"\x1f\x8b" + b"x" * 50)):
        (tmp_path / name).write_bytes(content)
        compare(PAIR, tmp_path / name)


def test_a_row_that_is_longer_than_blocks(tmp_path: Path) -> None:
    long = '"' + "line\n" * 300_000 + '"'
    (tmp_path / "file").write_text(f"1,{long}\n2,x\n")
    assert compare(PAIR, tmp_path / "file") == 2
    (tmp_path / "file").write_text(f"1,{long[:-1]}\n2,x\n")
    assert compare(PAIR, tmp_path / "file") == 0


@pytest.mark.parametrize(
    "build",
    [
        lambda b: b.add_string_column("a").set_column_separator("é"),
        lambda b: b.add_string_column("a").set_quote_char(","),
        lambda b: b.add_column("a", D.TIMESTAMP_LTZ(3)),
        lambda b: b.add_array_column("a"),
        lambda b: b.add_column("a", D.DECIMAL(5, 2)),
    ],
)
def test_other_schemas_stay_in_python(build: Any, tmp_path: Path) -> None:
    assert native_csv.native_rows(FUNCTIONS, csv_of(build).schema) is None
    (tmp_path / "file").write_text("2026-01-01\n")
    assert compare(csv_of(build), tmp_path / "file") == 0


class Own(CsvReaderFormat):
    def read(self, split: Split) -> Iterator[Any]:
        return iter(())


def test_a_derived_format_reads_itself(tmp_path: Path) -> None:
    assert list(Own(PAIR.schema).read_columns(Split(str(tmp_path)), FUNCTIONS)) == []


# --- JSON lines -------------------------------------------------------------------------------------------------------

FIELDS = [
    *(D.FIELD("t", D.TINYINT()), D.FIELD("n", D.BIGINT()), D.FIELD("d", D.DOUBLE()), D.FIELD("s", D.FLOAT())),
    *(D.FIELD("b", D.BOOLEAN()), D.FIELD("x", D.STRING()), D.FIELD("m", D.INT(nullable=False))),
]
INNER = D.ROW(FIELDS[:2])
JSON = {
    "row": JsonReaderFormat.for_row_type(D.ROW(FIELDS[:6])),
    "needed": JsonReaderFormat.for_row_type(D.ROW(FIELDS)),
    "nested": JsonReaderFormat.for_row_type(D.ROW([*FIELDS[2:6], D.FIELD("r", INNER)])),
    "tuple": JsonReaderFormat.for_row_type(Types.TUPLE([Types.LONG(), Types.STRING(), Types.FLOAT()])),
    "others": JsonReaderFormat.for_row_type(ROW_TYPE),
}
NODE: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**64), 2**64) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("tndsbxmr"), inner),
    max_leaves=5,
)
OBJECT = st.fixed_dictionaries(
    {},
    optional={
        "t": st.integers(-130, 130) | NODE,
        "n": st.integers(-(2**64), 2**64) | NODE,
        "d": st.floats() | st.integers(-(2**70), 2**70) | st.just("1.5") | NODE,
        "s": st.floats() | st.integers(-(2**63), 2**63) | NODE,
        "b": st.booleans() | NODE,
        "x": st.text(max_size=9) | NODE,
        "m": st.integers(-9, 9) | NODE,
        "r": st.fixed_dictionaries({}, optional={"t": st.integers(-9, 9), "n": NODE}) | NODE,
        "f0": st.integers(-9, 9),
        "f1": st.text(max_size=3),
        "f2": st.floats(),
    },
)
LINE = (
    st.builds(lambda node, plain: json.dumps(node, ensure_ascii=plain), OBJECT, st.booleans())
    .filter(lambda text: text.isascii() or not any(0xD800 <= ord(c) < 0xE000 for c in text))
    .map(str.encode)
) | st.sampled_from(
    [
        *(b"", b"  ", b"\xc2\xa0", b"\x0b", b"null", b"[1]", b'{"n": 1', b'{"n": 1.0}', b'{"d": 1e999}', b'{"d": -0}'),
        *(b'{"x": "\\ud800"}', b'{"x": "\xff"}', b'{"n": 1, "n": 2}', b'{"q": NaN}', b'{"d": NaN}', b"\xef\xbb\xbf{}"),
        *(b'{"d": "0x1p3"}', b'{"s": 3.4028235677973366e38}', b'{"s": 1e39}', b'{"n": 01}', b"{} x", b"\xff"),
        *(b'{"x": "\t"}', b'{"x": "\x00"}', b'{"n": 1' + b"1" * 30 + b"}", b'{"n":' + b"[" * 70 + b"]" * 70 + b"}"),
    ]
)


@pytest.mark.parametrize("name", JSON)
@given(lines=st.lists(LINE, max_size=5), end=st.sampled_from([b"\n", b"\r\n"]), last=st.booleans())
def test_any_lines_have_the_rows_of_python(
    name: str, lines: Any, end: bytes, last: bool, tmp_path_factory: Any
) -> None:
    path = tmp_path_factory.mktemp("json") / "file"
    path.write_bytes(end.join(lines) + (end if last else b""))
    compare(JSON[name], path)


OBJECTS = [b'{"t": %d, "n": %d, "d": 0.5, "x": "w\\n"}' % (n % 99, n) for n in range(20_000)]


@pytest.mark.parametrize(
    ("line", "least"),
    [(b"{}", 20_000), (b" \x0b", 19_999), (b'{"d": "1.5"}', 19_999), (b'{"n": "1"}', 0), (b'{"n"', 0), (b"\xff", 0)],
)
def test_most_lines_are_columns(line: bytes, least: int, tmp_path: Path) -> None:
    lines = list(OBJECTS)
    lines[10_000] = line
    (tmp_path / "file").write_bytes(b"\n".join(lines))
    assert compare(JSON["row"], tmp_path / "file") >= least


def test_a_reader_of_lines_goes_on_where_another_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.runtime.io.files.BLOCK_BYTES", 5_000)
    lines = [line if number % 50 else b'{"d": "1.5", "n": 7}' for number, line in enumerate(OBJECTS[:500])]
    (tmp_path / "file").write_bytes(b"\n".join(lines))
    whole = read(JSON["row"].read(Split(str(tmp_path / "file"))))[0]
    seen = 0
    for records in JSON["row"].read_columns(Split(str(tmp_path / "file")), FUNCTIONS):
        seen += len(records.values)
        rest = Split(str(tmp_path / "file"), records.position)
        assert read(JSON["row"].read(rest))[0] == read(JSON["row"].read_columns(rest, FUNCTIONS))[0] == whole[seen:]
    assert seen == 500


# --- Avro -------------------------------------------------------------------------------------------------------------


def record_of(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": name, "type": kind} for name, kind in fields.items()]}


INNER_AVRO = record_of("I", x="double", y=["boolean", "null"])
WRITTEN = record_of(
    "R", i="int", n=["null", "long"], s="string", f="float", d=["double", "null"], b="bytes", r=INNER_AVRO
)
WANTED = {
    "same": WRITTEN,
    "fewer fields": record_of("R", r=INNER_AVRO, s="string", n=["null", "long"]),
    "other types": record_of("R", i="long", s="string"),
    "another name": {**WRITTEN, "name": "Q"},
    "a default": {**WRITTEN, "fields": [*WRITTEN["fields"], {"name": "z", "type": "int", "default": 7}]},
    "an alias": record_of("R", i="int") | {"fields": [{"name": "k", "type": "int", "aliases": ["i"], "default": 1}]},
    "missing": record_of("R", i="int", other="string"),
}
VALUE = st.fixed_dictionaries(
    {
        "i": st.integers(-(2**31), 2**31 - 1),
        "n": st.none() | st.integers(-(2**63), 2**63 - 1),
        "s": st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
        "f": st.floats(width=32),
        "d": st.none() | st.floats(),
        "b": st.binary(max_size=4),
        "r": st.fixed_dictionaries({"x": st.floats(), "y": st.none() | st.booleans()}),
    }
)


def avro_of(schema: Any) -> AvroReaderFormat:
    return AvroReaderFormat.for_generic_record(AvroSchema.parse_string(json.dumps(schema)))


def avro_file(path: Path, schema: Any, records: Any, codec: str = "deflate") -> None:
    with path.open("wb") as file:
        fastavro.writer(file, schema, records, codec=codec, sync_interval=100, sync_marker=b"0123456789abcdef")


@given(records=st.lists(VALUE, max_size=8), codec=st.sampled_from(["null", "deflate", "bzip2"]))
@pytest.mark.parametrize("name", WANTED)
def test_any_records_of_avro_are_those_of_python(name: str, records: Any, codec: str, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("avro") / "file"
    avro_file(path, WRITTEN, records, codec)
    columns = compare(avro_of(WANTED[name]), path)
    assert columns == (len(records) if name in ("same", "fewer fields") and codec != "bzip2" else 0)


@given(records=st.lists(VALUE, min_size=1, max_size=4), codec=st.sampled_from(["null", "deflate"]), data=st.data())
def test_damaged_files_of_avro_have_the_same_errors(records: Any, codec: str, data: Any, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("avro") / "file"
    avro_file(path, WRITTEN, records, codec)
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)) | st.just(len(content)))])
    compare(avro_of(WRITTEN), path)


@pytest.mark.parametrize(
    "kind",
    [
        {"type": "int", "logicalType": "date"},
        {"type": "enum", "name": "E", "symbols": ["A"]},
        ["null", "int", "long"],
        {"type": "fixed", "name": "F", "size": 2},
    ],
)
def test_other_types_of_avro_stay_in_python(kind: Any, tmp_path: Path) -> None:
    schema = record_of("R", n="int", o=["null", kind] if isinstance(kind, dict) else kind)
    avro_file(tmp_path / "file", schema, [{"n": number, "o": None} for number in range(100)])
    assert compare(avro_of(schema), tmp_path / "file") == 0
    assert compare(avro_of(record_of("R", n="int")), tmp_path / "file") == 0


# --- programs ---------------------------------------------------------------------------------------------------------

KIND = Types.ROW_NAMED(["n", "word"], [Types.LONG(), Types.STRING()])
FORMATS: dict[str, tuple[FileFormat[Any], Any]] = {
    "csv": (PAIR, lambda n: f"{n},w{n}" if n % 700 else f'{n},"w{n}" '),
    "json": (JsonReaderFormat.for_row_type(KIND), lambda n: json.dumps({"n": n, "word": f"w{n}"})),
}
N_AVRO = record_of("N", n="long", word="string", large=["null", "double"])


def program(env: StreamExecutionEnvironment, source: FileSource[Any]) -> Any:
    rows = env.from_source(source, NONE, "files")
    return rows.filter(lambda row: row.n % 7 != 3).map(
        lambda row: (row.n, row.word), Types.TUPLE([Types.LONG(), Types.STRING()])
    )


TIMES = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda r, _: r["n"])


class Sizes(AggregateFunction):
    def create_accumulator(self) -> Any:
        return 0, ""

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator[0] + value["n"], max(accumulator[1], value["word"])

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, a: Any, b: Any) -> Any:
        return a[0] + b[0], max(a[1], b[1])


class Before(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        last = self.last.value()
        if last is not None:
            yield value["n"] - last["n"], last
        self.last.update(value)


FUNCTIONS_OF_DICTS: dict[str, Any] = {
    "fields": lambda s: s.map(lambda r: (r["n"], r["word"][0], r.get("large"), r.get("z", 1), len(r), "n" in r)),
    "records": lambda s: s.filter(lambda r: r["n"] % 3 == 0),
    "first records": lambda s: s.map(lambda r: r).filter(lambda r: r["large"] is None),
    "keys": lambda s: s.key_by(lambda r: r["n"] % 5).reduce(lambda a, b: a if a["n"] > b["n"] else b),
    "texts": lambda s: s.map(lambda r: f"{r} {list(r)}", Types.STRING()),
    "errors": lambda s: s.map(lambda r: r["none"] if r["n"] == 400 else r["n"]),
    "places": lambda s: s.map(lambda r: r[0] if r["n"] == 400 else r["n"]),
    "attributes": lambda s: s.map(lambda r: r.n if r["n"] == 400 else r["n"]),
    "python": lambda s: s.map(lambda r: (sorted(r), type(r).__name__, r)),
    "sums": lambda s: s.key_by(lambda r: r["n"] % 5).sum(0),
    "windows": lambda s: s.key_by(lambda r: r["n"] % 5).count_window(7).reduce(lambda a, b: b),
    "time": lambda s: (
        s.assign_timestamps_and_watermarks(TIMES)
        .key_by(lambda r: r["n"] % 3)
        .window(TumblingEventTimeWindows.of(Time.milliseconds(100)))
        .reduce(lambda a, b: b if b["n"] > a["n"] else a)
    ),
    "accumulators": lambda s: (
        s.assign_timestamps_and_watermarks(TIMES)
        .key_by(lambda r: r["n"] % 3)
        .window(SlidingEventTimeWindows.of(Time.milliseconds(100), Time.milliseconds(50)))
        .aggregate(Sizes())
    ),
    "state": lambda s: s.key_by(lambda r: r["word"][-1]).process(Before()),
    "greatest": lambda s: s.key_by(lambda r: r["n"] % 5).max_by(0),
    "unions": lambda s: s.union(s.filter(lambda r: r["n"] > 800)).map(lambda r: (r["n"], r)),
    "many": lambda s: s.flat_map(lambda r: [r, r["n"]] if r["n"] % 100 == 0 else []),
    "exchange": lambda s: s.rebalance().map(lambda r: r["word"]),
}


@pytest.mark.parametrize("name", FUNCTIONS_OF_DICTS)
def test_functions_of_dicts_give_the_same(name: str, tmp_path: Path) -> None:
    values = [{"n": n, "word": f"w{n}", "large": None if n % 4 else n * 1.5} for n in range(900)]
    avro_file(tmp_path / "file", N_AVRO, values)
    results = list[str]()
    for way in ("auto", "off"):
        env = environment(way).set_parallelism(1)
        source = FileSource.for_record_stream_format(avro_of(N_AVRO), str(tmp_path)).build()
        stream = FUNCTIONS_OF_DICTS[name](env.from_source(source, NONE, "files"))
        try:
            with stream.execute_and_collect() as records:
                results.append("\n".join(map(repr, records)))
        except JobExecutionError as error:
            results.append(str(error).partition("\n")[0])
    assert results[0] == results[1]


def environment(way: str) -> StreamExecutionEnvironment:
    settings = Configuration().set_string("penstock.native", way)
    return StreamExecutionEnvironment.get_execution_environment(settings, executor="local").set_parallelism(2)


@pytest.mark.parametrize("name", FORMATS)
def test_a_program_gets_the_same_records(name: str, tmp_path: Path) -> None:
    file_format, line = FORMATS[name]
    for file in range(3):
        (tmp_path / f"{file}").write_text("\n".join(map(line, range(file * 3_000, file * 3_000 + 3_000))))
    source = FileSource.for_record_stream_format(file_format, str(tmp_path))
    expected = [(n, f"w{n}") for n in range(9_000) if n % 7 != 3]
    for way in ("auto", "off"):
        with program(environment(way), source.build()).execute_and_collect() as records:
            assert sorted(records) == expected, way


def test_sources_one_behind_the_other_give_columns(tmp_path: Path) -> None:
    for name, (_, line) in FORMATS.items():
        (tmp_path / name).write_text("\n".join(map(line, range(100))))
    first, second = (
        FileSource.for_record_stream_format(file_format, str(tmp_path / name)).build()
        for name, (file_format, _) in FORMATS.items()
    )
    both = HybridSource.builder(first).add_source(second).build()
    for split in both.splits(1):
        [records] = both.read_columns(split, FUNCTIONS, True)
        assert isinstance(records.values, BatchRecords)
    for way in ("auto", "off"):
        with program(environment(way), both).execute_and_collect() as records:
            assert sorted(records) == sorted((n, f"w{n}") for n in [*range(100), *range(100)] if n % 7 != 3)


@pytest.mark.parametrize("name", FORMATS)
def test_a_program_has_the_same_error(name: str, tmp_path: Path) -> None:
    file_format, line = FORMATS[name]
    lines = list(map(line, range(3_000)))
    lines[2_500] = lines[2_500].replace("2500", "25x0")
    (tmp_path / "file").write_text("\n".join(lines))
    source = FileSource.for_record_stream_format(file_format, str(tmp_path)).build()
    messages = set[str]()
    for way in ("auto", "off"):
        with pytest.raises(JobExecutionError) as error:
            list(program(environment(way), source).execute_and_collect())
        messages.add(str(error.value).partition("\n")[0])
    [message] = messages
    assert "line 2501" in message


@pytest.mark.parametrize("ways", [("auto", "off"), ("off", "auto")])
@pytest.mark.parametrize("name", FORMATS)
def test_a_job_goes_on_with_native_code_and_without(
    name: str, ways: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_format, "_BATCH", 50)
    monkeypatch.setattr("penstock.runtime.io.files.BLOCK_BYTES", 1_000)
    file_format, line = FORMATS[name]
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    added(inbox, "a", "\n".join(map(line, range(1_000))))

    def run(way: str, count: int) -> list[Any]:
        def make() -> Any:
            env = in_steps(tmp_path / "job", 1, penstock__native=way, penstock__step__records=60)
            source = FileSource.for_record_stream_format(file_format, str(inbox))
            return program(env, source.monitor_continuously(Duration.of_millis(1)).build())

        return some(make, count)

    expected = [(n, f"w{n}") for n in range(2_000) if n % 7 != 3]
    first = run(ways[0], 300)
    assert first == expected[:300]
    added(inbox, "b", "\n".join(map(line, range(1_000, 2_000))))
    # some steps may have ended behind those that were taken
    rest = run(ways[1], 500)
    begun = expected.index(rest[0])
    assert 0 < begun < 857
    assert rest == expected[begun : begun + 500]
