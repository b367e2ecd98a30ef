"""Window × trigger × evictor × lateness × form of function, against windows by definition, over random inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from penstock.common import Types
from penstock.common.functions.state_descriptor import ReducingStateDescriptor
from penstock.datastream import window as w
from penstock.datastream.evictor import CountEvictor, DeltaEvictor, Evictor, TimeEvictor
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows.functions import AggregateWindow, ApplyWindow, FoldWindow, ProcessWindow, ReduceWindow
from tests.effort import examples
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.windows.test_windows import KEY

pytestmark = pytest.mark.slow

ELEMENT = st.tuples(st.sampled_from("aab"), st.integers(0, 25), st.integers(0, 9))
EVENTS = st.lists(
    st.one_of(
        *[ELEMENT] * 4,
        st.tuples(st.just("watermark"), st.integers(1, 12)),
        st.tuples(st.just("clock"), st.integers(1, 6)),
    ),
    min_size=5,
    max_size=25,
)

# --- windows by definition, slowly ------------------------------------------------------------------------------------

FOREVER = (1 << 63) - 1


def last_time(window: tuple[int, ...]) -> int:
    return window[1] - 1 if len(window) == 2 else FOREVER


@dataclass
class Live:
    """A window of a key: when event time ends it, its elements, and what its trigger knows and waits for."""

    key: str
    window: tuple[int, ...]
    ends: int
    elements: list[tuple[Any, int]] = field(default_factory=list)
    seen: int = 0
    next_time: int | None = None
    last: Any = None
    event_timers: set[int] = field(default_factory=set)
    clock_timers: set[int] = field(default_factory=set)


FIRE, PURGE = "fire", "purge"
Answer = set[str]


class SlowTrigger:
    """Answers with a set of FIRE and PURGE."""

    def element(self, live: Live, element: Any, time: int, now: Now) -> Answer:
        return set()

    def event_time(self, live: Live, time: int, now: Now) -> Answer:
        return set()

    def clock(self, live: Live, time: int, now: Now) -> Answer:
        return set()

    def merged(self, live: Live, parts: list[Live], now: Now) -> None:
        """Windows have become one."""


@dataclass
class Now:
    watermark: int = -FOREVER - 1
    clock: int = 0


class AtEnd(SlowTrigger):
    def element(self, live, element, time, now):
        end = last_time(live.window)
        if end <= now.watermark:
            return {FIRE}
        live.event_timers.add(end)
        return set()

    def event_time(self, live, time, now):
        return {FIRE} if time == last_time(live.window) else set()


class AtEndByClock(SlowTrigger):
    def element(self, live, element, time, now):
        live.clock_timers.add(last_time(live.window))
        return set()

    def clock(self, live, time, now):
        return {FIRE}

    def merged(self, live, parts, now):
        if last_time(live.window) > now.clock:
            live.clock_timers.add(last_time(live.window))


@dataclass
class EveryNth(SlowTrigger):
    count: int

    def element(self, live, element, time, now):
        live.seen += 1
        if live.seen < self.count:
            return set()
        live.seen = 0
        return {FIRE}

    def merged(self, live, parts, now):
        live.seen = sum(part.seen for part in parts)


def _following(time: int, interval: int) -> int:
    """The multiple of the interval after a time, as Java's remainder finds it."""
    return (time // interval if time >= 0 else -(-time // interval)) * interval + interval


@dataclass
class EveryNow(SlowTrigger):
    interval: int
    by_clock: bool

    def element(self, live, element, time, now):
        if not self.by_clock:
            end = last_time(live.window)
            if end <= now.watermark:
                return {FIRE}
            live.event_timers.add(end)
        if live.next_time is None:
            self._wait(live, _following(now.clock if self.by_clock else time, self.interval))
        return set()

    def _wait(self, live, time):
        live.next_time = time
        (live.clock_timers if self.by_clock else live.event_timers).add(time)

    def event_time(self, live, time, now):
        if self.by_clock:
            return set()
        return {FIRE} if time == last_time(live.window) else self._again(live, time, now)

    def clock(self, live, time, now):
        return self._again(live, time, now) if self.by_clock else set()

    def _again(self, live, time, now):
        if time != live.next_time:
            return set()
        if now.watermark < FOREVER or live.ends < FOREVER:
            self._wait(live, time + self.interval)
        return {FIRE}

    def merged(self, live, parts, now):
        times = [part.next_time for part in parts if part.next_time is not None]
        if times:
            self._wait(live, min(times))


@dataclass
class Differs(SlowTrigger):
    threshold: int

    def element(self, live, element, time, now):
        if live.last is None:
            live.last = element
        if abs(live.last[2] - element[2]) <= self.threshold:
            return set()
        live.last = element
        return {FIRE}


class SlowOwn(SlowTrigger):
    """At every second element; three by the clock after an element it empties the window."""

    def element(self, live, element, time, now):
        live.seen += 1
        live.clock_timers.add(now.clock + 3)
        return {FIRE} if live.seen % 2 == 0 else set()

    def clock(self, live, time, now):
        return {PURGE}

    def merged(self, live, parts, now):
        live.seen = sum(part.seen for part in parts)
        live.clock_timers.add(now.clock + 3)


@dataclass
class SlowPurging(SlowTrigger):
    inner: SlowTrigger

    def element(self, live, element, time, now):
        return self._all(self.inner.element(live, element, time, now))

    def event_time(self, live, time, now):
        return self._all(self.inner.event_time(live, time, now))

    def clock(self, live, time, now):
        return self._all(self.inner.clock(live, time, now))

    def _all(self, answer):
        return {FIRE, PURGE} if FIRE in answer else answer

    def merged(self, live, parts, now):
        self.inner.merged(live, parts, now)


Evict = Callable[[list[tuple[Any, int]]], list[tuple[Any, int]]]


@dataclass
class SlowWindows:
    assign: Callable[[Any, int, int, int], Iterable[tuple[int, ...]]]
    by_time: bool
    merging: bool
    trigger: SlowTrigger
    before: Evict | None
    after: Evict | None
    show: Callable[[str, tuple[int, ...], list[Any], int], list[Any]]
    lateness: int
    now: Now = field(default_factory=Now)
    windows: list[Live] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    results: list[Any] = field(default_factory=list)
    late: list[Any] = field(default_factory=list)

    def over(self, window: tuple[int, ...]) -> int:
        return min(last_time(window) + (self.lateness if self.by_time else 0), FOREVER)

    def take(self, element: Any) -> None:
        key, time, _ = element
        place = self.counts[key] = self.counts.get(key, -1) + 1
        taken = False
        for window in self.assign(element, time, self.now.clock, place):
            live = self._find(key, window)
            if self.by_time and self.over(live.window) <= self.now.watermark:
                self.windows.remove(live)
                continue
            taken = True
            live.elements.append((element, time))
            self._follow(live, self.trigger.element(live, element, time, self.now))
            if self.over(live.window) < FOREVER:
                (live.event_timers if self.by_time else live.clock_timers).add(self.over(live.window))
        if not taken and self.by_time and time + self.lateness <= self.now.watermark:
            self.late.append(element)

    def _find(self, key: str, window: tuple[int, ...]) -> Live:
        """The live window, made if it is new, merged with those that it touches if they merge."""
        mine = [live for live in self.windows if live.key == key]
        touching = [live for live in mine if live.window == window]
        if self.merging:
            touching = [live for live in mine if live.window[0] <= window[1] and window[0] <= live.window[1]]
            window = (
                min([window[0], *(x.window[0] for x in touching)]),
                max([window[1], *(x.window[1] for x in touching)]),
            )
        if not touching or [live.window for live in touching] != [window]:
            ends = self.over(window) if self.by_time else FOREVER
            whole = Live(key, window, ends, [pair for part in touching for pair in part.elements])
            self.windows = [live for live in self.windows if not any(live is part for part in touching)] + [whole]
            if touching:
                self.trigger.merged(whole, touching, self.now)
            return whole
        return touching[0]

    def _follow(self, live: Live, answer: Answer) -> None:
        if FIRE in answer and live.elements:
            shown = live.elements if self.before is None else self.before(live.elements)
            values = [element for element, _ in shown]
            time = last_time(live.window)
            self.results += [(r, time) for r in self.show(live.key, live.window, values, self.now.watermark)]
            live.elements = list(shown if self.after is None else self.after(shown))
        if PURGE in answer:
            live.elements = []

    def watermark(self, watermark: int) -> None:
        self.now.watermark = watermark
        self._fire("event_timers", watermark, self.trigger.event_time, self.by_time)

    def move_clock(self, clock: int) -> None:
        self.now.clock = clock
        self._fire("clock_timers", clock, self.trigger.clock, not self.by_time)

    def _fire(self, timers: str, until: int, ask: Callable[..., Answer], ends: bool) -> None:
        while True:
            due = [(t, i) for i, live in enumerate(self.windows) for t in getattr(live, timers) if t <= until]
            if not due:
                return
            time, place = min(due)
            live = self.windows[place]
            getattr(live, timers).remove(time)
            self._follow(live, ask(live, time, self.now))
            if ends and time == self.over(live.window):
                self.windows.remove(live)


# --- windows ----------------------------------------------------------------------------------------------------------


def aligned(size: int, slide: int, by_clock: bool) -> Any:
    def assign(element: Any, time: int, clock: int, place: int) -> list[tuple[int, ...]]:
        at = clock if by_clock else time
        return [
            (start, start + size) for start in range(-300 * slide, 300 * slide, slide) if start <= at < start + size
        ]

    return assign


def session(gap: int, by_clock: bool) -> Any:
    return lambda element, time, clock, place: [((clock if by_clock else time), (clock if by_clock else time) + gap)]


SPANS = st.integers(1, 12)
ASSIGNERS = {
    "tumbling": SPANS.map(lambda n: (w.TumblingEventTimeWindows(n), aligned(n, n, False))),
    "tumbling by the clock": SPANS.map(lambda n: (w.TumblingProcessingTimeWindows(n), aligned(n, n, True))),
    "sliding": st.tuples(SPANS, SPANS).map(lambda p: (w.SlidingEventTimeWindows(*p), aligned(*p, False))),
    "sliding by the clock": st.tuples(SPANS, SPANS).map(
        lambda p: (w.SlidingProcessingTimeWindows(*p), aligned(*p, True))
    ),
    "sessions": SPANS.map(lambda n: (w.EventTimeSessionWindows(n), session(n, False))),
    "sessions by the clock": SPANS.map(lambda n: (w.ProcessingTimeSessionWindows(n), session(n, True))),
    "global": st.just((w.GlobalWindows(), lambda element, time, clock, place: [()])),
    "by count": SPANS.map(
        lambda n: (w.CountTumblingWindowAssigner(n), lambda element, time, clock, place: [(place // n,)])
    ),
}

# --- triggers ---------------------------------------------------------------------------------------------------------


class Own(w.Trigger):
    """At every second element; three by the clock after an element it empties the window."""

    SEEN = ReducingStateDescriptor("seen", lambda one, other: one + other, Types.INT())
    WAITING = ReducingStateDescriptor("waiting", lambda one, other: one + other, Types.PICKLED_BYTE_ARRAY())

    def on_element(self, element, timestamp, window, ctx):
        self.wait(ctx)
        seen = ctx.get_partitioned_state(self.SEEN)
        seen.add(1)
        return w.TriggerResult.FIRE if seen.get() % 2 == 0 else w.TriggerResult.CONTINUE

    def wait(self, ctx):
        time = ctx.get_current_processing_time() + 3
        ctx.register_processing_time_timer(time)
        ctx.get_partitioned_state(self.WAITING).add((time,))

    def on_processing_time(self, time, window, ctx):
        return w.TriggerResult.PURGE

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self.SEEN)
        self.wait(ctx)

    def clear(self, window, ctx):
        for time in ctx.get_partitioned_state(self.WAITING).get() or ():
            ctx.delete_processing_time_timer(time)
        ctx.get_partitioned_state(self.WAITING).clear()
        ctx.get_partitioned_state(self.SEEN).clear()


def difference(one: Any, other: Any) -> int:
    return abs(one[2] - other[2])


TRIGGERS = {
    "at the end": st.just((w.EventTimeTrigger(), AtEnd())),
    "at the end by the clock": st.just((w.ProcessingTimeTrigger(), AtEndByClock())),
    "never": st.just((w.NeverTrigger(), SlowTrigger())),
    "own": st.just((Own(), SlowOwn())),
    "count": st.integers(1, 4).map(lambda n: (w.CountTrigger(n), EveryNth(n))),
    "continuous": st.integers(1, 9).map(lambda n: (w.ContinuousEventTimeTrigger(n), EveryNow(n, False))),
    "continuous by the clock": st.integers(1, 9).map(
        lambda n: (w.ContinuousProcessingTimeTrigger(n), EveryNow(n, True))
    ),
    "delta": st.integers(0, 5).map(lambda n: (w.DeltaTrigger(n, difference), Differs(n))),
}
WITHOUT_MERGING = {"never", "delta"}
WITH_AN_END = {"at the end", "at the end by the clock"}
POSSIBLE = [
    (windows, trigger)
    for windows in ASSIGNERS
    for trigger in TRIGGERS
    if not (windows.startswith("sessions") and trigger in WITHOUT_MERGING)
    and not (windows == "global" and trigger in WITH_AN_END)
]
"""What the API lets meet."""

# --- evictors ---------------------------------------------------------------------------------------------------------


class WithoutSmall(Evictor):
    def evict_before(self, elements, size, window, evictor_context):
        elements[:] = [element for element in elements if element.value[2] > 2]


def last(count: int) -> Any:
    return lambda pairs: pairs[max(len(pairs) - count, 0) :]


def young(span: int) -> Any:
    return lambda pairs: [pair for pair in pairs if pair[1] > max(time for _, time in pairs) - span]


def near(threshold: int) -> Any:
    return lambda pairs: [pair for pair in pairs if difference(pair[0], pairs[-1][0]) < threshold]


def placed(evictor: Any, keeps: Any, after: bool) -> Any:
    return evictor, *((None, keeps) if after else (keeps, None))


EVICTORS = st.one_of(
    st.just((None, None, None)),
    st.just((None, None, None)),
    st.tuples(st.integers(0, 4), st.booleans()).map(lambda p: placed(CountEvictor(*p), last(p[0]), p[1])),
    st.tuples(st.integers(0, 9), st.booleans()).map(lambda p: placed(TimeEvictor(*p), young(p[0]), p[1])),
    st.tuples(st.integers(0, 9), st.booleans()).map(
        lambda p: placed(DeltaEvictor(p[0], difference, p[1]), near(p[0]), p[1])
    ),
    st.just((WithoutSmall(), lambda pairs: [pair for pair in pairs if pair[0][2] > 2], None)),
)
IN_ANY_ORDER = (type(None), TimeEvictor, WithoutSmall)
"""Evictors that do not look at the order of elements, which in merged windows is that of a hash table of Java's."""

# --- functions --------------------------------------------------------------------------------------------------------


class Apply:
    def apply(self, key, window, inputs):
        yield key, tuple(window) if isinstance(window, tuple) else (), sorted(inputs, key=repr)


class Process:
    def process(self, key, context, elements):
        yield key, context.current_watermark(), sorted(elements, key=repr)


class Mean:
    def create_accumulator(self):
        return 0, 0

    def add(self, element, accumulator):
        return accumulator[0] + element[2], accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, one, other):
        return one[0] + other[0], one[1] + other[1]


def added(one: Any, other: Any) -> Any:
    return (one[0], 0, one[2] + other[2])


def total(elements: list[Any]) -> Any:
    """What ``added`` makes of elements; of none in an evicting window, None."""
    elements = [(key, 0 if len(elements) > 1 else time, n) for key, time, n in elements]
    return [reduce(added, elements) if elements else None]


def mean(elements: list[Any]) -> Any:
    return [(sum(n for _, _, n in elements), len(elements))]


def folded(elements: list[Any]) -> Any:
    return [sum(n for _, _, n in elements)]


def alone(summed: Any) -> Any:
    return lambda key, window, elements, watermark: summed(elements)


def applied(summed: Any = list) -> Any:
    return lambda key, window, elements, watermark: [(key, window, sorted(summed(elements), key=repr))]


def processed(summed: Any = list) -> Any:
    return lambda key, window, elements, watermark: [(key, watermark, sorted(summed(elements), key=repr))]


def fold(value: int, element: Any) -> int:
    return value + element[2]


FUNCTIONS = {
    "apply": (ApplyWindow(Apply()), applied()),
    "process": (ProcessWindow(Process()), processed()),
    "reduce": (ReduceWindow(added), alone(total)),
    "reduce, apply": (ReduceWindow(added, ApplyWindow(Apply())), applied(total)),
    "reduce, process": (ReduceWindow(added, ProcessWindow(Process())), processed(total)),
    "aggregate": (AggregateWindow(Mean()), alone(mean)),
    "aggregate, apply": (AggregateWindow(Mean(), ApplyWindow(Apply())), applied(mean)),
    "aggregate, process": (AggregateWindow(Mean(), ProcessWindow(Process())), processed(mean)),
    "fold": (FoldWindow(0, fold), alone(folded)),
}


def play(events: Any, operator: Alone, model: SlowWindows) -> None:
    """Give both the same events, and compare after each."""
    watermark, clock = -30, 0
    for event in [*events, ("watermark", MAX_WATERMARK)]:
        before = len(operator.results), len(model.results)
        if event[0] == "watermark":
            watermark = min(watermark + event[1], MAX_WATERMARK) if event[1] < MAX_WATERMARK else MAX_WATERMARK
            operator.watermark(watermark)
            model.watermark(watermark)
        elif event[0] == "clock":
            clock += event[1]
            operator.wait_until(clock)
            model.move_clock(clock)
        else:
            operator.take(event, event[1])
            model.take(event)
        actual, expected = operator.results[before[0] :], model.results[before[1] :]
        assert sorted(map(repr, actual)) == sorted(map(repr, expected)), event
    assert operator.sides.get("late", []) == model.late


@pytest.mark.parametrize(("windows", "trigger"), POSSIBLE)
@settings(max_examples=examples(50))
@given(st.data(), EVENTS, EVICTORS, st.integers(0, 8), st.booleans(), st.sampled_from(sorted(FUNCTIONS)))
def test_windows_are_what_they_are_by_definition(windows, trigger, data, events, evictors, lateness, purging, form):
    assigner, assign = data.draw(ASSIGNERS[windows])
    asked, slowly = data.draw(TRIGGERS[trigger])
    if purging:
        asked, slowly = w.PurgingTrigger(asked), SlowPurging(slowly)
    (evictor, before, after), (function, show) = evictors, FUNCTIONS[form]
    if assigner.merging:
        assume(isinstance(evictor, IN_ANY_ORDER) and form != "fold")
    operator = Alone(WindowOperator(assigner, asked, evictor, function, lateness, "late", keyed=KEY))
    by_time = assigner.is_event_time()
    play(events, operator, SlowWindows(assign, by_time, assigner.merging, slowly, before, after, show, lateness))
