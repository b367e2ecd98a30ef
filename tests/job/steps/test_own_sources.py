"""What the driver tells sources of one's own, and what becomes of those that say there is more than they can read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from penstock.common import Types, WatermarkStrategy
from penstock.datastream.connectors import (
    HybridSource,
    NumberSequenceSource,
    RateLimiterStrategy,
    Records,
    Source,
    Split,
)
from tests.job.restore.jobs import environment, some
from tests.running import collected

NONE = WatermarkStrategy.no_watermarks()


class Telling(Source):
    """Numbers from a first one on, in one split; writes down what it is told."""

    def __init__(self, first: int, calls: list, *, bounded: bool = True) -> None:
        self.first, self.calls, self.bounded = first, calls, bounded
        self.produced_type = Types.LONG()

    def __reduce__(self):
        return type(self), (self.first, [])

    def resume(self, positions) -> None:
        self.calls.append(("resume", positions))

    def committed(self, positions) -> None:
        self.calls.append(("committed", dict(positions)))

    def splits(self, parallelism):
        return [Split("all", 0, 20, finite=True)]

    def read(self, split):
        for at in range(split.start, split.end):
            yield Records([self.first + at], at + 1)

    def ended(self) -> bool:
        return True


@pytest.mark.parametrize("bounded", [True, False])
def test_the_sources_of_a_hybrid_one_are_told_what_it_is_told(tmp_path, bounded) -> None:
    first, second = [], []

    def numbers():
        both = HybridSource.builder(Telling(0, first)).add_source(Telling(100, second, bounded=bounded)).build()
        env = environment(tmp_path / "job", 1, penstock__step__records=8)
        return env.from_source(both, NONE, "both").uid("both").map(lambda n: n, Types.LONG())

    assert some(numbers(), 1) == list(range(8))
    assert first == [("resume", None), ("committed", {"all": 8})]
    assert second == [("resume", None)]
    first.clear()
    second.clear()
    records = some(numbers(), 3)
    assert records == [*range(8, 20), *range(100, 100 + len(records) - 12)]
    assert first[:2] == [("resume", {"all": 8}), ("committed", {"all": 16})]
    assert second[0] == ("resume", None)
    positions = second[-1][1]
    assert positions == {"all": len(records) - 12}
    second.clear()
    assert collected(numbers()) == list(range(100 + positions["all"], 120))
    assert second[0] == ("resume", positions)


def test_a_rate_by_checkpoints_holds_within_a_hybrid_source(tmp_path) -> None:
    """With an interval, many steps go by between two checkpoints; the rate counts the latter."""
    slow = NumberSequenceSource(1, 12, RateLimiterStrategy.per_checkpoint(3))
    both = HybridSource.builder(NumberSequenceSource(-2, 0)).add_source(slow).build()
    env = environment(tmp_path / "job", 1, execution__checkpointing__interval="300 ms")
    began = time.monotonic()
    assert collected(env.from_source(both, NONE, "both").map(lambda n: n, Types.LONG())) == list(range(-2, 13))
    assert time.monotonic() - began > 0.6


class Journal(Source):
    """A text that others append lines to; positions are characters."""

    bounded = False
    produced_type = Types.STRING()

    def __init__(self, path) -> None:
        self.path = path

    def splits(self, parallelism):
        return [Split("journal", 0, len(self.path.read_text()))]

    def read(self, split):
        for line in self.path.read_text()[split.start : split.end].splitlines():
            split = Split(split.id, split.start + len(line) + 1, split.end)
            yield Records([line], split.start)


@pytest.fixture
def journal(tmp_path):
    path = tmp_path / "journal"
    path.write_text("one\ntwo\nthree\n")
    return path


def lines(tmp_path, journal, available_now: str):
    env = environment(tmp_path / "job", 1, penstock__step__available_now=available_now)
    return env.from_source(Journal(journal), NONE, "journal").uid("journal").map(lambda line: line, Types.STRING())


def test_a_split_that_has_become_shorter_than_what_was_read_ends_a_run_of_what_is_there(
    tmp_path, journal, caplog
) -> None:
    assert collected(lines(tmp_path, journal, "true")) == ["one", "two", "three"]
    journal.write_text("one\n")
    assert within(60, lambda: collected(lines(tmp_path, journal, "true"))) == []
    assert "of the split 'journal' nothing could be read from position 14 on, though it ends at 4" in caplog.text
    journal.write_text("one\ntwo\nthree\nfour\n")
    assert collected(lines(tmp_path, journal, "true")) == ["four"]


def replaced(path, text) -> None:
    """Change a file at once: nobody finds it empty."""
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").replace(path)


def test_a_job_that_goes_on_reads_it_when_it_has_another_end_and_rests_until_then(tmp_path, journal, caplog) -> None:
    with lines(tmp_path, journal, "false").execute_and_collect() as records:
        assert [next(records) for _ in range(3)] == ["one", "two", "three"]
        replaced(journal, "one\n")
        until = time.monotonic() + 60
        while "nothing could be read" not in caplog.text:
            assert time.monotonic() < until
            time.sleep(0.01)
        time.sleep(0.3)
        assert caplog.text.count("nothing could be read") == 1
        replaced(journal, "one\ntwo\nthree\nfour\n")
        assert next(records) == "four"


def within(seconds: float, call: Callable[[], list]) -> list:
    """What a call gives that may not take longer."""
    results: list[list] = []
    thread = threading.Thread(target=lambda: results.append(call()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert results, "it has not ended"
    return results[0]
