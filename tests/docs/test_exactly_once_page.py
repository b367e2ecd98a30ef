"""What docs/streaming.md says of sources and sinks: each row of its tables, and each promise, names the tests that hold
it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.docs.documents import ROOT

PAGE = ROOT / "docs" / "streaming.md"
PROMISES = "datastream/test_promises.py::test_a_sink_keeps_its_promise"
OUTPUTS = "job/steps/test_outputs.py::test_a_driver_that_dies_anywhere_loses_and_repeats_nothing"
TWO_PHASE = "job/steps/test_two_phase.py::test_a_driver_that_dies_anywhere_commits_each_version_once"
KAFKA = "kafka/test_endless.py::test_wherever_the_driver_is_killed_the_next_run_goes_on"
JOB = "job/steps"
STEP_TABLES = "spark/test_step_tables.py"
SOURCE = "datastream/test_promises.py::test_a_source_keeps_its_promise"

SOURCES = {
    "Kafka": [KAFKA, "kafka/test_endless.py::test_on_spark_a_driver_is_killed_and_the_next_goes_on"],
    "files, folders that are watched": [
        SOURCE,
        "datastream/test_endless_sources.py::test_a_job_that_goes_on_reads_what_is_new",
        "datastream/test_endless_sources.py::test_after_a_failure_every_record_is_read_once",
    ],
    "number sequences, generated records": [SOURCE],
    "a source of your own with splits": [
        SOURCE,
        "chaos/test_kills.py::test_a_driver_that_is_killed_at_random_leaves_exact_outputs",
    ],
    "a streaming DataFrame of Spark": ["spark/test_streams.py::test_a_driver_that_is_killed_loses_and_repeats_nothing"],
    "socket": ["runtime/io/test_socket_source.py::test_a_driver_that_goes_on_counts_on_and_takes_what_comes_then"],
}

SINKS = {
    "`FileSink`, `StreamingFileSink`": [
        PROMISES,
        OUTPUTS,
        "job/steps/test_outputs.py::test_each_step_becomes_visible_when_it_is_published",
        "job/steps/test_outputs.py::test_on_a_store_a_driver_that_dies_anywhere_loses_and_repeats_nothing",
    ],
    "`write_as_text`": [
        PROMISES,
        OUTPUTS,
        "job/steps/test_outputs.py::test_text_on_a_store_gets_a_numbered_file_with_each_version",
        "job/steps/test_outputs.py::test_on_a_store_a_driver_that_dies_anywhere_loses_and_repeats_nothing",
    ],
    "`KafkaSink`, `EXACTLY_ONCE`": [KAFKA],
    "`KafkaSink`, `AT_LEAST_ONCE`": ["kafka/test_at_least_once.py::test_a_step_counts_when_its_records_are_written"],
    "`TwoPhaseCommitSink` of your own": [PROMISES, TWO_PHASE],
    "`JdbcSink`": [PROMISES, "datastream/test_jdbc.py::test_batches_are_transactions"],
    '`JdbcSink`, `exactly_once="name"`': [
        PROMISES,
        "job/steps/test_two_phase.py::test_rows_with_a_marker_are_inserted_once_wherever_the_driver_dies",
    ],
    '`SparkSink` with `format="delta"` or `"iceberg"` and `exactly_once="name"`': [
        f"{STEP_TABLES}::test_tables_are_told_the_step",
        f"{STEP_TABLES}::test_the_snapshots_of_iceberg_are_looked_at",
        f"{STEP_TABLES}::test_only_tables_that_remember_are_told",
    ],
    "`SparkSink` with a function of `(df, batch_id)`": [f"{STEP_TABLES}::test_rows_are_written_step_by_step_and_once"],
    "`SparkSink`, otherwise": [
        f"{STEP_TABLES}::test_a_description_appends_in_each_step",
        f"{STEP_TABLES}::test_a_writer_that_fails_is_named_and_asked_again",
    ],
    "`print`, `print_to_err`": [PROMISES],
    "`execute_and_collect`": [
        "datastream/test_promises.py::test_what_was_collected_is_there_once_or_is_gone_with_the_driver"
    ],
    "a `SinkFunction` or callable, `add_sink`": [PROMISES],
}

CALLS = {
    "`open(context)`, `close()`": [TWO_PHASE],
    "`write(value)`": [TWO_PHASE],
    "`prepare(version)`": [TWO_PHASE],
    "`abort()`": ["job/steps/test_two_phase.py::test_a_sink_is_told_what_does_not_count"],
    "`commit(committables, version)`": [
        TWO_PHASE,
        "job/steps/test_two_phase.py::test_a_commit_that_fails_is_named_and_repeated",
    ],
    "`recover(version)`": ["job/steps/test_two_phase.py::test_a_sink_is_told_what_does_not_count"],
}

INTERVALS = "job/steps/test_intervals.py"
TEXT = {
    "after any failure the job goes back to the last one": [
        "datastream/test_promises.py::test_a_sink_keeps_its_promise_between_checkpoints",
        f"{INTERVALS}::test_a_driver_that_is_killed_between_checkpoints_loses_and_doubles_nothing",
        f"{INTERVALS}::test_a_failure_goes_back_to_the_last_checkpoint",
        "kafka/test_endless.py::test_nor_does_it_matter_where_between_two_checkpoints",
    ],
    "Without a checkpoint interval each step is a checkpoint": [
        f"{INTERVALS}::test_files_appear_at_the_interval_only",
        f"{INTERVALS}::test_a_two_phase_sink_prepares_once_for_each_checkpoint",
        f"{INTERVALS}::test_what_is_collected_is_so_once",
    ],
    "If the driver dies in between, the next run publishes what is missing": [OUTPUTS, TWO_PHASE],
    "The next run with the same checkpoint directory removes it": [
        "job/steps/test_outputs.py::test_what_a_step_that_does_not_count_has_written_goes",
        "job/folder/test_cleaner.py::test_the_remains_of_dead_drivers_go",
    ],
    "a paused driver wakes up when another one has taken over | it commits nothing": [
        "job/steps/test_outputs.py::test_a_driver_that_wakes_up_behind_its_successor_changes_nothing",
        "chaos/test_drivers.py::test_a_driver_that_wakes_up_after_its_successor_has_started_commits_nothing",
    ],
    "finished by the next run, or by [`penstock clean`]": [
        "job/commit/test_commit.py::test_a_half_published_job_is_finished_with_all_its_outputs_by_a_run_of_one_of_them",
        "kafka/test_exactly_once.py::test_wherever_the_driver_dies_the_next_run_finishes_it",
    ],
    "If you move a file away, the next step begins a new one": [
        "job/steps/test_outputs.py::test_a_file_that_was_moved_away_begins_anew_and_one_that_was_cut_is_an_error"
    ],
    "With `overwrite`, what was there goes when the first step is committed": [
        "job/steps/test_outputs.py::test_text_is_replaced_only_when_asked_and_by_the_first_step"
    ],
    "a method `flush()`: it is called at the end of each step, and when the input has ended": [
        PROMISES,
        "datastream/test_promises.py::test_what_a_sink_has_gathered_at_the_end_of_the_input_is_asked_for",
    ],
    "More than 32 KiB of it waits in a file of the checkpoint directory": [TWO_PHASE],
    "A batch that fails is tried again, by a new connection": ["datastream/test_jdbc.py::test_a_batch_is_tried_again"],
    "A step that is committed again finds its number": [
        f"{JOB}/test_two_phase.py::test_a_version_that_is_committed_again_is_refused_and_another_job_folder_has_its_own"
    ],
    "A function that also takes a third argument gets the directory's id": [
        f"{STEP_TABLES}::test_a_function_gets_what_it_takes"
    ],
}
"""Sentences of the page."""


def table(heading: str) -> list[str]:
    """The first cells of the rows of the table whose first column has this heading."""
    (block,) = re.findall(rf"^\| {heading} \|.*\n(?:\|.*\n)+", PAGE.read_text(), re.MULTILINE)
    return [row.split("|")[1].strip() for row in block.splitlines()[2:]]


def test_each_row_has_its_tests() -> None:
    assert [table("Source"), table("Sink"), table("Method")] == [list(SOURCES), list(SINKS), list(CALLS)]


@pytest.mark.parametrize("held", [SOURCES, SINKS, CALLS, TEXT], ids=["sources", "sinks", "calls", "text"])
def test_the_tests_are_there(held: dict[str, list[str]]) -> None:
    for test in {test for tests in held.values() for test in tests}:
        path, _, name = test.partition("::")
        assert name in functions(ROOT / "tests" / path), test


def functions(path: Path) -> set[str]:
    """Those of a file of tests."""
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}


def test_the_sentences_are_there() -> None:
    page = " ".join(PAGE.read_text().split())
    assert [sentence for sentence in TEXT if sentence not in page] == []
