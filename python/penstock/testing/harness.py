"""One subtask of one operator under test, its output, and a snapshot of its state (Flink:
``AbstractStreamOperatorTestHarness``). The operator is taken from a real plan of the test's program, so it has the
name, key groups, pickled function and key type of a job. Records do not go through an exchange or a chain."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar

from penstock.common import Configuration, OutputTag, TypeInformation, checks
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.program.transformations import PhysicalTransformation
from penstock.datastream.streams.sink import DataStreamSink
from penstock.errors import InvalidProgramError, UnsupportedError
from penstock.job.deployment import deploy
from penstock.metrics.results import MetricValue
from penstock.runtime.buffers.codec import decode_value
from penstock.runtime.buffers.signals import LatencyMarker
from penstock.runtime.chain.context import OperatorContext
from penstock.runtime.chain.operator import StreamOperator
from penstock.runtime.chain.outputs import CountingOutput, Output
from penstock.runtime.config.tasks import JobConfig, OperatorConfig, VertexConfig
from penstock.runtime.io.sinks import BuiltinSink
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.keygroups import assign_to_key_group, subtask_of_key_group
from penstock.runtime.operators.async_wait import AsyncWait
from penstock.runtime.operators.batches import ByBatch
from penstock.runtime.operators.sink import StreamSink
from penstock.runtime.state.class_changes import Reading
from penstock.runtime.state.classes import ClassForm
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_time import Clock
from penstock.runtime.state.replay import Replay
from penstock.runtime.state.sections import Content, snapshot_of
from penstock.runtime.state.timers import TimerQueue
from penstock.runtime.usercode.failure import OperatorFailure


@dataclass(frozen=True)
class OperatorSnapshot:
    """State of one subtask at one moment (Flink: ``OperatorSubtaskState``): plain bytes, which can be pickled."""

    keyed_state: Content | None = field(repr=False)  # with timers, as in a state file
    operator_state: Mapping[tuple[str, str], bytes] = field(repr=False)  # by kind and name
    max_parallelism: int
    watermark: int  # of the operator, in milliseconds
    # fields of the classes in keyed state, so that a changed class is noticed
    classes: Mapping[str, ClassForm] = field(default_factory=dict[str, ClassForm], repr=False)

    def __repr__(self) -> str:
        keyed = () if self.keyed_state is None else self.keyed_state.sections
        size = sum(map(len, (*(section.data for section in keyed), *self.operator_state.values())))
        entries = 0 if self.keyed_state is None else self.keyed_state.entries
        return f"<OperatorSnapshot {entries} entries in {self.max_parallelism} key groups, {size} bytes>"


class Options(TypedDict, total=False):
    """Options of :class:`TestHarness`."""

    parallelism: int
    subtask: int
    max_parallelism: int
    configuration: Configuration | None


def _planned(
    program: Callable[..., Any], types: tuple[TypeInformation[Any] | None, ...], env: StreamExecutionEnvironment
) -> tuple[JobConfig, VertexConfig, OperatorConfig]:
    """The operator of a piece of a program that has one, with its vertex and job."""
    env.disable_operator_chaining()
    if env.is_batch:
        raise UnsupportedError(
            "A harness runs an operator in STREAMING mode, and the configuration asks for BATCH mode, where operators "
            "wait for the end of a key. Run the whole program instead: penstock.testing.run_program()."
        )
    result = program(*(env.from_collection([], type_info=type_info) for type_info in types))
    if not isinstance(result, (DataStream, DataStreamSink)):
        checks.refuse(
            f"The program of a harness returned {checks.shown(result)}. Return the stream or the sink that its "
            "operator makes: lambda stream: stream.map(f)."
        )
    names = [repr(transformation.name) for transformation in env.transformations]
    if len(names) != 1:
        operators = f"has {len(names)} operators ({', '.join(names)})" if names else "has no operator"
        raise InvalidProgramError(
            f"The program of a harness {operators}, and a harness runs one. Give each its own harness, or run the "
            "whole program on a few records: penstock.testing.run_program()."
        )
    only = env.transformations[0]
    operator = only.operator if isinstance(only, PhysicalTransformation) else None
    if isinstance(operator, StreamSink) and isinstance(operator.function, BuiltinSink):
        raise UnsupportedError(
            f"The program of a harness ends in a built-in sink, {names[0]}, which works through a job's commit. Leave "
            "it out, and look at what comes out of the harness."
        )
    deployment = deploy(env.to_pipeline(), loops=True)
    configs = ((vertex, config) for vertex in deployment.vertices for config in vertex.operators)
    return deployment.job, *next((vertex, config) for vertex, config in configs if config.node == only.id)


OUT = TypeVar("OUT")
E = TypeVar("E", covariant=True)
Self = TypeVar("Self", bound="TestHarness[Any]")


@dataclass(frozen=True)
class StreamRecord(Generic[E]):
    """A record that came out."""

    value: E  # the record
    timestamp: int | None  # in milliseconds, None if it has none


class Watermark(NamedTuple):
    """A watermark that came out."""

    timestamp: int  # in milliseconds


class TestHarness(Generic[OUT]):
    """The base of harnesses of any number of inputs.

    The operator opens with its first input, or by :meth:`open`; a harness is a context manager that closes it. The
    clock is at 0 until a test moves it. What a user function raises comes out as it is, not as the failure of a job.

    Args:
        program: the streams of the inputs in, the result of its one operator or sink function out.
        types: of the inputs' records; None for undeclared.
        parallelism: of the operator.
        subtask: which of its subtasks this is, from 0.
        max_parallelism: number of key groups.
        configuration: of the program; its job parameters, say.

    Raises:
        InvalidProgramError: the program has no operator, or more than one.
        UnsupportedError: its operator cannot be run alone: a built-in sink, or BATCH mode.
    """

    __test__ = False  # pytest takes classes whose names begin with Test for tests

    def __init__(
        self,
        program: Callable[..., Any],
        types: tuple[TypeInformation[Any] | None, ...],
        *,
        parallelism: int = 1,
        subtask: int = 0,
        max_parallelism: int = 128,
        configuration: Configuration | None = None,
    ) -> None:
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(parallelism).set_max_parallelism(max_parallelism)
        job, vertex, config = _planned(program, types, env)
        if not 0 <= checks.integer(subtask, type(self).__name__, "subtask") < vertex.parallelism:
            checks.illegal_argument(
                f"{type(self).__name__} was given subtask {subtask} of an operator that has {vertex.parallelism}. "
                "Subtasks are counted from 0."
            )
        self._now = 0
        self._clock = Clock(lambda: self._now)
        self._output = _Recorder()
        self._context = OperatorContext(job, vertex, config, subtask, 0, _send, clock=self._clock)
        self._operator: StreamOperator = decode_value(config.operator)
        self._phase = _NEW
        with self._users_own_errors():
            self._live = self._operator.build(self._context, CountingOutput(self._output))
            numbers = range(1, len(types) + 1) if len(types) > 1 else (0,)
            self._takers = {n: (self._live.input(n), self._live.watermark(n)) for n in numbers}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._context.vertex.task_name(self._context.subtask)}, {self._phase}>"

    def restore(self: Self, *snapshots: OperatorSnapshot) -> Self:
        """Begin with the state of snapshots, before the operator opens: the key groups of this subtask, and its part of
        operator state. Give the snapshots of all subtasks, in order, however many there were then.

        Raises:
            InvalidProgramError: the operator is open already, has no key, or has another max parallelism.
        """
        self._expect(_NEW, "restore()")
        state = self._context.state
        for snapshot in snapshots:
            hint = "Give what snapshot() of the harnesses gave, each as an argument: restore(*snapshots)."
            self._check_fits(checks.instance(snapshot, "restore", OperatorSnapshot, hint, ", which is not a snapshot"))
            if state is not None:
                self._restore(state, snapshot)
        parallelism = self._context.vertex.parallelism
        states = [snapshot.operator_state for snapshot in snapshots]
        flink = self._context.job.settings.flink
        self._context.operator_state.restore(states, parallelism, self._context.subtask, flink=flink)
        if state is not None and len(state.processing_timers):
            self._clock.add(self._context.time)
        return self

    def open(self: Self) -> Self:
        """Open the operator and its function."""
        self._expect(_NEW, "open()")
        self._phase = _OPEN
        with self._users_own_errors():
            self._live.open()
        return self

    def end_input(self) -> None:
        """End the input of the operator; send the last watermark before, by ``process_watermark(MAX_WATERMARK)``."""
        self._ready("end_input()")
        with self._users_own_errors():
            self._live.end_input()

    def close(self) -> None:
        """Close the operator and its function; nothing comes after it. A second call does nothing."""
        if self._phase == _CLOSED:
            return
        opened, self._phase = self._phase == _OPEN, _CLOSED
        try:
            with self._users_own_errors():
                if opened:
                    self._live.close()
        finally:
            self._live.dispose()

    def __enter__(self: Self) -> Self:
        return self.open() if self._phase == _NEW else self

    def __exit__(self, *_: object) -> None:
        self.close()

    def set_processing_time(self, time_ms: int) -> None:
        """Move the clock forward to a time in milliseconds, and fire the timers that are due, the earliest first."""
        self._ready("set_processing_time()")
        if checks.integer(time_ms, "set_processing_time", "time in milliseconds") < self._now:
            checks.refuse(f"set_processing_time({time_ms}): the clock is at {self._now} already, and goes forward.")
        self._now = time_ms
        with self._users_own_errors():
            self._clock.fire()

    def advance_processing_time(self, by_ms: int) -> None:
        """Move the clock by some milliseconds, and fire the timers that are due."""
        self.set_processing_time(self._now + checks.integer(by_ms, "advance_processing_time", "milliseconds"))

    def get_processing_time(self) -> int:
        """The time of the clock, in milliseconds."""
        return self._now

    def _process(self, number: int, call: str, value: Any, timestamp: int | None) -> None:
        self._ready(call)
        if timestamp is not None:
            checks.integer(timestamp, call.rstrip("()"), "timestamp in milliseconds")
        self._check_owner(number, call, value)
        with self._users_own_errors():
            self._takers[number][0](value, timestamp)

    def _watermark(self, number: int, call: str, timestamp: int) -> None:
        self._ready(call)
        checks.integer(timestamp, call.rstrip("()"), "timestamp in milliseconds")
        with self._users_own_errors():
            self._takers[number][1](timestamp)

    def get_output(self) -> list[StreamRecord[OUT] | Watermark]:
        """Records of the main output, and watermarks, in the order in which they came, since :meth:`clear_output`."""
        return list(self._output.elements)

    def extract_output_stream_records(self) -> list[StreamRecord[OUT]]:
        """The records of the main output with their timestamps."""
        return [element for element in self._output.elements if isinstance(element, StreamRecord)]

    def extract_output_values(self) -> list[OUT]:
        """The records of the main output."""
        return [record.value for record in self.extract_output_stream_records()]

    def get_side_output(self, output_tag: OutputTag[E]) -> list[StreamRecord[E]]:
        """The records of a side output; none if nothing was emitted to it."""
        if not isinstance(output_tag, OutputTag):  # pyright: ignore[reportUnnecessaryIsInstance]
            checks.refuse(f"get_side_output() was given {checks.shown(output_tag)}. Give the OutputTag.")
        return list(self._output.sides.get(output_tag.tag_id, ()))

    def get_watermarks(self) -> list[int]:
        """Times of the watermarks that came out."""
        return [element.timestamp for element in self._output.elements if isinstance(element, Watermark)]

    def clear_output(self) -> None:
        """Forget what has come out so far, side outputs too."""
        self._output.elements.clear()
        self._output.sides.clear()

    def snapshot(self) -> OperatorSnapshot:
        """All state of the subtask, timers too, but not of an operator that waits for asynchronous calls. Records that
        wait for a batch are worked off before, as at a checkpoint. O(state)."""
        self._ready("snapshot()")
        if isinstance(self._operator, AsyncWait):
            raise UnsupportedError(
                f"snapshot(): the operator {self._context.config.name!r} waits for asynchronous calls, and a snapshot "
                "does not hold the records that wait. Test the function it calls without one."
            )
        if isinstance(self._operator, ByBatch):
            with self._users_own_errors():
                self._live.end_step()
        state, context = self._context.state, self._context
        content = None if state is None else snapshot_of(state)
        operator_state, groups = context.operator_state.snapshot(), context.config.max_parallelism
        classes = {} if state is None else dict(state.noted.forms)
        return OperatorSnapshot(content, operator_state, groups, context.time.watermark, classes)

    def num_keyed_state_entries(self) -> int:
        """How many values there are in keyed state, over all states, keys and windows. O(state)."""
        state = self._context.state
        return 0 if state is None else sum(1 for _ in state.entries())

    def num_event_time_timers(self) -> int:
        return len(self.event_time_timers())

    def num_processing_time_timers(self) -> int:
        return len(self.processing_time_timers())

    def event_time_timers(self) -> list[tuple[int, Any]]:
        """(time, key) of the timers of event time that wait, the earliest first."""
        return [] if self._context.state is None else _waiting(self._context.state.event_timers)

    def processing_time_timers(self) -> list[tuple[int, Any]]:
        """(time, key) of the timers of the clock that wait, the earliest first."""
        return [] if self._context.state is None else _waiting(self._context.state.processing_timers)

    def get_metrics(self) -> Mapping[str, MetricValue]:
        """The metrics of the function so far, by identifier: a CounterValue, say, which has a ``count``."""
        with self._users_own_errors():
            return dict(self._context.metrics.values())

    def get_late_records_dropped(self) -> int:
        """How many records a window operator has dropped because they came too late."""
        return self._live.late_dropped

    def _ready(self, call: str) -> None:
        if self._phase == _NEW:
            self.open()
        self._expect(_OPEN, call)

    def _expect(self, phase: str, call: str) -> None:
        if self._phase != phase:
            advice = "Make another harness." if self._phase == _CLOSED else "Call it before anything else."
            raise InvalidProgramError(
                f"{call}: the harness of {self._context.config.name!r} is {self._phase}. {advice}",
                flink_class="java.lang.IllegalStateException",
            )

    def _restore(self, state: KeyedState, snapshot: OperatorSnapshot) -> None:
        """Take the own key groups of a snapshot, as a job takes them from a state file."""
        content, vertex, groups = snapshot.keyed_state, self._context.vertex, self._context.config.max_parallelism
        if content is None or content.key is None:
            return
        subtask, width = self._context.subtask, vertex.parallelism
        ours = [group for group in range(groups) if subtask_of_key_group(group, groups, width) == subtask]
        replay, reading = Replay(state, range(ours[0], ours[-1] + 1) if ours else range(0)), Reading(snapshot.classes)
        replay.apply(content, content.sections, reading, replay.expect(content.key[1], content.states, reading))
        replay.finish()

    def _check_fits(self, snapshot: OperatorSnapshot) -> None:
        config = self._context.config
        if snapshot.max_parallelism != config.max_parallelism:
            raise InvalidProgramError(
                f"restore(): the snapshot has {snapshot.max_parallelism} key groups, the operator {config.name!r} "
                f"{config.max_parallelism}. Give the harness max_parallelism={snapshot.max_parallelism}.",
                flink_class="org.apache.flink.util.StateMigrationException",
            )
        if snapshot.keyed_state is not None and self._context.state is None:
            raise InvalidProgramError(
                f"restore(): the snapshot has keyed state, and the input of {config.name!r} is not keyed. Call key_by "
                "before it, or restore the snapshot of another operator."
            )

    def _check_owner(self, number: int, call: str, value: Any) -> None:
        """A record whose key belongs to another subtask would never come here."""
        keyed, vertex = self._operator.key_of_input(number), self._context.vertex
        if keyed is None or vertex.parallelism == 1:
            return
        try:
            key = keyed.selector()(value)
            group = assign_to_key_group(key, self._context.config.max_parallelism, KeyHash(keyed.key_type))
        except Exception:  # the operator says it better
            return
        owner = subtask_of_key_group(group, self._context.config.max_parallelism, vertex.parallelism)
        if owner != self._context.subtask:
            raise InvalidProgramError(
                f"{call}: the key {checks.shown(key)} is in key group {group}, which subtask {owner} owns; this "
                f"harness is subtask {self._context.subtask} of {vertex.parallelism}. Give the record to the other.",
                flink_class="java.lang.IllegalArgumentException",
            )

    @contextmanager
    def _users_own_errors(self) -> Generator[None, None, None]:
        """The user's exception instead of the failure it would be in a job, with the cause it has of its own."""
        try:
            yield
            return
        except OperatorFailure as failure:
            users = failure.error
        context = users.__context__
        try:
            raise users
        finally:
            users.__context__ = context  # which raising it here has replaced


_NEW, _OPEN, _CLOSED = "not open yet", "open", "closed"


class _Recorder(Output):
    """Keeps what the operator emits."""

    __slots__ = ("elements", "sides")

    def __init__(self) -> None:
        self.elements: list[StreamRecord[Any] | Watermark] = []
        self.sides: dict[str, list[StreamRecord[Any]]] = {}

    def collect(self, value: Any, timestamp: int | None) -> None:
        self.elements.append(StreamRecord(value, timestamp))

    def collect_side(self, tag_id: str, value: Any, timestamp: int | None) -> None:
        self.sides.setdefault(tag_id, []).append(StreamRecord(value, timestamp))

    def watermark(self, watermark: int) -> None:
        self.elements.append(Watermark(watermark))

    def latency(self, marker: LatencyMarker) -> None:
        """Nobody sends one."""


def _send(kind: int, data: bytes) -> None:
    raise AssertionError(f"The operator of a harness has sent a row of kind {kind} to the driver of a job")


def _waiting(queue: TimerQueue) -> list[tuple[int, Any]]:
    return [(timer.time, timer.key) for timer in sorted(queue, key=lambda timer: timer.time)]
