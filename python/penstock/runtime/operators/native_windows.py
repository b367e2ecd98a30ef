"""Windows in native code, on columns: what :mod:`.window` does with panes and with sessions of a fixed gap, by Flink's
own assigners and their own trigger, without an evictor, where what is in a window is one value by a compiled function
or a fold of a field, or all records, which a function of Python sees. :mod:`.native_triggers` has the others.

The native windows are in front of the state in Python: its tables, the sets of sessions, the queue of timers. These get
what has changed when somebody wants to see them (:meth:`NativeWindows.settle`). Where native code cannot vouch for a
record or a timer, they get everything, and Python goes on; later the native windows take the state over again, if it
fits (:class:`~penstock.runtime.state.python_turn.PythonTurn`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, Literal, Protocol

from penstock.runtime import native
from penstock.runtime.aggregators import ComparableAggregator, SumAggregator
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.outputs import CountingOutput
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.native_stage import TimedStage, emit, rows_of
from penstock.runtime.operators.window_contents import STATE
from penstock.runtime.state.timers import TimerQueue
from penstock.runtime.windows.assigners import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
    EventTimeSessionWindows,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowAssigner,
)
from penstock.runtime.windows.evictors import CountEvictor
from penstock.runtime.windows.functions import (
    AggregateWindow,
    ApplyWindow,
    CoGroupWindow,
    ProcessWindow,
    ReduceWindow,
    WindowFunction,
)
from penstock.runtime.windows.merging_windows import STATE as SESSIONS
from penstock.runtime.windows.time_window import GLOBAL_WINDOW, TimeWindow
from penstock.runtime.windows.triggers import (
    CountTrigger,
    EventTimeTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
    Trigger,
)

NO_TIME = -(1 << 63)
"""Where the global window, and those of a number of records, end in native code."""

_TUMBLING = TumblingEventTimeWindows, TumblingProcessingTimeWindows
_SLIDING = SlidingEventTimeWindows, SlidingProcessingTimeWindows
_FOLDS = SumAggregator, ComparableAggregator
_SESSIONS = EventTimeSessionWindows, ProcessingTimeSessionWindows
_NUMBERED = CountTumblingWindowAssigner, CountSlidingWindowAssigner


class Operator(Protocol):
    """The part of a window operator where results are shown to a function."""

    context: OperatorContext
    late_dropped: int
    emitted: int
    shares: bool
    """Whether results that Python gave may have parts of accumulators that live on, so that they stay in Python."""
    output: CountingOutput

    def show(self, key: Any, window: Any, shown: list[Any]) -> None:
        """Show a window to the function, and emit what it returns."""
        ...

    def forget(self, key: Any, window: Any) -> None:
        """Call the function's ``clear``."""
        ...


def native_windows(
    functions: ModuleType,
    keyed: KeyPartition,
    assigner: WindowAssigner[Any, Any],
    trigger: Trigger[Any, Any],
    function: WindowFunction,
    lateness: int,
    late_tag: str | None,
) -> Any:
    """Windows by key in native code, empty; None where they cannot do what these do."""
    key, spans = keyed.key_program(functions), spans_of(assigner)
    lateness = lateness if assigner.is_event_time() else 0
    if key is None or spans is None or kind_of_windows(assigner, trigger, None) != "usual":
        return None
    if not is_known(function):
        return None
    contents = contents_of(functions, function)
    if contents is None or (assigner.merging and isinstance(function, AggregateWindow) and len(contents[2]) < 4):
        return None
    clears, seeing = function.clearer() is not None, seeing_program(functions, function)
    shows = seeing is None and shows_windows(function)
    options = {"side": late_tag is not None, "shows": shows, "clears": clears, "seeing": seeing}
    return functions.KeyedWindows(key, *spans, *contents, lateness=lateness, **options)


def kind_of_windows(
    assigner: WindowAssigner[Any, Any], trigger: Trigger[Any, Any], evictor: Any
) -> Literal["usual", "counted", "triggered"]:
    """Which native code windows have, if they have some: by time with their own trigger, by count, or any others."""
    if assigner.constant is not None:
        return "triggered" if counted_by(trigger, evictor) is None else "counted"
    if isinstance(assigner, _NUMBERED):
        return "triggered"
    usual = EventTimeTrigger if assigner.is_event_time() else ProcessingTimeTrigger
    return "usual" if type(trigger) is usual and evictor is None else "triggered"


def is_known(function: WindowFunction) -> bool:
    """Whether native code knows what a function does with the contents of windows."""
    return why_unknown(function) is None


def why_unknown(function: WindowFunction) -> str | None:
    """Why windows stay in Python for what is in them, whatever becomes of the functions of the program; None for those
    that do not."""
    if not isinstance(function, (ReduceWindow, AggregateWindow, ApplyWindow, ProcessWindow, CoGroupWindow)):
        return "native code reduces, aggregates or shows all elements, and this function does something else"
    if isinstance(function, ReduceWindow) and isinstance(function.reducer, _FOLDS) and _fold(function.reducer) is None:
        return "native code adds up and compares fields by their positions only"
    return None


def _count_of(trigger: Trigger[Any, Any]) -> tuple[int, bool] | None:
    """With how many records a trigger fires, and whether it purges."""
    purges = type(trigger) is PurgingTrigger
    inner = trigger.nested_trigger if isinstance(trigger, PurgingTrigger) else trigger
    return (inner.window_size, purges) if type(inner) is CountTrigger and 0 < inner.window_size < 1 << 62 else None


def counted_by(trigger: Trigger[Any, Any], evictor: Any) -> tuple[int, bool, int | None] | None:
    """With how many records windows fire, whether they are emptied then, and how many records an evictor leaves; None
    where native code does not know trigger or evictor."""
    count = _count_of(trigger)
    if count is None:
        return None
    if evictor is None:
        return *count, None
    known = type(evictor) is CountEvictor and not evictor.after and 0 < evictor.count < 1 << 62
    return (*count, evictor.count) if known else None


def seeing_program(functions: ModuleType, function: WindowFunction) -> Any:
    """The function that sees windows as a native program; None where there is none."""
    then = function.then if isinstance(function, (ReduceWindow, AggregateWindow)) else function
    if not isinstance(then, (ApplyWindow, ProcessWindow, CoGroupWindow)) or then.clearer() is not None:
        return None
    return native.program(functions, then.program)


def shows_windows(function: WindowFunction) -> bool:
    """Whether a function sees windows, so that not their contents go on."""
    return not isinstance(function, (ReduceWindow, AggregateWindow)) or function.then is not None


def spans_of(assigner: WindowAssigner[Any, Any]) -> tuple[str, list[int]] | None:
    """The kind and the spans of an assigner that is one of Flink's, as it is."""
    spans: tuple[str, list[int]] | None = None
    known = *_TUMBLING, *_SLIDING, *_SESSIONS, *_NUMBERED, GlobalWindows
    if type(assigner) not in known:  # not one that derives from these
        return None
    if isinstance(assigner, GlobalWindows):
        spans = "global", []
    if isinstance(assigner, _TUMBLING):
        spans = "panes", [assigner.size, assigner.size, assigner.offset]
    elif isinstance(assigner, _SLIDING):
        spans = "panes", [assigner.size, assigner.slide, assigner.offset]
    elif isinstance(assigner, _SESSIONS):
        spans = "sessions", [assigner.session_gap]
    elif isinstance(assigner, _NUMBERED):
        spans = "counted", [assigner.window_size, getattr(assigner, "window_slide", assigner.window_size)]
    return None if spans is None or any(abs(span) >= 1 << 62 for span in spans[1]) else spans


def contents_of(functions: ModuleType, function: WindowFunction) -> tuple[str, int, list[Any]] | None:
    """The kind of contents, the position of their field, and their programs."""
    if isinstance(function, (ApplyWindow, ProcessWindow, CoGroupWindow)):
        return "elements", 0, []
    if isinstance(function, AggregateWindow):
        texts = function.programs
        programs = [native.program(functions, text) for text in texts or (None,)]
        return None if None in programs else ("aggregate", 0, programs)
    if not isinstance(function, ReduceWindow):
        return None
    reducer = function.reducer
    if isinstance(reducer, _FOLDS):
        fold = _fold(reducer)
        return None if fold is None else (*fold, [])
    combine = native.program(functions, function.program)
    return None if combine is None else ("reduce", 0, [combine])


def _fold(reducer: SumAggregator | ComparableAggregator) -> tuple[str, int] | None:
    """The kind of a reducer and the position of its field; None where native code does not know it."""
    position = reducer.position
    return None if type(position) is not int or position < 0 else (reducer.native_fold, position)


class NativeWindows(TimedStage):
    """The windows of an operator. ``windows`` is what :func:`native_windows` gives."""

    def __init__(
        self,
        functions: ModuleType,
        windows: Any,
        operator: Operator,
        function: WindowFunction,
        late_tag: str | None,
        event_time: bool,
    ) -> None:
        context = operator.context
        assert context.state is not None
        super().__init__(windows, context.state)
        self._functions, self._operator = functions, operator
        self._time, self._fail = context.time, context.fail
        self._shows = shows_windows(function) and seeing_program(functions, function) is None
        self._late_tag, self._event_time = late_tag, event_time
        self._all = not isinstance(function, (ReduceWindow, AggregateWindow))
        self.in_place: bool = windows.has_objects()

    @property
    def _queue(self) -> TimerQueue:
        return self._state.event_timers if self._event_time else self._state.processing_timers

    # --- records ---

    def run(self, batch: Any, start: int, end: int) -> tuple[Any, list[int], int, bool]:
        if not self._here and not self._take_over():
            return None, [0], start, True
        watermark, now = (self._time.watermark, None) if self._event_time else (NO_TIME, self._time.clock.now())
        taken = self._windows.run(batch, start, end, watermark, now)
        if now is not None:
            self._time.clock.add(self._time)
        done = self._hand_on(batch, *taken)
        self._keep_within(done[2] - start)
        return done

    def _hand_on(
        self, batch: Any, out: Any, late: list[int], dropped: int, done: int, in_doubt: bool
    ) -> tuple[Any, list[int], int, bool]:
        """Hand on the results of records."""
        self._operator.late_dropped += dropped
        if late:
            self._put_aside(batch.take(late))
        if out is not None and self._shows:
            self._show(out)
            out = None
        return out, [0 if out is None else len(out)], done, in_doubt

    def _put_aside(self, late: Any) -> None:
        assert self._late_tag is not None
        for value, time in zip(late.objects(), late.times, strict=True):
            self._operator.output.collect_side(self._late_tag, value, time)

    def _show(self, fired: Any) -> None:
        show, forget = self._operator.show, self._operator.forget
        try:
            for key, start, end, fires, clears, value in fired.objects():
                window = self.named(start, end)
                if fires:
                    show(key, window, value if self._all else [value])
                if clears:
                    forget(key, window)
        except Exception as error:
            raise self._fail(error) from error

    # --- time ---

    def covers(self, event_time: bool) -> bool:
        """Whether its timers are those that count."""
        return self._here and event_time == self._event_time

    def next_due(self, event_time: bool) -> int | None:
        """The time of the first timer."""
        return self._windows.next_due()

    def advance(self, limit: int, event_time: bool) -> bool:
        """Fire the timers up to the watermark, or to a time of the clock; whether none is left to Python."""
        if not self._here:
            return False
        more = True
        while more:
            out, more, in_doubt = self._advance(limit, event_time)
            if out is not None:
                self._emit(out)
            if in_doubt:
                self.flush()
                return False
        self._keep_within(0)
        return self._here

    def _advance(self, limit: int, event_time: bool) -> tuple[Any, bool, bool]:
        """Some results, whether more timers are due, and whether the next one is doubtful."""
        return self._windows.advance(limit)

    def _emit(self, out: Any) -> None:
        if self._shows:
            self._show(out)
        else:
            emit(self._operator, out)

    # --- state ---

    def _more(self) -> int:
        """How many more windows there are than entries in the tables, those of sessions included."""
        if not self._here:
            return 0
        return len(self._windows) - self._state.number_of(STATE) - self._state.number_of(SESSIONS)

    def _rows(self) -> tuple[list[Any], ...] | None:
        """The state in Python: sets of sessions, contents, timers, and contents that are changed in place."""
        other = self._state.processing_timers if self._event_time else self._state.event_timers
        if len(other) or self._operator.shares:
            return None
        tables, timers = self._state.windows_of(STATE), self._queue.as_heap()
        windows = [*tables, *(timer.namespace for timer in timers), *self._sessions()]
        if not all(type(window) is TimeWindow for window in windows):
            return None
        values = [(key, *window, value) for window, table in tables.items() for key, value in table.items()]
        values, contents = apart(values, self.in_place)
        waiting = [(timer.time, timer.slot, *timer.namespace) for timer in timers]
        batches = batches_of(self._functions, [self._listed(), values, waiting])
        return None if batches is None else (*batches, contents)

    def named(self, start: int, end: int) -> Any:
        """The window that has these ends in native code."""
        return TimeWindow(start, end) if end != NO_TIME else GLOBAL_WINDOW

    def _sessions(self) -> Iterator[Any]:
        """The windows that merge, and those under whose names their contents are."""
        sessions = self._state.find(SESSIONS) or {}
        return (window for live in sessions.values() for pair in live.items() for window in pair)

    def _listed(self) -> list[Any]:
        """The windows that merge, as rows."""
        sessions = self._state.find(SESSIONS) or {}
        return [(key, *window, *kept) for key, live in sessions.items() for window, kept in live.items()]

    def settle(self) -> None:
        """Bring the state in Python up to date. O(changes)."""
        if not self._here:
            return
        removed, values, unlisted, listed, whole, timers, contents, known = self._windows.news()
        named = self._settle_contents(removed, values, unlisted, listed, contents, known)
        self._settle_timers(self._queue, whole, timers, lambda start, end: named[start, end])

    def _settle_contents(
        self,
        removed: list[Any],
        values: list[Any],
        unlisted: list[Any],
        listed: list[Any],
        contents: Sequence[Any],
        known: list[bool],
    ) -> _Named:
        """Bring contents and the sets of sessions up to date; returns windows by their ends."""
        named = _Named(self)
        gone = [(named[start, end], key) for key, start, end in rows_of(removed)]
        here = with_contents(values, contents, self.in_place)
        entries = [((named[start, end], key), value) for key, start, end, value in here]
        self._state.replace(STATE, gone, entries, known)
        if unlisted or listed:
            self._list(unlisted, listed, named)
        return named

    def _list(self, unlisted: list[Any], listed: list[Any], named: _Named) -> None:
        """Bring the sets of sessions up to date."""
        state, over, new = self._state, list(rows_of(unlisted)), list(rows_of(listed))
        keys = list(dict.fromkeys(row[0] for row in (*over, *new)))
        before = state.values_if_any(SESSIONS, keys)
        sets = {key: dict(before.get(key, ())) for key in keys}
        for key, start, end in over:
            sets[key].pop(named[start, end], None)
        for key, start, end, kept_start, kept_end in new:
            sets[key][named[start, end]] = named[kept_start, kept_end]
        state.replace_all(SESSIONS, sets, before)


class _Named(dict[Any, Any]):
    """The windows of an operator by start and end, each made once."""

    def __init__(self, windows: NativeWindows) -> None:
        self._windows = windows

    def __missing__(self, times: tuple[int, int]) -> Any:
        window = self[times] = self._windows.named(*times)
        return window


def apart(values: list[Any], in_place: bool) -> tuple[list[Any], list[Any]]:
    """Rows of windows with their contents as rows for native code, and accumulators that it changes in place."""
    return ([(*row[:-1], None) for row in values], [row[-1] for row in values]) if in_place else (values, [])


def with_contents(values: list[Any], contents: Sequence[Any], in_place: bool) -> Iterable[Any]:
    """The rows of windows with their contents, as native code gives them: the other way round than :func:`apart`."""
    rows = rows_of(values)
    return ((*row[:-1], value) for row, value in zip(rows, contents, strict=True)) if in_place else rows


def batches_of(functions: ModuleType, rows: Iterable[list[Any]]) -> tuple[list[Any], ...] | None:
    """Each of some rows as a batch; None where one cannot be in a batch."""
    batches = [functions.Batch.of(some) for some in rows]
    return None if any(batch is None for batch in batches) else tuple([batch] for batch in batches)
