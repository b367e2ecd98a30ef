"""Timers and watermarks against definitions."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.common import Duration, Types, WatermarkStrategy
from penstock.runtime.buffers.signals import MAX_WATERMARK, MIN_WATERMARK
from penstock.runtime.chain.entry import Valve
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.async_wait import AsyncWait
from penstock.runtime.operators.process import KeyedProcessOperator
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks
from penstock.runtime.state.timers import TimerQueue
from penstock.runtime.usercode.failure import OperatorFailure
from tests.runtime.operators.operators_alone import Alone

STEPS = st.lists(st.tuples(st.sampled_from(["add", "add", "remove", "poll"]), st.integers(0, 9), st.integers(0, 3)))


@given(STEPS)
def test_a_timer_queue_is_a_set_in_order_of_time(steps):
    queue, expected = TimerQueue(), set()
    for step, time, key in steps:
        if step == "add":
            assert queue.add(time, key, key, None) is ((time, key) not in expected)
            expected.add((time, key))
        elif step == "remove":
            queue.remove(time, key, None)
            expected.discard((time, key))
        elif expected:
            timer = queue.poll()
            assert timer.time == min(expected)[0]
            expected.remove((timer.time, timer.slot))
        assert len(queue) == len(expected)
        assert (queue.first() is None) is (not expected)
    assert {(timer.time, timer.slot) for timer in queue} == expected


class SlowQueue:
    """The heap of Flink, move for move."""

    def __init__(self):
        self.heap = [None]

    def add(self, timer):
        if timer not in self.heap:
            self.heap.append(timer)
            self.up(len(self.heap) - 1)

    def remove(self, timer):
        if timer not in self.heap:
            return
        index, last = self.heap.index(timer), self.heap.pop()
        if last != timer:
            self.heap[index] = last
            self.down(index)
            if self.heap[index] == last:
                self.up(index)

    def poll(self):
        timer = self.heap[1]
        self.remove(timer)
        return timer

    def up(self, index):
        while index > 1 and self.heap[index][0] < self.heap[index // 2][0]:
            self.swap(index, index // 2)
            index //= 2

    def down(self, index):
        while children := [i for i in (2 * index, 2 * index + 1) if i < len(self.heap)]:
            child = min(children, key=lambda i: self.heap[i][0])
            if self.heap[child][0] >= self.heap[index][0]:
                return
            self.swap(index, child)
            index = child

    def swap(self, one, other):
        self.heap[one], self.heap[other] = self.heap[other], self.heap[one]


MOVES = st.one_of(
    *[st.tuples(st.just("add"), st.integers(0, 4), st.integers(0, 30))] * 6,
    st.tuples(st.sampled_from(["remove", "poll", "until", "until", "fill"]), st.integers(0, 4), st.integers(0, 30)),
)


@given(st.lists(MOVES, max_size=120), st.booleans())
def test_timers_move_as_in_flinks_heap(moves, tracked):
    queue, slow = TimerQueue(), SlowQueue()
    if tracked:
        queue.track()
    for move, time, key in moves:
        if move == "add":
            queue.add(time, key, key, None)
            slow.add((time, key))
        elif move == "remove":
            queue.remove(time, key, None)
            slow.remove((time, key))
        elif move == "poll" and len(queue):
            timer = queue.poll()
            assert (timer.time, timer.slot) == slow.poll()
        elif move == "until":
            due = [(at, slot) for at, slot, _, _ in queue.poll_until(time)]
            assert due == [slow.poll() for _ in [*slow.heap[1:]] if slow.heap[1][0] <= time]
        elif move == "fill":
            queue.fill(list(queue))
        assert [(timer.time, timer.slot) for timer in queue] == slow.heap[1:]
    assert [timer.index for timer in queue] == list(range(1, len(slow.heap)))


def test_equal_times_come_in_the_order_of_flinks_heap():
    queue = TimerQueue()
    for key in "abcde":
        queue.add(5, key, key, None)
    assert [queue.poll().key for _ in range(5)] == ["a", "e", "d", "c", "b"]


class Channels:
    """What a valve should do, by definition: watermarks of active channels that have caught up count."""

    def __init__(self, count):
        self.watermarks, self.active, self.aligned = [MIN_WATERMARK] * count, [True] * count, [True] * count
        self.out = MIN_WATERMARK

    def watermark(self, channel, value):
        if self.active[channel] and value > self.watermarks[channel]:
            self.watermarks[channel] = value
            self.aligned[channel] |= value >= self.out
            self._minimum()

    def status(self, channel, active):
        if self.active[channel] == active:
            return
        self.active[channel] = active
        if active:
            self.aligned[channel] = self.watermarks[channel] >= self.out
            return
        self.aligned[channel] = False
        if not any(self.active):
            if self.watermarks[channel] == self.out:
                self.out = max(self.out, *self.watermarks)
        elif self.watermarks[channel] == self.out:
            self._minimum()

    def _minimum(self):
        counted = [w for w, aligned in zip(self.watermarks, self.aligned, strict=True) if aligned]
        self.out = max(self.out, min(counted, default=MIN_WATERMARK))


EVENTS = st.lists(st.tuples(st.integers(0, 2), st.one_of(st.booleans(), st.integers(0, 20))), max_size=60)


@given(EVENTS)
def test_a_valve_gives_the_minimum_of_the_channels_that_count(events):
    passed, toggled = [], []
    valve, expected = Valve(range(3), passed.append, toggled.append), Channels(3)
    for channel, event in events:
        if isinstance(event, bool):
            valve.status(channel, event)
            expected.status(channel, event)
        else:
            valve.watermark(channel, event)
            expected.watermark(channel, event)
        assert (passed[-1] if passed else MIN_WATERMARK) == expected.out
        assert valve.active is any(expected.active)
    assert passed == sorted(set(passed))
    assert all(one is not other for one, other in pairwise(toggled))
    valve.end_all()
    assert passed[-1] == MAX_WATERMARK


class Reminders:
    def process_element(self, value, ctx):
        ctx.timer_service().register_processing_time_timer(value[1])
        ctx.timer_service().register_event_time_timer(value[1])

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, ctx.time_domain().name


def test_timers_by_the_clock_fire_when_it_gets_there_and_never_after_the_end():
    key = KeyPartition(lambda pair: pair[0], Types.STRING())
    alone = Alone(KeyedProcessOperator(Reminders(), keyed=key))
    for pair in [("a", 30), ("b", 10), ("a", 30)]:
        alone.take(pair)
    alone.wait_until(9)
    assert alone.results == []
    alone.wait_until(10)
    assert alone.results == [(("b", 10, "PROCESSING_TIME"), None)]
    alone.watermark(MAX_WATERMARK)
    assert alone.results[1:] == [(("b", 10, "EVENT_TIME"), 10), (("a", 30, "EVENT_TIME"), 30)]
    assert alone.watermarks == [MAX_WATERMARK]


def test_periodic_watermarks_come_after_so_many_records_and_at_the_end(monkeypatch):
    monkeypatch.setattr("penstock.runtime.operators.watermarks.PERIOD", 3)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(2))
    alone = Alone(TimestampsAndWatermarks(strategy.with_timestamp_assigner(lambda value, before: value)))
    for value in [10, 12, 11, 5, 6, 7, 30]:
        alone.take(value)
    alone.watermark(25)  # from above: nobody's business
    assert alone.watermarks == [9]
    alone.live.close()
    assert alone.watermarks == [9, 27]
    alone.watermark(MAX_WATERMARK)
    assert alone.watermarks == [9, 27, MAX_WATERMARK]
    assert [time for _, time in alone.results] == [10, 12, 11, 5, 6, 7, 30]


class Slow:
    async def async_invoke(self, value):
        if value == "own":
            raise TimeoutError("of the service")
        await asyncio.sleep(60)

    def timeout(self, value):
        return [f"{value} late"]


def test_a_time_out_is_not_an_exception_of_the_call():
    alone = Alone(AsyncWait(Slow(), ordered=True, timeout=1))
    alone.take("a", 5)
    alone.live.end_input()
    assert alone.results == [("a late", 5)]
    alone.take("own", 6)
    with pytest.raises(OperatorFailure) as caught:
        alone.live.end_input()
    assert str(caught.value.error.__cause__) == "of the service"
    alone.live.dispose()


class FirstIsSlow:
    async def async_invoke(self, value):
        if value == 0:
            await asyncio.sleep(0.05)
        return [value]


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("with_watermarks", [True, False])
def test_results_and_watermarks_that_wait_count_as_held(ordered, with_watermarks):
    """A slow call before quick ones holds up to ``capacity`` back, not all that follow."""
    alone = Alone(AsyncWait(FirstIsSlow(), ordered=ordered, timeout=0, capacity=5))
    waiting = []
    for value in range(20):
        alone.take(value)
        if with_watermarks:
            alone.watermark(value)
        waiting.append((2 if with_watermarks else 1) * (value + 1) - len(alone.results) - len(alone.watermarks))
    alone.live.end_input()
    alone.live.dispose()
    assert sorted(value for value, _ in alone.results) == list(range(20))
    assert alone.watermarks == (list(range(20)) if with_watermarks else [])
    assert max(waiting) <= 5
    assert max(waiting) >= 4 or not (ordered or with_watermarks)
