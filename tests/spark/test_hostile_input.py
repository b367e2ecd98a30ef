"""Lines, cells and columns that a stranger has written fail the job with its own error, and run nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, Types, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import FileSource
from penstock.datastream.formats import CsvReaderFormat, CsvSchema
from penstock.errors import JobExecutionError
from tests.spark.hostile import hostile_texts

NUMBERS = CsvSchema.builder().add_number_column("n").add_string_column("word").build()


def environment(executor: Any, settings: dict[str, str] | None = None) -> Any:
    configuration = Configuration.from_dict(settings or {})
    return StreamExecutionEnvironment.get_execution_environment(configuration, executor=executor).set_parallelism(1)


def refused(env: Any) -> Any:
    with pytest.raises(JobExecutionError) as caught:
        env.execute()
    error = caught.value
    assert type(error) is JobExecutionError
    assert (error.subtask, "forged" in str(error.__cause__)[:20]) == (0, False)
    return error


@pytest.mark.parametrize(
    "what", ["an old mark", "a guessed mark", "JSON", "signs of lost tasks", "a megabyte", "a megabyte of marks"]
)
def test_a_line_of_a_text_file(executor: Any, tmp_path: Path, what: str) -> None:
    marker, text = tmp_path / "owned", hostile_texts(tmp_path / "owned")[what]
    (tmp_path / "in.txt").write_text(f"1\n{text}\n")
    env = environment(executor)
    env.read_text_file(str(tmp_path / "in.txt")).map(int, Types.LONG()).name("number").uid("n").print()
    error = refused(env)
    assert (error.operator, error.uid, type(error.__cause__)) == ("number", "n", ValueError)
    assert not marker.exists()


def test_a_line_of_a_job_in_steps_is_no_lost_step(executor: Any, tmp_path: Path) -> None:
    """It would be run again four times."""
    runs, text = tmp_path / "runs", hostile_texts(tmp_path / "owned")["signs of lost tasks"]
    (tmp_path / "in.txt").write_text(f"{text}\n")

    def failing(line: str) -> str:
        with runs.open("a") as file:
            file.write("x")
        raise ValueError(line)

    env = environment(executor, {"execution.checkpointing.dir": str(tmp_path / "job")})
    env.read_text_file(str(tmp_path / "in.txt")).map(failing, Types.STRING()).uid("n").print()
    assert str(refused(env).__cause__) == text
    assert len(runs.read_text()) <= 4  # tries of the one task


@pytest.mark.parametrize("what", ["an old mark", "a megabyte of marks"])
def test_a_cell_without_any_function(executor: Any, tmp_path: Path, what: str) -> None:
    marker, text = tmp_path / "owned", hostile_texts(tmp_path / "owned")[what]
    (tmp_path / "in.csv").write_text(f"1,a\n{text},b\n")
    source = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(NUMBERS), str(tmp_path / "in.csv")).build()
    env = environment(executor)
    env.from_source(source, WatermarkStrategy.no_watermarks(), "cells").print()
    assert refused(env).operator == "Source: cells"
    assert not marker.exists()


def test_a_column_of_a_dataframe(executor: Any, spark: Any, tmp_path: Path) -> None:
    marker, text = tmp_path / "owned", hostile_texts(tmp_path / "owned")["an old mark"]
    env = environment(executor)
    env.from_spark(spark.createDataFrame([(text,)], "word string")).map(lambda row: int(row.word), Types.LONG()).print()
    assert type(refused(env).__cause__) is ValueError
    assert not marker.exists()


def test_nothing_for_the_driver_stands_in_a_dataframes_error(spark: Any, tmp_path: Path) -> None:
    marker, text = tmp_path / "owned", hostile_texts(tmp_path / "owned")["an old mark"]
    env = StreamExecutionEnvironment.get_execution_environment(spark=spark).set_parallelism(1)
    frame = env.from_collection([text]).map(int, Types.LONG()).name("number").to_spark()
    with pytest.raises(Exception, match="Operator 'number'") as caught:
        frame.collect()
    assert "Details for the driver" not in str(caught.value)
    assert not marker.exists()
