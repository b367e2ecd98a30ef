"""What every storage promises: local disks, memory, an S3 endpoint."""

from __future__ import annotations

import builtins
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from penstock.common.settings.setting import STORES
from penstock.common.settings.settings import Settings
from penstock.errors import ConfigurationError, UnsupportedError
from penstock.storage.storage import SCHEMES, Entry, is_local, join, located, parents
from penstock.storage.stores import Store, _root, _wait_for_azure, abandoned, configured, storage_of


@pytest.fixture(params=["local", "memory", "s3", pytest.param("hdfs", marks=pytest.mark.hdfs)])
def base(request, tmp_path):
    """A folder that is empty, on each storage."""
    if request.param == "local":
        return str(tmp_path)
    if request.param == "hdfs":
        return request.getfixturevalue("hdfs")
    if request.param == "s3":
        return f"{request.getfixturevalue('bucket')}/some folder"
    pytest.importorskip("fsspec")
    return f"memory://tests/{tmp_path.name}"


def test_what_is_put_can_be_read_from_every_position(base):
    storage = storage_of(base)
    storage.put(f"{base}/a/b", b"0123456789")
    assert storage.get(f"{base}/a/b") == b"0123456789"
    with storage.read(f"{base}/a/b") as file:
        assert file.read(2) == b"01"
        file.seek(7)
        assert file.read() == b"789"
    assert [storage.part(f"{base}/a/b", *part) for part in ((0, 10), (7, 1), (2, 3))] == [b"0123456789", b"7", b"234"]
    assert storage.size(f"{base}/a/b") == 10
    assert storage.size(f"{base}/a") is None
    assert storage.size(f"{base}/c") is None
    with pytest.raises(FileNotFoundError):
        storage.get(f"{base}/c")
    with pytest.raises(FileNotFoundError):
        storage.part(f"{base}/c", 0, 1)


def test_a_file_that_is_written_in_pieces_is_whole(base):
    storage, piece = storage_of(base), bytes(range(256)) * 4096
    with storage.writing(f"{base}/large") as file:
        for _ in range(18):
            file.write(piece)
    assert storage.size(f"{base}/large") == 18 << 20
    with storage.read(f"{base}/large") as file:
        file.seek((17 << 20) + 255)
        assert file.read(2) == b"\xff\x00"


def test_a_file_that_is_given_up_on_a_store_like_s3_gets_no_name(bucket):
    storage = storage_of(bucket)
    for size in (10, 40 << 20):
        file = storage.writing(f"{bucket}/no")
        file.write(b"x" * size)
        abandoned(file)
        del file
    assert storage.list(bucket, deep=True) == []


def test_a_name_is_created_once(base):
    storage = storage_of(base)
    storage.put(f"{base}/other", b"")
    assert storage.create(f"{base}/one", b"first")
    assert not storage.create(f"{base}/one", b"second")
    assert storage.get(f"{base}/one") == b"first"
    assert [entry.path for entry in storage.list(base)] == [f"{base}/one", f"{base}/other"]


@pytest.mark.slow
@pytest.mark.parametrize("round", range(3))
def test_of_eight_who_create_a_name_one_does(base, round):
    storage_of(base).put(f"{base}/other", b"")

    def create(number):
        return storage_of(base).create(f"{base}/one", bytes([number]))

    with ThreadPoolExecutor(8) as racers:
        won = list(racers.map(create, range(8)))
    assert won.count(True) == 1
    assert storage_of(base).get(f"{base}/one") == bytes([won.index(True)])
    assert len(storage_of(base).list(base)) == 2


def test_listings(base):
    storage = storage_of(base)
    assert storage.list(f"{base}/none") == []
    for name in ("b", "a", "c/d", "c/e/f"):
        storage.put(f"{base}/{name}", name.encode())
    files = [Entry(f"{base}/{name}", len(name)) for name in ("a", "b", "c/d", "c/e/f")]
    assert storage.list(base, deep=True) == files
    assert storage.list(base) == [*files[:2], Entry(f"{base}/c", -1)]
    assert storage.list(f"{base}/a") == files[:1]


def test_deleting_is_done_once_and_again(base):
    storage = storage_of(base)
    for name in "abc":
        storage.put(f"{base}/{name}", b"1")
    storage.delete([f"{base}/a", f"{base}/none", f"{base}/c"])
    storage.delete([f"{base}/a"])
    assert storage.list(base) == [Entry(f"{base}/b", 1)]


def test_what_waits_gets_its_last_name(base):
    storage = storage_of(base)
    if not isinstance(storage, Store):
        pytest.skip("local files are renamed")
    for name in "abc":
        storage.put(f"{base}/.pending/{name}", name.encode())
    storage.put(f"{base}/out/b", b"an earlier one")
    storage.give([(f"{base}/.pending/{name}", f"{base}/out/{name}") for name in "abc"])
    assert [storage.get(f"{base}/out/{name}") for name in "abc"] == [b"a", b"b", b"c"]
    with pytest.raises(FileNotFoundError):
        storage.give([(f"{base}/.pending/none", f"{base}/out/d")])


def test_an_empty_folder_is_removed(base):
    storage = storage_of(base)
    if not isinstance(storage, Store):
        pytest.skip("only stores")
    storage.put(f"{base}/a/b", b"1")
    storage.remove_folder(f"{base}/a")
    assert storage.size(f"{base}/a/b") == 1
    storage.delete([f"{base}/a/b"])
    for _ in range(2):
        storage.remove_folder(f"{base}/a")
    assert storage.list(base) == []
    with pytest.raises(FileNotFoundError):
        storage.modified(f"{base}/a/b")


def test_the_clock_is_the_store_s(base):
    storage = storage_of(base)
    if not isinstance(storage, Store):
        pytest.skip("local files have locks")
    storage.put(f"{base}/a", b"1")
    assert 0 <= (storage.now(base) - storage.modified(f"{base}/a")).total_seconds() < 60
    assert [entry.path for entry in storage.list(base)] == [f"{base}/a"]


def test_paths_are_written_one_way(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert located("s3a://bucket/folder/") == located("S3://bucket/folder") == "s3://bucket/folder"
    assert located("abfss://c@account/x") == "abfs://c@account/x"
    assert located("gcs://bucket") == "gs://bucket"
    assert located("a/b") == located(f"file://{tmp_path}/a/b") == f"{tmp_path}/a/b"
    assert list(parents("s3://bucket/a/b")) == ["s3://bucket/a", "s3://bucket"]
    assert list(parents("/a/b")) == ["/a", "/"]
    assert join("s3://bucket/a", ".", "", "b") == "s3://bucket/a/b"
    assert [is_local(path) for path in ("a", "/a", "file:/a", "s3://a", "hdfs://h/a")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    with pytest.raises(UnsupportedError, match=r"'ftp'.*s3:, s3a:"):
        located("ftp://host/file")
    with pytest.raises(ConfigurationError, match="names nothing"):
        located("s3://")


def test_what_fsspec_leaves_out_of_a_path():
    assert _root("s3://bucket/a b", "bucket/a b") == ("s3://", 0)
    assert _root("hdfs://host:9000/a/b", "a/b") == ("hdfs://host:9000/", 0)
    assert _root("abfs://c@account.dfs.core.windows.net/a/b", "c/a/b") == ("abfs://c@account.dfs.core.windows.net/", 2)
    assert _root("abfs://c@account", "c") == ("abfs://c@account/", 2)


def test_there_can_be_options_for_every_store():
    assert {first for first, _ in SCHEMES.values()} == set(STORES)


def test_a_store_that_is_not_installed_names_its_extra(monkeypatch):
    pytest.importorskip("fsspec")
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name in ("gcsfs", "adlfs"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    for path, extra in (("gs://bucket/a", "gcs"), ("abfs://container@account/a", "azure")):
        with pytest.raises(ConfigurationError, match=rf"pip install 'penstock\[{extra}\]'"):
            storage_of(path)


def test_options_reach_the_store_and_show_themselves_nowhere(bucket, s3_endpoint, monkeypatch):
    storage_of(bucket).put(f"{bucket}/a", b"1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    text = f'{{"s3": {{"endpoint_url": "{s3_endpoint}", "key": "tester", "secret": "hush-hush"}}}}'
    settings = Settings.of({"penstock.storage.options": text})
    assert "hush" not in repr(settings)
    with configured(settings.storage_options):
        assert storage_of(bucket).get(f"{bucket}/a") == b"1"
    with configured({"s3": {"no_such_option": 1, "secret": "hush-hush"}}):
        with pytest.raises(ConfigurationError, match=r"cannot be reached") as caught:
            storage_of(bucket).get(f"{bucket}/a")
        assert "hush" not in str(caught.value)
    with pytest.raises(ConfigurationError) as caught:
        Settings.of({"penstock.storage.options": '{"s3": "hush-hush"}'})
    assert "hush" not in str(caught.value)


def test_copies_of_azure_are_waited_for():
    asyn = pytest.importorskip("fsspec.asyn")
    answers = {"a": ["pending", "pending", "success"], "b": ["failed"]}

    class Azure:
        loop = asyn.get_loop()
        service_client = property(lambda self: self)

        def split_path(self, place):
            return (*place.split("/"), None)

        def get_blob_client(self, container, blob):
            self.blob = blob
            return self

        async def __aenter__(self):
            return self

        async def __aexit__(self, *_):
            pass

        async def get_blob_properties(self):
            return SimpleNamespace(copy=SimpleNamespace(status=answers[self.blob].pop(0)))

    _wait_for_azure(Azure(), ["container/a"])
    assert answers["a"] == []
    with pytest.raises(OSError, match=r"'container/b' was not copied to: failed"):
        _wait_for_azure(Azure(), ["container/b"])


def unreachable(url: str) -> str:
    pytest.importorskip("hdfs_native")
    began = time.monotonic()
    with pytest.raises(ConfigurationError) as caught:
        storage_of(url).list(url)
    assert time.monotonic() - began < 30
    return str(caught.value)


@pytest.mark.slow
def test_a_name_node_that_does_not_exist_is_named_in_some_seconds():
    assert re.search(
        r"NameNode of 'hdfs://nowhere\.invalid:8020' cannot .*Give its host",
        unreachable("hdfs://nowhere.invalid:8020/a"),
    )


@pytest.mark.slow
def test_a_name_node_that_does_not_answer_is_named_in_some_seconds(monkeypatch):
    """It takes a connection, and says nothing."""
    pytest.importorskip("hdfs_native")
    monkeypatch.setattr("penstock.storage.hdfs._ANSWER_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"hdfs://127.0.0.1:{server.getsockname()[1]}"
        assert f"NameNode of {url!r} cannot be reached: no answer in 1 seconds" in unreachable(f"{url}/a")
