"""What steps collect reaches who iterates over it."""

from __future__ import annotations

import threading

import pytest

from penstock.common.jobs.collected import Collected
from penstock.datastream.streams.sink import CloseableIterator
from penstock.errors import PenstockError


def collected(**kwargs):
    cancelled = []
    return Collected(lambda: cancelled.append(True), **kwargs), cancelled


def test_records_are_read_as_steps_bring_them():
    records, cancelled = collected()
    records.put([1, 2])
    assert [next(records), next(records)] == [1, 2]
    threading.Timer(0.05, lambda: (records.put([]), records.put([3]), records.end())).start()
    assert list(records) == [3]
    records.close()
    assert cancelled == []


def test_what_has_failed_is_raised_behind_the_last_record():
    records, _ = collected()
    records.put([1])
    records.end(PenstockError("broken"))
    assert next(records) == 1
    with pytest.raises(PenstockError, match="broken"):
        next(records)
    assert list(records) == []


def test_closing_cancels_once_and_lets_the_steps_go_on():
    records, cancelled = collected(most=1)
    with CloseableIterator(records) as iterator:
        records.put([1, 2])
        assert iterator.next() == 1
        assert repr(iterator) == "<CloseableIterator with 1 records to read>"
        waiting = threading.Thread(target=records.put, args=([3],))
        waiting.start()
    waiting.join(60)
    assert not waiting.is_alive()
    assert cancelled == [True]
    iterator.close()
    assert cancelled == [True]
    assert list(records) == []


def test_steps_wait_for_who_reads_slowly():
    records, _ = collected(most=2)
    records.put([1, 2])
    waiting = threading.Thread(target=lambda: (records.put([3]), records.end()))
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive()
    assert list(records) == [1, 2, 3]
    waiting.join(60)
    assert not waiting.is_alive()


def test_who_ends_it_lets_a_waiting_step_go():
    records, _ = collected(most=1)
    records.put([1])
    waiting = threading.Thread(target=records.put, args=([2],))
    waiting.start()
    records.end()
    waiting.join(60)
    assert list(records) == [1, 2]
