"""Evictors of a program's own: what those of Flink do, what they know, what they may not do."""

from __future__ import annotations

import pytest
from hypothesis import given

from penstock.datastream import window as w
from penstock.datastream.evictor import CountEvictor, DeltaEvictor, Evictor, TimeEvictor, TimestampedValue
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.usercode.failure import OperatorFailure
from penstock.runtime.windows.functions import ApplyWindow, ReduceWindow
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.windows.test_windows import EVENTS, KEY


class OwnCount(Evictor):
    def evict_before(self, elements, size, window, evictor_context):
        assert size == len(elements)
        del elements[: max(size - 2, 0)]


class OwnTime(Evictor):
    def evict_after(self, elements, size, window, evictor_context):
        youngest = max(element.timestamp for element in elements)
        elements[:] = [element for element in elements if element.timestamp > youngest - 6]


class OwnDelta(Evictor):
    def evict_before(self, elements, size, window, evictor_context):
        last = elements[-1].value[1]
        elements[:] = [element for element in elements if abs(element.value[1] - last) < 9]


class Asking(Evictor):
    """Asks one of Flink's."""

    def __init__(self, evictor):
        self.evictor = evictor

    def evict_before(self, elements, size, window, evictor_context):
        self.evictor.evict_before(elements, size, window, evictor_context)

    def evict_after(self, elements, size, window, evictor_context):
        self.evictor.evict_after(elements, size, window, evictor_context)


def apart(one, other):
    return abs(one[1] - other[1])


FLINKS = {
    "count": (CountEvictor(2), OwnCount()),
    "time": (TimeEvictor(6, after=True), OwnTime()),
    "delta": (DeltaEvictor(9, apart), OwnDelta()),
}


class Pairs:
    def apply(self, key, window, inputs):
        yield key, list(inputs)


def evicted(evictor, events, function):
    trigger = w.CountTrigger(3)
    alone = Alone(WindowOperator(w.TumblingEventTimeWindows(20), trigger, evictor, function, keyed=KEY))
    for event in events:
        if isinstance(event, tuple):
            alone.take(event, event[1])
    alone.watermark(MAX_WATERMARK)
    return alone.results


@pytest.mark.parametrize("name", FLINKS)
@given(EVENTS)
def test_evictors_of_ones_own_do_what_flinks_do(name, events):
    flinks, ours = FLINKS[name]
    for function in (
        ApplyWindow(Pairs()),
        ReduceWindow(max),
        ReduceWindow(max, ApplyWindow(Pairs())),
    ):
        expected = evicted(flinks, events, function)
        assert evicted(ours, events, function) == expected
        assert evicted(Asking(flinks), events, function) == expected


class Nosy(Evictor):
    def __init__(self):
        self.seen = []

    def evict_before(self, elements, size, window, evictor_context):
        now = evictor_context.get_current_watermark(), evictor_context.get_current_processing_time()
        evictor_context.get_metric_group().counter("evicted").inc(size)
        elements[:] = [TimestampedValue(("a", (window, now)), 5)]


def test_an_evictor_knows_window_and_time():
    alone = Alone(
        WindowOperator(w.TumblingEventTimeWindows(10), w.EventTimeTrigger(), Nosy(), ApplyWindow(Pairs()), keyed=KEY),
        clock=77,
    )
    alone.take(("a", 3), 3)
    alone.watermark(9)
    assert alone.results == [(("a", [("a", (w.TimeWindow(0, 10), (9, 77)))]), 9)]
    assert alone.context.metrics.values()


class Returning(Evictor):
    def evict_before(self, elements, size, window, evictor_context):
        return elements[1:]


def test_what_an_evictor_returns_is_refused():
    with pytest.raises(OperatorFailure) as caught:
        evicted(Returning(), [("a", 1), ("a", 2), ("a", 3)], ApplyWindow(Pairs()))
    assert "Returning.evict_before() returned [" in str(caught.value.__cause__)
