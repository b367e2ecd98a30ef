"""The state files that the subtasks of a job open when it resumes."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager

import pytest

from penstock.common import Types
from penstock.datastream import KeyedBroadcastProcessFunction, MapStateDescriptor, ValueStateDescriptor
from penstock.runtime.checkpoint import state_series
from tests.job.steps.evolving import PAIR, environment, fed
from tests.running import collected

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
PAIRS = [(key, number) for number in range(3) for key in "abcdefghij"]


class Summed(KeyedBroadcastProcessFunction):
    """Sums in keyed state; the other input becomes broadcast state."""

    def open(self, runtime_context):
        self.sum = runtime_context.get_state(ValueStateDescriptor("sum", Types.INT()))

    def process_element(self, value, ctx):
        self.sum.update((self.sum.value() or 0) + value[1])
        yield value[0], self.sum.value()

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(*value)


def sums(folder, parallelism, records, *, rules=False):
    """The last sum of each key, of these records and those that were there before."""
    env = environment(folder, parallelism)
    stream = fed(env, folder, records).key_by(lambda pair: pair[0], Types.STRING())
    if rules:
        spread = env.from_collection([("a", 1)], PAIR).uid("rules").broadcast(RULES)
        stream = stream.connect(spread).process(Summed(), PAIR).uid("sums")
    else:
        stream = stream.reduce(lambda one, other: (one[0], one[1] + other[1])).uid("sums")
    return dict(collected(stream))


@pytest.fixture
def writers(monkeypatch):
    """By subtask, the subtasks that have written the files that it opens."""
    writers = defaultdict(set)
    original = state_series.open_state_file

    @contextmanager
    def counting(folder, file, about, *, whole):
        with original(folder, file, about, whole=whole) as reader:
            writers[about.subtask].add(reader.header.about.subtask)
            yield reader

    monkeypatch.setattr(state_series, "open_state_file", counting)
    return writers


def test_of_keyed_state_a_subtask_opens_its_own(tmp_path, writers):
    folder = tmp_path / "job"
    sums(folder, 4, PAIRS)
    writers.clear()
    assert sums(folder, 4, [*PAIRS, *PAIRS]) == dict.fromkeys("abcdefghij", 6)
    assert len(writers) > 1
    assert all(opened == {subtask} for subtask, opened in writers.items())


def test_at_another_parallelism_it_opens_all(tmp_path, writers):
    folder = tmp_path / "job"
    sums(folder, 4, PAIRS)
    writers.clear()
    assert sums(folder, 3, [*PAIRS, *PAIRS]) == dict.fromkeys("abcdefghij", 6)
    assert len(writers) == 3
    assert all(len(others) > 1 for others in writers.values())
    writers.clear()
    assert sums(folder, 3, [*PAIRS, *PAIRS, *PAIRS]) == dict.fromkeys("abcdefghij", 9)
    assert all(opened == {subtask} for subtask, opened in writers.items())


def test_with_operator_state_it_opens_all(tmp_path, writers):
    """Subtasks may have it of others."""
    folder = tmp_path / "job"
    sums(folder, 2, PAIRS, rules=True)
    writers.clear()
    assert sums(folder, 2, [*PAIRS, *PAIRS], rules=True) == dict.fromkeys("abcdefghij", 6)
    assert dict(writers) == {0: {0, 1}, 1: {0, 1}}
