"""Programs read files on stores and write them there: on S3 as a service in this machine's memory speaks it, and in
fsspec's memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib

import pyarrow
import pytest

from penstock.common import Configuration, Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors import FileEnumeratorProvider, FileSource, StreamFormat
from penstock.errors import ConfigurationError
from penstock.runtime.io import file_source
from penstock.runtime.io.stores import storage_of
from tests.datastream.file_sinks import NONE

pytest.importorskip("fsspec")


@pytest.fixture(params=["memory", "s3"])
def store(request, tmp_path):
    """The URL of an empty folder."""
    if request.param == "memory":
        return f"memory://programs/{tmp_path.name}"
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
