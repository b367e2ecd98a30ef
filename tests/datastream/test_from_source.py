"""from_source: connectors' sources and sources of one's own, at several parallelisms."""

from __future__ import annotations

import gzip

import pytest

from penstock.common import Duration, Types, WatermarkGenerator, WatermarkStrategy
from penstock.datastream import ProcessFunction
from penstock.datastream.connectors import (
    DataGeneratorSource,
    FileEnumeratorProvider,
    FileSource,
    FileSplitAssignerProvider,
    NumberSequenceSource,
    Records,
    Source,
    Split,
    StreamFormat,
)
from penstock.errors import ConfigurationError, InvalidProgramError, JobExecutionError, UnsupportedError
from tests.running import collected, environment

NONE = WatermarkStrategy.no_watermarks()
BY_VALUE = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: int(value))


def text_files(*paths):
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), *map(str, paths))


class Vowels(Source):
    """A source of one's own: each letter is a split."""

    produced_type = Types.STRING()

    def splits(self, parallelism):
        return [Split(letter, weight=index + 1) for index, letter in enumerate("aeiou")]

    def read(self, split):
        yield Records([split.id, split.id.upper()], 2)


class Times(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.txt").write_text("1\n2\n3\n")
    (tmp_path / "b.txt").write_text("4\r\n5")
    (tmp_path / "deep" / "c.gz").write_bytes(gzip.compress(b"6\n7\n"))
    return tmp_path


@pytest.mark.parametrize("parallelism", [1, 2, 5])
def test_sources_give_every_record_once(folder, parallelism):
    def records(source):
        return sorted(collected(environment(parallelism).from_source(source, NONE, "in")))

    assert records(text_files(folder).build()) == list("1234567")
    assert records(NumberSequenceSource(-3, 4_500)) == list(range(-3, 4_501))
    assert records(DataGeneratorSource(lambda number: number * number, 5)) == [0, 1, 4, 9, 16]
    assert records(DataGeneratorSource(str, 0)) == []
    assert records(Vowels()) == sorted("aeiouAEIOU")


def test_a_subtask_reads_a_range_in_order():
    env = environment(3)
    assert collected(env.from_source(NumberSequenceSource(1, 7), NONE, "in"))[:3] == [1, 2, 3]
    assert NumberSequenceSource(1, 2).splits(5) == [Split("0", 1, 2), Split("1", 2, 3)]


def test_a_file_keeps_its_order_unless_it_may_be_cut(folder):
    assert collected(environment(4).from_source(text_files(folder / "a.txt").build(), NONE, "in")) == ["1", "2", "3"]
    cut = text_files(folder).set_file_enumerator(FileEnumeratorProvider.default_splittable_file_enumerator()).build()
    whole = text_files(folder).set_file_enumerator(FileEnumeratorProvider.default_non_splittable_file_enumerator())
    assert (cut.splittable, whole.build().splittable) == (True, False)


def test_types_come_from_the_source_unless_given():
    env = environment()
    assert env.from_source(Vowels(), NONE, "in").get_type() == Types.STRING()
    assert env.from_source(NumberSequenceSource(1, 2), NONE, "in").get_type() == Types.LONG()
    assert env.from_source(NumberSequenceSource(1, 2), NONE, "in", Types.INT()).get_type() == Types.INT()
    assert env.from_source(DataGeneratorSource(str, 1, Types.STRING()), NONE, "in").get_type() == Types.STRING()


class Punctuated(WatermarkGenerator):
    def on_event(self, event, event_timestamp, output):
        output.emit_watermark(event_timestamp - 1)

    def on_periodic_emit(self, output):
        return None


@pytest.mark.parametrize("chaining", [True, False])
def test_the_strategy_is_applied_in_the_source(chaining):
    env = environment()
    if not chaining:
        env.disable_operator_chaining()
    strategy = WatermarkStrategy.for_generator(Punctuated).with_timestamp_assigner(lambda value, _: value * 10)
    stream = env.from_source(NumberSequenceSource(1, 3), strategy, "in")
    first = -(1 << 63)
    times = stream.process(Times())
    assert [node.name for node in env.get_stream_graph().nodes] == ["Source: in", "Process"]
    assert collected(times) == [(1, 10, first), (2, 20, 9), (3, 30, 19)]


def test_a_failing_assigner_names_the_source():
    strategy = NONE.with_timestamp_assigner(lambda value, _: 1 // value)
    with pytest.raises(
        JobExecutionError, match=r"timestamp assigner of the watermark strategy.*'Source: in'"
    ) as caught:
        collected(environment().from_source(NumberSequenceSource(0, 1), strategy, "in"))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_failing_source_fails_the_job_by_its_name():
    class Broken(Vowels):
        def read(self, split):
            yield Records(["fine"], 1)
            raise OSError("the wire is cut")

    with pytest.raises(JobExecutionError, match=r"'Source: in'.*the wire is cut"):
        collected(environment().from_source(Broken(), NONE, "in"))


def test_what_cannot_be_read_is_planned_only():
    env = environment()
    env.from_source(Source(), NONE, "in").print()
    assert "Source: in" in env.get_execution_plan()
    with pytest.raises(UnsupportedError, match=r"from_source\(\) \(line \d+"):
        env.execute()


def test_files_that_are_watched_have_to_be_somewhere():
    watched = text_files("/somewhere").monitor_continuously(Duration.of_seconds(1)).build()
    assert not watched.bounded
    with pytest.raises(ConfigurationError, match="'/somewhere' does not exist"):
        collected(environment().from_source(watched, NONE, "in"))
    assert text_files("/x").monitor_continuously(Duration.of_seconds(1)).process_static_file_set().build().bounded


def test_there_is_one_assigner_of_files(folder):
    one = FileSplitAssignerProvider.locality_aware_split_assigner()
    source = text_files(folder).set_split_assigner(one).build()
    assert len(collected(environment().from_source(source, NONE, "in"))) == 7
    assert repr(source) == f"<FileSource of {str(folder)!r}>"


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: FileSource.for_record_stream_format("lines", "/x"), InvalidProgramError, "'lines'. Give a Stream"),
        (lambda: text_files(), InvalidProgramError, "no path"),
        (lambda: environment().from_source(text_files("/x"), NONE, "in"), InvalidProgramError, r"Call build\(\) on it"),
        (lambda: text_files(" "), InvalidProgramError, "blank"),
        (lambda: text_files("/x").set_file_enumerator(True), InvalidProgramError, "set_file_enumerator.*True"),
        (lambda: text_files("/x").set_split_assigner(None), UnsupportedError, "dealt out by size"),
        (lambda: text_files("/x").monitor_continuously(Duration.of_millis(0)), InvalidProgramError, "Give 1 or more"),
        (lambda: StreamFormat.text_line_format("UTF-9"), InvalidProgramError, "text_line_format.*'UTF-9'"),
        (lambda: NumberSequenceSource(2, 1), InvalidProgramError, "the start lies behind the end"),
        (lambda: NumberSequenceSource("1", 2), InvalidProgramError, "NumberSequenceSource.*start"),
        (lambda: DataGeneratorSource(3, 1), InvalidProgramError, "DataGeneratorSource.*3"),
        (lambda: DataGeneratorSource(str, -1), InvalidProgramError, "0 or more records"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(call, error, says):
    with pytest.raises(error, match=says):
        call()
