"""sink_to with a FileSink, at several parallelisms: names, parts, texts, and what is refused."""

from __future__ import annotations

import pytest

from penstock.common import Row, Types
from penstock.common.serialization import Encoder
from penstock.connectors.files import file_sink
from penstock.datastream.connectors import FileSource, OutputFileConfig, RollingPolicy, StreamFormat, StreamingFileSink
from penstock.errors import ConfigurationError, JobExecutionError, UnsupportedError
from tests.datastream.file_sinks import BASE, LINES, NAME, NONE, Remainder, lines, numbers, parts, to
from tests.running import environment


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_every_record_is_a_line_of_one_file(tmp_path, parallelism):
    env = environment(parallelism)
    numbers(env).sink_to(to(tmp_path / "out").build())
    env.execute()
    by_bucket = parts(tmp_path / "out")
    assert by_bucket.keys() == {"."}
    assert by_bucket["."].keys() == set(range(parallelism))
    assert all(len(texts) == 1 for texts in by_bucket["."].values())
    assert lines(tmp_path / "out") == sorted(f"{number}\n" for number in range(100))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("values", "type_info", "text"),
    [
        ([1e10, None], Types.DOUBLE(), "1.0E10\nnull\n"),
        ([("a", True)], Types.TUPLE([Types.STRING(), Types.BOOLEAN()]), "(a,true)\n"),
        ([Row("a", None)], Types.ROW([Types.STRING(), Types.INT()]), "+I[a, null]\n"),
        ([("a", True)], None, "('a', True)\n"),
    ],
)
def test_the_text_is_that_of_the_declared_type(tmp_path, values, type_info, text):
    env = environment()
    env.from_collection(values, type_info).sink_to(to(tmp_path).build())
    env.execute()
    assert parts(tmp_path) == {".": {0: [text]}}


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_a_part_that_is_larger_gets_no_further_record(tmp_path, parallelism):
    env = environment(parallelism)
    policy = RollingPolicy.default_rolling_policy(part_size=9)
    numbers(env).map(lambda n: f"{n:04d}", Types.STRING()).sink_to(to(tmp_path).with_rolling_policy(policy).build())
    env.execute()
    for texts in parts(tmp_path)["."].values():
        assert {len(text) for text in texts[:-1]} == {10}  # after two records there are 10 bytes, more than 9
        assert len(texts[-1]) in (5, 10)
    assert len(lines(tmp_path)) == 100


@pytest.mark.parametrize("waiting", [1, 20, 1000])
def test_what_waits_in_memory_makes_no_difference(tmp_path, monkeypatch, waiting):
    monkeypatch.setattr(file_sink, "_WAITING_BYTES", waiting)
    env = environment(2)
    policy = RollingPolicy.default_rolling_policy(30)
    numbers(env).sink_to(to(tmp_path, assigner=Remainder()).with_rolling_policy(policy).build())
    env.execute()
    assert lines(tmp_path) == sorted(f"{number}\n" for number in range(100))
    texts = [text for subtasks in parts(tmp_path).values() for files in subtasks.values() for text in files[:-1]]
    assert len(texts) > 5
    assert all(31 <= len(text) <= 33 for text in texts)


def test_on_checkpoint_there_is_one_part(tmp_path):
    env = environment(2)
    sink = to(tmp_path).with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
    numbers(env, 5000).sink_to(sink)
    env.execute()
    assert {subtask: len(texts) for subtask, texts in parts(tmp_path)["."].items()} == {0: 1, 1: 1}


def test_prefix_and_suffix(tmp_path):
    names = OutputFileConfig.builder().with_part_prefix("numbers").with_part_suffix(".txt").build()
    assert (names.get_part_prefix(), names.get_part_suffix()) == ("numbers", ".txt")
    assert repr(OutputFileConfig.builder().build()) == "OutputFileConfig(part_prefix='part', part_suffix='')"
    env = environment(2)
    sink = to(tmp_path).with_output_file_config(names).with_bucket_check_interval(1000).disable_compact().build()
    numbers(env).sink_to(sink)
    env.execute()
    matches = [NAME.fullmatch(path.name) for path in tmp_path.iterdir()]
    assert sorted(match and match.group(1, 3, 4, 5) for match in matches) == [
        ("numbers", "0", "0", ".txt"),
        ("numbers", "1", "0", ".txt"),
    ]
    assert repr(sink) == f"<FileSink to {str(tmp_path)!r}>"


class Framed(Encoder[str]):
    """Length and bytes."""

    def encode(self, element, stream, /):
        data = element.encode()
        stream.write(len(data).to_bytes(2, "big") + data)


def test_an_encoder_of_ones_own(tmp_path):
    env = environment()
    env.from_collection(["a", "€"], Types.STRING()).sink_to(to(tmp_path, Framed()).build())
    env.execute()
    [path] = tmp_path.iterdir()
    assert path.read_bytes() == b"\0\1a\0\3" + "€".encode()


def test_a_failing_encoder_names_the_sink(tmp_path):
    env = environment()
    env.from_collection([1]).sink_to(to(tmp_path, Framed()).build()).name("orders")
    with pytest.raises(JobExecutionError, match="'Sink: orders'") as caught:
        env.execute()
    assert isinstance(caught.value.__cause__, AttributeError)


def test_jobs_add_to_a_folder_and_a_source_reads_it(tmp_path):
    (tmp_path / "notes.txt").write_text("mine\n")
    for _ in range(2):
        env = environment(2)
        numbers(env, 10).sink_to(to(tmp_path, assigner=Remainder()).build())
        env.execute()
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path)).build()
    with environment(3).from_source(files, NONE, "in").execute_and_collect() as records:
        assert sorted(records) == sorted([*map(str, range(10))] * 2 + ["mine"])


def test_a_job_without_records_makes_no_file(tmp_path):
    env = environment(2)
    numbers(env).filter(lambda number: False).sink_to(to(tmp_path / "out").build())
    env.execute()
    assert [path for path in tmp_path.rglob("*") if path.name != "out"] == []


def test_a_failing_job_leaves_nothing(tmp_path):
    env = environment(3)
    numbers(env).map(lambda number: 1 // (number - 99)).sink_to(to(tmp_path / "out").build())
    with pytest.raises(JobExecutionError, match="ZeroDivisionError"):
        env.execute()
    assert [path for path in tmp_path.rglob("*") if path.name != "out"] == []


def test_it_is_planned_as_add_sink_would(tmp_path):
    env = environment(3)
    numbers(env).sink_to(to(tmp_path).build()).uid("files").set_parallelism(2)
    numbers(env).sink_to(to(tmp_path).build())
    nodes = [node for node in env.get_stream_graph().nodes if node.name.startswith("Sink")]
    assert [(node.name, node.parallelism, node.uid) for node in nodes] == [
        ("Sink: Unnamed", 2, "files"),
        ("Sink: Unnamed", 3, None),
    ]


def test_the_older_sink(tmp_path):
    env = environment(2)
    sink = StreamingFileSink.for_row_format(str(tmp_path), LINES).with_bucket_assigner(BASE).build()
    assert repr(sink) == f"<StreamingFileSink to {str(tmp_path)!r}>"
    numbers(env).add_sink(sink)
    env.execute()
    assert parts(tmp_path)["."].keys() == {0, 1}
    assert len(lines(tmp_path)) == 100


def test_a_link_is_followed(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)
    env = environment()
    numbers(env).sink_to(to("link/deep").build())
    numbers(env).sink_to(to(f"file://{tmp_path}/real/deep").build())
    env.execute()
    assert len(lines(tmp_path / "real" / "deep")) == 200
    assert (tmp_path / "link").is_symlink()


def test_other_file_systems_are_refused():
    env = environment()
    numbers(env).sink_to(to("ftp://host/out").build())
    assert "Sink: Unnamed" in env.get_execution_plan()
    with pytest.raises(UnsupportedError, match=r"'ftp'.*on s3:, .*Give a path, or such a URL"):
        env.execute()


def test_a_failed_job_leaves_no_folder_that_it_has_made(tmp_path):
    (tmp_path / "there").mkdir()
    for base in ("there", "a/b/c", "a/d"):
        env = environment()
        numbers(env).map(lambda n: 1 // (n - 90)).sink_to(to(tmp_path / base).build())
        with pytest.raises(JobExecutionError):
            env.execute()
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]


def test_a_rolling_policy_of_one_s_own_is_refused():
    with pytest.raises(UnsupportedError, match=r"RollingPolicy\(part_size=3,.*files are rolled by size and time only"):
        to("out").with_rolling_policy(RollingPolicy(3))


def test_a_base_path_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "out").write_text("mine")
    env = environment()
    numbers(env).sink_to(to(tmp_path / "out").build())
    with pytest.raises(ConfigurationError, match="is not a folder"):
        env.execute()
    assert (tmp_path / "out").read_text() == "mine"
