"""HDFS beyond what every store promises (tests/runtime/io/test_storage.py)."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys

import pytest

from penstock.errors import ConfigurationError
from penstock.storage.storage import Entry
from penstock.storage.stores import Store, abandoned, configured, storage_of

pytestmark = pytest.mark.hdfs
NAMES = ["a#b", "a?b", "a;b", "a b", "a%20b", "ä", "a[b]", "a{b}", "a\\b"]


def test_names_are_not_taken_apart(hdfs: str) -> None:
    storage = storage_of(hdfs)
    for name in NAMES:
        storage.put(f"{hdfs}/{name}/{name}", name.encode())
        assert storage.get(f"{hdfs}/{name}/{name}") == name.encode()
    files = [Entry(f"{hdfs}/{name}/{name}", len(name.encode())) for name in NAMES]
    assert storage.list(hdfs, deep=True) == sorted(files)
    storage.delete(entry.path for entry in files)
    assert storage.list(hdfs, deep=True) == []


def test_a_file_is_read_from_anywhere(hdfs: str) -> None:
    storage = storage_of(hdfs)
    storage.put(f"{hdfs}/a", b"0123456789")
    with storage.read(f"{hdfs}/a") as file:
        assert file.read(2) == b"01"
        assert file.tell() == 2
        assert file.seek(-3, 2) == 7
        assert file.read() == b"789"
        assert file.seek(100) == 100  # the client's own files panic
        assert file.read() == b""
        file.seek(1)
        assert file.read(1) == b"1"


def test_a_file_that_is_given_up_is_removed(hdfs: str) -> None:
    storage = storage_of(hdfs)
    file = storage.writing(f"{hdfs}/no")
    file.write(b"x" * (3 << 20))
    assert file.tell() == 3 << 20
    abandoned(file)
    assert storage.list(hdfs) == []


def test_a_file_is_replaced_by_one_rename(hdfs: str) -> None:
    store = Store(hdfs)
    store.put(f"{hdfs}/old", b"old")
    reader = store.read(f"{hdfs}/old")
    store.put(f"{hdfs}/new", b"new")
    store.give([(f"{hdfs}/new", f"{hdfs}/old")])
    assert store.get(f"{hdfs}/old") == b"new"
    assert store.list(hdfs) == [Entry(f"{hdfs}/old", 3)]
    reader.close()


def create(path: str, number: int) -> bool:
    return storage_of(path).create(path, bytes([number]))


def test_of_processes_that_create_a_name_one_does(hdfs: str) -> None:
    """Forked ones, as Spark's workers are, which cannot use the client of the process above them."""
    storage_of(hdfs).put(f"{hdfs}/before", b"")
    with multiprocessing.get_context("fork").Pool(4) as pool:
        for turn in range(5):
            path = f"{hdfs}/{turn}"
            won = pool.starmap(create, [(path, number) for number in range(4)])
            assert won.count(True) == 1
            assert storage_of(path).get(path) == bytes([won.index(True)])


FORKING = """
import os, signal, sys
from penstock.storage.stores import storage_of

folder = sys.argv[1]
storage = storage_of(folder)
storage.put(f"{folder}/a", b"1")
if os.fork() == 0:
    signal.alarm(60)
    assert storage.get(f"{folder}/a") == b"1"
    sys.exit(0)
assert os.wait()[1] == 0
"""


def test_a_forked_process_uses_what_it_inherits_and_ends(hdfs: str) -> None:
    """The client's threads are not there in it."""
    subprocess.run([sys.executable, "-c", FORKING, hdfs], check=True, timeout=120)


def test_a_refusal_is_told_without_the_stack_of_the_server(hdfs: str) -> None:
    with pytest.raises(ConfigurationError, match="Invalid path name") as caught:
        storage_of(hdfs).put(f"{hdfs}/a:b", b"")
    assert "HADOOP_CONF_DIR" in str(caught.value)
    assert "org.apache.hadoop.hdfs.server" not in str(caught.value)


def test_options_are_keys_of_hadoop(hdfs: str) -> None:
    with configured({"hdfs": {"dfs.client.failover.max.attempts": 1}}), pytest.raises(ConfigurationError):
        storage_of("hdfs://127.0.0.1:1/a").get("hdfs://127.0.0.1:1/a")
