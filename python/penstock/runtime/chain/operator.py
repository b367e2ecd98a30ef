"""The contract of operators.

A :class:`StreamOperator` is what a program builds: plain frozen data around a user function, pickled once. In each
subtask ``build`` makes the :class:`LiveOperator`. The task calls, in this order::

    build(context, output)      tail first, so that ``output`` leads to finished operators
    input(n), watermark(n)      what takes the records, and the watermarks, of input n (0: the only one)
    open()                      tail first; user functions open here
    …records and watermarks…    the last watermark is MAX_WATERMARK
    end_key()                   in BATCH mode, at the head, after all records of a key
    end_step()                  in a job that runs in steps, after each of them, head first, as end_input()
    end_input(), close()        head first; what these emit still reaches the operators below
    dispose()                   always, also after a failure: user functions close here if they have not

An operator that does not emit exactly one record per record counts what it emits, in ``emitted``. For speed,
:meth:`LiveOperator.fragment` gives the same work as ``input`` as a :class:`Fragment`, statements for a generated
function (:mod:`.fusion`); without it the operator is called.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from penstock.metrics.group import MetricGroup
from penstock.metrics.results import SubtaskMetrics
from penstock.runtime.buffers.signals import Advance, LatencyMarker
from penstock.runtime.chain.beside import Beside
from penstock.runtime.chain.context import OperatorContext, RuntimeContext
from penstock.runtime.chain.outputs import Collector, CountingOutput, Feed
from penstock.runtime.keys.expressions import again, expression_of
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_time import BatchTime
from penstock.runtime.usercode.functions import lifecycle

S = TypeVar("S", bound="StreamOperator")
Take = Callable[[list[Any], "Iterator[int | None] | None", "list[Any] | None"], None]
Explain = Callable[[Mapping[str, Any], Exception], Exception]
"""A better error, if there is one; given the values of the fragment's names: ``v``, ``t``, ``o`` and ``r`` as far as
they are set."""


@dataclass(frozen=True)
class Fragment:
    """An operator's work on one record, as statements.

    In its lines ``{v}`` is the record that comes in, ``{t}`` its timestamp, ``{o}`` the record that goes out, ``{s}``
    the timestamp of that, ``{r}`` a name of the fragment's own, ``{k}`` in ``known`` the record's key, and every key of
    ``bindings`` is the object behind it. Indentation is one space. The statements of the next operators follow the last
    line, ``depth`` spaces deeper than the first.
    """

    lines: tuple[str, ...]
    bindings: Mapping[str, Any] = field(default_factory=dict)
    out: str = "{o}"  # what goes out, or {v}
    depth: int = 0
    counted: bool = False  # whether `emitted` counts what goes out; otherwise each record in is one out
    loops: int = 0  # how many `for` there are around what follows
    explain: Explain | None = None  # improves what the user's function has raised
    before: int = 0  # how many of the statements, the first ones, find the record's key
    of_key: Explain | None = None  # `explain` for these
    known: tuple[str, ...] = ()  # what stands in their place where keys are known, if that is possible
    stamps: bool = False  # whether the statements set {s}, the timestamp of what goes out
    around: Around | None = None

    def after(
        self, lines: tuple[str, ...], bindings: Mapping[str, Any], of_key: Explain, known: tuple[str, ...] = ()
    ) -> Fragment:
        lines, both = (*lines, *self.lines), {**bindings, **self.bindings}
        return replace(
            self, lines=lines, bindings=both, before=len(lines) - len(self.lines), of_key=of_key, known=known
        )


class Around(NamedTuple):
    """Statements of a fragment around the records. ``names`` are variables in them, one for each
    operator of a function. Where :data:`FLUSH` is in ``after``, all that was gathered is handed over."""

    names: tuple[str, ...]
    begin: tuple[str, ...]  # before the first record
    after: tuple[str, ...]  # after each record, when it has gone all the way down
    end: tuple[str, ...]  # after the last one
    explain: Explain  # improves what ``after`` has raised


FLUSH = "flush"


@dataclass(frozen=True)
class Leaf:
    """Where records leave a generated function for good: a record writer, or a sink of Penstock's own."""

    write: Callable[[Any, int | None], None]
    batch: Feed  # takes many of one timestamp, all of them immutable, with the same result
    immutable: bool  # whether records are, by their declared type; otherwise each is looked at
    taker: Any  # what has `room`, the number of records that may be gathered for the next batch
    timed: Callable[[list[Any], list[int | None]], None] | None = None
    """As ``batch``, with a timestamp for each; None where it takes those one by one."""


@dataclass(frozen=True)
class Batch:
    """An operator's work on many records at once, up to emitting the results. ``run`` takes records, their keys if
    these are known, and a list for the results, one per record; when it raises, the list has the results before.
    ``columns`` takes a buffer of typed columns and returns the results. Where they cannot, they return False and
    None, and have done nothing."""

    run: Callable[[list[Any], list[Any] | None, list[Any]], bool]
    columns: Callable[[bytes], list[Any] | None] = lambda data: None


class KeyedStage(Protocol):
    """An operator's work with keyed state in native code. Its tables are in front of those in Python: a key in them is
    unknown to the others, or has an old value there. ``KeyedState.caches`` has what writes them back."""

    def run(self, batch: Any, start: int, end: int) -> tuple[Any, list[int], int, bool]:
        """Take records of a batch, as a :data:`~.segments.Run` does."""
        ...

    def flush(self) -> None:
        """Write back all that has changed, and forget it: the operator's Python code takes the next record. A stage
        may have ``leave(most)``, which says how many of the records after it that code is to take too."""
        ...


@dataclass(frozen=True, eq=False)
class StreamOperator:
    """Base of all operators."""

    keeps_output: ClassVar[bool] = False
    """Whether its state may hold the objects it emits; then operators chained to it get copies."""
    in_java: ClassVar[bool] = False
    """Whether PyFlink runs it in Java, where all that it emits is as its declared type has it."""
    toggles: ClassVar[bool] = False
    """Whether it may declare the task idle between two records."""
    keeps_records: ClassVar[bool] = False
    """Whether it has records, reductions or accumulators in its state, which follow their types."""

    keyed: KeyPartition | None = field(default=None, kw_only=True)
    field_defaults: Mapping[str, Any] | None = field(default=None, kw_only=True)
    """Of fields that the records in its state have gained, by path."""

    def keyed_by(self: S, partition: KeyPartition) -> S:
        return replace(self, keyed=partition)

    def key_of_input(self, number: int) -> KeyPartition | None:
        """How an input (0, or 1 and 2) is keyed."""
        return self.keyed

    @property
    def hands_over(self) -> str:
        """The kind of its :meth:`LiveOperator.volatile` data, as a text: data of another kind, left by an
        earlier run of the program, is forgotten. Of a source it says, between slashes, what it reads."""
        return type(self).__name__

    @property
    def keeps_state(self) -> bool:
        """Whether it has state, or a function that may ask for some: behind a key."""
        return any(self.key_of_input(number) is not None for number in range(3))

    def prepare(self: S, parallelism: int) -> S:
        """Called on the driver before a job starts: the operator as it travels, with paths made absolute.
        PenstockError if it cannot work like this; a file is missing, say."""
        return self

    def build(self, context: OperatorContext, output: CountingOutput) -> LiveOperator:
        raise NotImplementedError


class LiveOperator:
    """An operator in one subtask. The user function is opened and closed here."""

    counts_output: ClassVar[bool] = True  # False leaves numRecordsOut at 0, as some of Flink's operators do
    toggling: bool = False  # whether it may declare the task idle
    gathers: bool = False  # whether its taker keeps what it takes, and emits at watermarks
    late_dropped = 0
    emitted: int | None = None  # to the main output; None for as many as have come in

    def __init__(
        self, context: OperatorContext, output: CountingOutput, function: Any = None, keyed: KeyPartition | None = None
    ) -> None:
        self.context, self.output, self.function, self.keyed = context, output, function, keyed
        self._close = lifecycle(function, "close")
        self._opened = False
        self.beside = Beside(context)
        self.beside.add(keyed, "before")
        if keyed is not None:
            context.keyed_state(keyed)

    def input(self, number: int) -> Collector:
        raise NotImplementedError

    def watermark(self, number: int) -> Advance:
        return self.advance

    def advance(self, watermark: int) -> None:
        """The operator's watermark has moved: fire timers, then tell the operators below."""
        self.context.time.advance(watermark)
        self.output.watermark(watermark)

    def fragment(self, number: int = 0) -> Fragment | Leaf | None:
        """The work of ``input(0)`` with a record, as statements; None if there is no such form."""
        return None

    def batch(self, functions: ModuleType) -> Batch | None:
        """The work of ``input(0)`` with many records at once, up to emitting the results; None if there is no such
        form. It runs no code of the user but the key selector."""
        return None

    def stage(self, functions: ModuleType) -> Any:
        """The work of ``input(0)`` as a stage of a native pipeline: its kind and its program; None if there is none.
        A stage runs no code of the user, and what it emits depends on the record alone."""
        return None

    @property
    def waits_for_open(self) -> bool:
        """Whether :meth:`stage` is another one when the user's function is open."""
        return False

    def columns(self, number: int) -> Any:
        """A :class:`~.segments.Columnar` that takes records of an input and hands columns on, or a
        :class:`~.segments.Taker`; None where only objects can go, or it would save nothing."""
        return None

    def keyed_stage(self, functions: ModuleType, number: int) -> KeyedStage | None:
        """The work of an input of the head on columns, where it has keyed state; None if there is no such form."""
        return None

    def taker(self, number: int) -> Take | None:
        """The work of an input with many records at once, by a call with the records, their timestamps (an iterator
        that may have more; None when no record has one), and their keys, if these are known. None if there is no such
        form. What can be observed is as with ``input``. Called once at most, and if so instead of it."""
        return None

    def latency(self, marker: LatencyMarker) -> None:
        """A latency marker has come: note how long it took, and let it go on. It bypasses the user's functions."""
        taken = self.context.clock.now() - marker.time
        MetricGroup(self.context.metrics).distribution(f"latency.source_id.{marker.operator_id}").update(taken)
        self.output.latency(marker)

    def end_key(self) -> None:
        """All records of the current key have come (BATCH mode): fire its timers, and forget it."""
        time, state = self.context.time, self.context.state
        assert isinstance(time, BatchTime)
        time.end_key()
        if state is not None:
            state.forget()

    def measured(self, records_in: int, records_out: int) -> SubtaskMetrics:
        """The metrics of the operator after its last record, from the counts of records in and out."""
        context = self.context
        return SubtaskMetrics(
            context.config.operator_id,
            context.config.name,
            records_in,
            records_out if self.counts_output else 0,
            self.late_dropped,
            context.time.watermark,
            self.output.current_watermark,
            context.call(context.metrics.values),
        )

    def open(self) -> None:
        self.beside.open()
        opener = lifecycle(self.function, "open")
        self._opened = True
        if opener is not None:
            with self._losing_writes():
                self.context.call(opener, self._function_context())

    @contextlib.contextmanager
    def _losing_writes(self) -> Generator[None, None, None]:
        """Within it, what is written into keyed state without a key is lost, if the program has PyFlink's ways."""
        state = self.context.state
        if state is not None and state.slot is None and self.context.job.settings.pyflink:
            state.loses = set()
        try:
            yield
        finally:
            if state is not None:
                state.loses = None

    def _function_context(self) -> RuntimeContext:
        return RuntimeContext(self.context)

    def end_input(self) -> None: ...

    def end_round(self) -> None:
        """A round of a loop ends: nothing that came in it may wait any more."""

    def end_step(self) -> None:
        """A step ends: nothing may be under way any more, and what is kept is in state, or :meth:`volatile`."""

    @property
    def ticks(self) -> bool:
        """Whether something here waits for time to pass, apart from timers."""
        return False

    def volatile(self) -> Any:
        """The data of the operator beside its state, plain: the next step begins with it, wherever it runs.
        A savepoint does not have it."""
        return self.context.time.watermark, self.output.current_watermark

    def resume(self, volatile: Any) -> None:
        """Know what another one knew at the end of a step. Called before :meth:`open`."""
        self.context.time.watermark, self.output.current_watermark = volatile

    def close(self) -> None:
        if self._opened and self._close is not None:
            self._opened = False
            self.context.call(self._close)
        self.beside.close()

    def dispose(self) -> None:
        """Close the user's functions if that has not happened; a second failure is not raised."""
        with contextlib.suppress(Exception):
            self.close()
        self.beside.dispose()

    def with_key(self, process: Collector, *, always: bool = False) -> Collector:
        """``process`` with the record's key made current before, if this operator is keyed, and its function has an
        ``open``, through which alone it could have got hold of state (``always``: also without)."""
        if self.keyed is None or not (always or lifecycle(self.function, "open")):
            return process
        return self.keyed_input(process, self.keyed)

    def with_key_line(self, fragment: Fragment, *, always: bool = False) -> Fragment:
        keyed = self.keyed
        if keyed is None or not (always or lifecycle(self.function, "open")):
            return fragment
        return self.after_key(fragment, keyed)

    def after_key(self, fragment: Fragment, keyed: KeyPartition) -> Fragment:
        """``fragment`` with what :meth:`keyed_input` does before, as statements."""
        state, select = self.context.keyed_state(keyed), keyed.selector()
        call, bindings, explain = calling(select, "key", "{v}")
        bindings |= {"state": state, "enter": state.enter}
        of_key: Explain = lambda names, error: keyed.failure(explain(names, error))  # noqa: E731
        lines = f"{{r}} = {call}", *_key_lines("{r}", state)
        return fragment.after(lines, bindings, of_key, _key_lines("{k}", state))

    def keyed_input(self, process: Collector, keyed: KeyPartition) -> Collector:
        enter, key_of, fail = self.context.keyed_state(keyed).enter, keyed.selector(), self.context.fail

        def process_keyed(value: Any, timestamp: int | None) -> None:
            try:
                enter(key_of(value))
            except Exception as error:
                raise fail(keyed.failure(error)) from error
            process(value, timestamp)

        return process_keyed


def calling(function: Callable[..., Any], name: str, *arguments: str) -> tuple[str, dict[str, Any], Explain]:
    """A call of a function in a fragment, whose first argument is the record: its text, what is bound in it under a
    name, and what explains its errors. A function that is one expression of the record is written out."""
    expression, rest = expression_of(function, len(arguments)), [None] * (len(arguments) - 1)
    if expression is None or any(map(expression.asks, range(1, len(arguments)))):
        return f"{{{name}}}({', '.join(arguments)})", {name: function}, lambda _, error: error
    return expression.of(*arguments), {}, lambda names, error: again(function, error, names["v"], *rest)


def _key_lines(key: str, state: KeyedState) -> tuple[str, ...]:
    """Makes a key current: ``enter``, without the call for the keys that are their own canonical forms."""
    usual = f"type({key}) is str"
    if state.has_own_forms:
        usual = f"{key} is not None" if state.key_hash.identity else f"type({key}) is str or type({key}) is int"
    elif state.key_hash.canonical is tuple:  # of fields that are their own forms
        usual = f"type({key}) is tuple"
    return f"if {usual}:", f" {{state}}.current_key = {{state}}.slot = {key}", "else:", f" {{enter}}({key})"
