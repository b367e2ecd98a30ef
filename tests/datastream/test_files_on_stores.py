"""Programs read files on stores and write them there: on S3 as a service in this machine's memory speaks it, in the
memory of fsspec, and on HDFS."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zlib

import pyarrow
import pytest
from click.testing import CliRunner

from penstock.cli import group
from penstock.common import Configuration, RestartStrategies, Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileEnumeratorProvider, FileSource, RollingPolicy, StreamFormat
from penstock.errors import ConfigurationError, JobExecutionError
from penstock.job.folder.single import SingleCommit
from penstock.runtime.io import file_source
from penstock.storage.stores import storage_of
from tests.datastream.file_sinks import NAME, NONE, Remainder, numbers, to

pytest.importorskip("fsspec")


@pytest.fixture(
    params=[
        "memory",
        pytest.param("hdfs", marks=pytest.mark.hdfs),
        pytest.param("s3", marks=pytest.mark.spark),  # seconds, as Spark takes
    ]
)
def store(request, tmp_path):
    """The URL of an empty folder."""
    if request.param == "memory":
        return f"memory://programs/{tmp_path.name}"
    if request.param == "hdfs":
        return request.getfixturevalue("hdfs")
    return f"{request.getfixturevalue('bucket')}/a folder"


def environment(parallelism=1, options="{}"):
    configuration = Configuration.from_dict({"penstock.storage.options": options})
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor="local")
    return env.set_parallelism(parallelism)


def put(store, files):
    for name, text in files.items():
        storage_of(store).put(f"{store}/{name}", text if isinstance(text, bytes) else text.encode())


def lines(*paths):
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), *paths)


def read(source, parallelism=1):
    stream = environment(parallelism).from_source(source.build(), NONE, "files")
    with stream.execute_and_collect() as results:
        return list(results)


def read_text(path, parallelism=1):
    with environment(parallelism).read_text_file(path).execute_and_collect() as results:
        return list(results)


def test_a_file_a_folder_a_pattern(store):
    put(store, {"b": "3\n4\n", "a.txt": "1\n2\n", "deep/er/c.txt": "5", "deep/.hidden": "x", "_no/d.txt": "x"})
    assert read(lines(store)) == list("12345")
    assert sorted(read(lines(f"{store}/", f"{store}/a.txt"), 3)) == list("12345")
    assert read(lines(f"{store}/a.txt".replace("s3:", "s3a:"))) == list("12")
    assert read(lines(f"{store}/*.txt")) == list("12")
    assert read(lines(f"{store}/**/*.txt"))[-1] == "5"
    assert read(lines(f"{store}/d*")) == list("5")
    assert read_text(store) == list("1234")
    assert read_text(f"{store}/deep/er") == list("5")
    for path in (f"{store}/none", f"{store}/n*"):
        with pytest.raises(ConfigurationError, match=r"does not exist\. Check"):
            read(lines(path))


def test_a_large_file_is_read_in_pieces_at_every_parallelism(store, monkeypatch):
    monkeypatch.setattr(file_source, "SPLIT_BYTES", 50_000)
    expected = [f"line {number} of €" for number in range(20_000)]
    put(store, {"large": "\n".join(expected)})
    cut = lines(f"{store}/large").set_file_enumerator(FileEnumeratorProvider.default_splittable_file_enumerator())
    assert len(cut.build().splits(3)) == 7
    assert read(cut) == expected
    assert sorted(read(cut, 3)) == sorted(expected)
    assert sorted(read_text(f"{store}/large", 2)) == sorted(expected)


def test_compressed_files_are_read_as_what_they_hold(store):
    text = b"one\ntwo\n" * 1000
    zstandard = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(zstandard, "zstd") as file:
        file.write(text)
    files = {
        "a.gz": gzip.compress(text),
        "b.bz2": bz2.compress(text),
        "c.xz": lzma.compress(text),
        "d.deflate": zlib.compress(text),
        "e.zst": zstandard.getvalue().to_pybytes(),
    }
    put(store, files)
    assert read(lines(store)) == text.decode().split() * 5
    assert read_text(store) == text.decode().split() * 5


def test_a_store_that_cannot_be_reached_is_named_without_its_keys(bucket, monkeypatch):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    env = environment(options='{"s3": {"endpoint_url": "http://127.0.0.1:1", "secret": "hush"}}')
    env.read_text_file(f"{bucket}/in").print()
    with pytest.raises(ConfigurationError, match=r"cannot be reached: .*AWS_ACCESS_KEY_ID") as caught:
        env.execute()
    assert "hush" not in str(caught.value)


def test_the_options_of_a_job_reach_its_tasks(bucket, s3_endpoint, monkeypatch):
    put(bucket, {"in": "1\n2\n"})
    for variable in ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(variable)
    options = f'{{"s3": {{"endpoint_url": "{s3_endpoint}", "key": "tester", "secret": "hush"}}}}'
    env = environment(options=options)
    numbers = env.read_text_file(f"{bucket}/in").map(int, Types.INT())
    assert "hush" not in env.get_execution_plan()
    with numbers.execute_and_collect() as results:
        assert list(results) == [1, 2]


def test_text_is_written_whole_by_one_subtask_or_more(store):
    for parallelism, names in ((1, ["out"]), (3, ["out/1", "out/2", "out/3"])):
        env = environment(parallelism)
        numbers(env, 1000).write_as_text(f"{store}/out", overwrite=True).set_parallelism(parallelism)
        env.execute()
        assert [entry.path for entry in storage_of(store).list(store, deep=True)] == [f"{store}/{n}" for n in names]
        assert sorted(map(int, read(lines(f"{store}/out"), 2))) == list(range(1000))
    env = environment()
    numbers(env).write_as_text(f"{store}/out")
    with pytest.raises(ConfigurationError, match="exists already"):
        env.execute()


@pytest.mark.parametrize("parallelism", [1, 3])
def test_files_are_added_in_buckets_and_rolled(store, parallelism):
    policy = RollingPolicy.default_rolling_policy(20)
    for _ in range(2):
        env = environment(parallelism)
        numbers(env, 40).sink_to(to(f"{store}/out", assigner=Remainder()).with_rolling_policy(policy).build())
        env.execute()
    files = [entry.path.removeprefix(f"{store}/out/") for entry in storage_of(store).list(store, deep=True)]
    assert {name.rpartition("/")[0] for name in files} == {"remainder=0", "remainder=1", "remainder=2"}
    assert all(NAME.fullmatch(name) for name in files)
    assert len(files) >= 2 * 3 * parallelism
    assert sorted(map(int, read(lines(f"{store}/out")))) == sorted([*range(40), *range(40)])
    assert read(lines(f"{store}/out/remainder=[12]"), 2).count("39") == 0


def test_what_a_task_that_fails_has_written_counts_for_nothing(store, tmp_path):
    def once(number):
        marker = tmp_path / "failed"
        if number == 90 and not marker.exists():
            marker.touch()
            raise ValueError("once")
        return number

    env = environment(2)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(2, 0))
    mapped = numbers(env).map(once, Types.LONG())
    mapped.sink_to(to(f"{store}/files").build())
    mapped.write_as_text(f"{store}/text")
    env.execute()
    for path in (f"{store}/files", f"{store}/text"):
        assert sorted(map(int, read(lines(path)))) == list(range(100))
    left = [entry.path for entry in storage_of(store).list(store, deep=True) if "pending" in entry.path]
    assert left == []
    env = environment(2)
    numbers(env).map(lambda n: 1 // (n - 90)).sink_to(to(f"{store}/never").build())
    with pytest.raises(JobExecutionError):
        env.execute()
    assert storage_of(store).list(f"{store}/never", deep=True) == []


def test_the_command_line_cleans_stores(store, monkeypatch):
    storage_of(store).put(f"{store}/.out.pending-{'0' * 32}/{'a' * 32}-0-{'b' * 32}", b"late")
    for expected in (f"removed: output {store}/out\n", "nothing to clean\n"):
        result = CliRunner().invoke(group, ["clean", f"{store}/out"])
        assert result.output == expected


def test_the_command_line_gives_up_a_job_whose_driver_is_said_to_be_dead(tmp_path):
    store, job_id = f"memory://programs/{tmp_path.name}", "0" * 32
    home = f"{store}/.out.pending-{job_id}"
    SingleCommit(f"{home}/commit", "counts").begin({})
    marker = json.dumps({"job": "counts", "job_id": job_id, "job_folder": f"{home}/commit", "folders": [home]})
    storage_of(store).put(f"{home}/job.json", marker.encode())
    for options, expected in (
        ([], f"still running: job 'counts', output {store}/out\n"),
        (["--dead"], f"removed: job 'counts', output {store}/out\n"),
        ([], "nothing to clean\n"),
    ):
        assert CliRunner().invoke(group, ["clean", *options, f"{store}/out"]).output == expected
    refused = CliRunner().invoke(group, ["clean", "--dead", str(tmp_path)])
    assert refused.exit_code == 2
    assert "--dead is for stores" in refused.output
