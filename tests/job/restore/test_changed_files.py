"""Files that change while a job is down that has read some of them: nothing is left out or doubled in silence that
docs/sources.md does not name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import pyarrow
import pytest
from pyarrow import parquet

from penstock.common import Duration, Types, WatermarkStrategy
from penstock.common.data_types import DataTypes
from penstock.datastream import FileProcessingMode
from penstock.datastream.connectors import FileSource, StreamFormat
from penstock.datastream.formats import (
    AvroInputFormat,
    AvroReaderFormat,
    AvroSchema,
    CsvReaderFormat,
    CsvSchema,
    ParquetColumnarRowInputFormat,
)
from penstock.errors import PenstockError
from tests.job.restore.jobs import environment, some
from tests.running import collected

NONE = WatermarkStrategy.no_watermarks()
LONG = DataTypes.BIGINT()
RECORD = '{"type": "record", "name": "r", "fields": [{"name": "n", "type": "long"}]}'
WRITTEN = {"type": "record", "name": "r", "fields": [{"name": n, "type": "long"} for n in ("n", *"abcdefghij")]}
LOST = "was cut, or replaced by a shorter|is not an? (Avro|Parquet) file|was read in part|was removed or cut|is gone"


def text(path: Path, numbers: range) -> None:
    path.write_text("".join(f"{number:08d}\n" for number in numbers))


def avro(path: Path, numbers: range) -> None:
    with open(path, "wb") as file:
        wide = ({"n": number, **dict.fromkeys("abcdefghij", 1 << 62)} for number in numbers)
        fastavro.writer(file, fastavro.parse_schema(WRITTEN), wide)


def rows(path: Path, numbers: range) -> None:
    parquet.write_table(pyarrow.table({"n": list(numbers)}), path, row_group_size=20)


FORMATS: dict[str, tuple[Any, int, Any, Any]] = {
    "text": (text, 300_000, lambda at: _lines(StreamFormat.text_line_format(), at), int),
    "csv": (text, 6_000, lambda at: _lines(_csv(), at), lambda row: row[0]),
    "avro": (avro, 30_000, lambda at: _lines(_avro(), at), lambda row: row["n"]),
    "parquet": (rows, 300, lambda at: FileSource.for_bulk_file_format(_parquet(), at), lambda row: row[0]),
}
"""How a file is written; how many numbers are in one, more than a step reads; how it is read; a record's number."""


def _lines(file_format: Any, at: str) -> Any:
    return FileSource.for_record_stream_format(file_format, at)


def _csv() -> Any:
    return CsvReaderFormat.for_schema(CsvSchema.builder().add_number_column("n", number_type=LONG).build())


def _avro() -> Any:
    return AvroReaderFormat.for_generic_record(AvroSchema.parse_string(RECORD))


def _parquet() -> Any:
    return ParquetColumnarRowInputFormat(DataTypes.ROW([DataTypes.FIELD("n", LONG)]))


@pytest.mark.slow
@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("change", ["removed", "emptied", "cut below", "cut above"])
def test_a_file_that_was_read_in_part_and_has_become_shorter(tmp_path, name, watched, change) -> None:
    write, count, _, _ = FORMATS[name]
    file, numbers = begun(tmp_path, name, watched)
    first = some(numbers(), 1)
    assert 0 < len(first) < count
    if change == "removed":
        file.unlink()
    elif change == "emptied":
        file.write_bytes(b"")
    else:
        write(file, range(count // 50 if change == "cut below" else count - 9))
    if change != "cut above" or watched:
        with pytest.raises(PenstockError, match=LOST):
            collected(numbers())
    else:  # a source with an end looks anew what there is
        assert collected(numbers()) == list(range(len(first), count - 9))


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("name", ["text", "csv"])
def test_a_file_that_was_read_in_part_and_has_other_content_of_its_length(tmp_path, name, watched) -> None:
    write, count, _, _ = FORMATS[name]
    file, numbers = begun(tmp_path, name, watched)
    first = some(numbers(), 1)
    write(file, range(1, count + 1))
    assert collected(numbers()) == list(range(len(first) + 1, count + 1))


def begun(folder: Path, name: str, watched: bool) -> tuple[Path, Callable[[], Any]]:
    """A file with numbers, and what makes a program that reads its folder."""
    write, count, make, number = FORMATS[name]
    inbox, file = folder / "inbox", folder / "inbox" / "file"
    inbox.mkdir()
    write(file, range(count))

    def numbers() -> Any:
        env = environment(folder / "job", 1, penstock__step__records=100, penstock__step__available_now="true")
        builder = make(str(inbox))
        source = builder.monitor_continuously(Duration.of_millis(1)).build() if watched else builder.build()
        return env.from_source(source, NONE, "files").uid("files").map(number, Types.LONG())

    return file, numbers


def _read_file(env: Any, inbox: str) -> Any:
    return env.read_file(inbox, FileProcessingMode.PROCESS_CONTINUOUSLY, 1)


READERS = {
    "FileSource": lambda env, at: env.from_source(_lines(StreamFormat.text_line_format(), at).build(), NONE, "files"),
    "read_text_file": lambda env, at: env.read_text_file(at),
    "read_file": lambda env, at: env.read_file(at),
    "read_file, for ever": _read_file,
    "create_input": lambda env, at: env.create_input(AvroInputFormat(at, AvroSchema.parse_string(RECORD))),
}
"""They read a file after the other."""


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("change", ["none", "read one removed", "unread one removed", "one before it", "one behind it"])
def test_files_that_come_and_go_between_those_that_were_read_and_those_that_were_not(tmp_path, reader, change) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    write, number = (avro, lambda row: row["n"]) if reader == "create_input" else (text, int)

    def put(name: str, first: int) -> None:
        write(inbox / name, range(first, first + 10))

    for first, name in enumerate("bcd", 1):
        put(name, 10 * first)

    def numbers() -> Any:
        env = environment(tmp_path / "job", 1, penstock__step__records=1, penstock__step__available_now="true")
        return READERS[reader](env, str(inbox)).map(number, Types.LONG())

    assert some(numbers(), 1) == list(range(10, 20))
    if change == "read one removed":
        (inbox / "b").unlink()
    elif change == "unread one removed":
        (inbox / "c").unlink()
    elif change != "none":
        put(*{"one before it": ("a", 0), "one behind it": ("e", 40)}[change])
    others = {"unread one removed": [30], "one before it": [0, 20, 30], "one behind it": [20, 30, 40]}
    left = others.get(change, [20, 30])
    if (reader, change) == ("FileSource", "read one removed"):  # it may have had more than was read
        with pytest.raises(PenstockError, match=LOST):
            collected(numbers())
    else:
        assert sorted(collected(numbers())) == [first + n for first in left for n in range(10)]
