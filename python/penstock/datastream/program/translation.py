"""From transformations to a StreamGraph: Flink's ``StreamGraphGenerator``.

Registered transformations are translated in order of creation, each after its inputs, the first input completely before
the second. That order is visible: it decides edge orders, the order of sources, and with them vertex orders of the job
graph. Virtual transformations (partition, union, side output) become virtual nodes, which the planner resolves when an
edge is added.

An explicit stack stands for Flink's recursion, so neither long chains nor long runs of partitioners can overflow
anything. Cost: O(transformations + edges) time and space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from penstock.common import RuntimeExecutionMode, checks
from penstock.common.left_open import LeftOpen
from penstock.datastream.program.boundedness import mode_of
from penstock.datastream.program.caching import CacheTransformation
from penstock.datastream.program.call_site import Mark
from penstock.datastream.program.program import Program
from penstock.datastream.program.transformations import (
    FeedbackTransformation,
    OneInputTransformation,
    PartitionTransformation,
    PhysicalTransformation,
    SideOutputTransformation,
    SinkTransformation,
    SourceTransformation,
    Transformation,
    TwoInputTransformation,
    UnionTransformation,
    inputs_of,
)
from penstock.datastream.slot_sharing_group import SlotSharingGroup

DEFAULT_GROUP = "default"
_MIXED = object()
"""Slot sharing group of inputs that do not agree; whoever inherits it is in the default group."""


@dataclass(slots=True, eq=False)
class _Head:
    """An iteration's head: it has no group while the loop's body is translated."""

    group: str | None = None


class _Feedback(NamedTuple):
    """A step of the stack: the tail's edge from one feedback stream, or (without stream) the end of a loop."""

    loop: FeedbackTransformation
    stream: Transformation | None


@dataclass
class Translation:
    """The result: the graph, and what runs in its nodes.

    Attributes:
        stream_graph: a ``penstock.plan.StreamGraph``.
        operators: runtime operator by node id.
        partitioners: key or custom partitioning by id of the virtual node that asked for it.
        types: declared type or None by node id (of a sink: of what it takes in), and of side outputs by (node id, tag
            id).
        names: operator names by node id.
        descriptions: of the operators that have one, by node id.
        marks: where the program made the operators, by node id.
        caches: the cached streams that the job computes.
        mode: in which the program runs: STREAMING or BATCH.
        left_open: the nodes whose parallelism the program leaves to its environment.
    """

    stream_graph: Any = None
    operators: dict[int, Any] = field(default_factory=dict[int, Any])
    partitioners: dict[int, Any] = field(default_factory=dict[int, Any])
    types: dict[Any, Any] = field(default_factory=dict[Any, Any])
    names: dict[int, str] = field(default_factory=dict[int, str])
    descriptions: dict[int, str] = field(default_factory=dict[int, str])
    marks: dict[int, Mark] = field(default_factory=dict[int, Mark])
    caches: list[CacheTransformation] = field(default_factory=list[CacheTransformation])
    mode: RuntimeExecutionMode = RuntimeExecutionMode.STREAMING
    left_open: set[int] = field(default_factory=set[int])


def translate(
    program: Program, job_name: str, only: Transformation | None = None, offered: Callable[[int], int] | None = None
) -> Translation:
    """Translate the registered transformations of a program.

    Args:
        program: is only read.
        job_name: name of the job.
        only: a sink beside them, which alone, with what leads to it, shall be translated; then no cached stream is
            computed for later jobs.
        offered: the parallelism of a node for which the program says none; None: its environment's.

    Raises:
        InvalidProgramError: nothing is registered, or BATCH mode with a source that never ends (Flink:
            IllegalStateException).
        PlanError: what the planner refuses.
    """
    from penstock.plan import StreamGraphBuilder

    roots = program.transformations if only is None else _leading_to(only, program.transformations)
    if not roots:
        checks.refuse(
            "The program has no operators, so there is nothing to execute. Add an operator or a sink, such as "
            "stream.print(), before execute(); after an execute() the next one needs operators of its own. "
            "Sources alone do not count.",
            checks.ILLEGAL_STATE,
        )
    mode = mode_of(program, roots)
    generator = _Generator(program, StreamGraphBuilder(job_name=job_name, **program.plan_settings()), mode)
    generator.notes = only is None
    generator.offered = offered
    for transformation in roots:
        generator.run(transformation)
    generator.result.stream_graph = generator.builder.build()
    return generator.result


def _leading_to(sink: Transformation, registered: Iterable[Transformation]) -> list[Transformation]:
    """Those of a program's transformations that a sink needs, in their order, and the sink. O(transformations)."""
    needed: set[int] = set()
    pending = [sink]
    while pending:
        current = pending.pop()
        if current.id not in needed:
            needed.add(current.id)
            pending.extend(inputs_of(current))
            pending.extend(current.feedback if isinstance(current, FeedbackTransformation) else ())
    return [*(each for each in registered if each.id in needed), sink]


class _Generator:
    """State of one translation.

    ``groups`` is both the set of what is done and the slot sharing group that a consumer would inherit: a name, or a
    tuple with an iteration's head in it, whose group is known when its loop is done. ``loops`` holds for each loop its
    head's node, the head's group, and the groups of its feedback streams.
    """

    def __init__(self, program: Program, builder: Any, mode: RuntimeExecutionMode) -> None:
        self.builder = builder
        self.result = Translation(mode=mode)
        self.groups: dict[int, Any] = {}
        self.loops: dict[int, tuple[int, _Head, list[Any]]] = {}
        self.iteration_nodes = 0
        self.notes = True
        self.offered: Callable[[int], int] | None = None
        self.settings = program.settings
        self.is_batch = mode.batch
        self.slots = dict(program.slot_sharing_groups)

    def run(self, root: Transformation) -> None:
        """Translate ``root`` after everything it needs."""
        done = self.groups
        stack: list[Transformation | _Feedback] = [root]
        while stack:
            current = stack[-1]
            if isinstance(current, _Feedback):
                stack.pop()
                self.feedback(current.loop, current.stream)
                continue
            if current.id in done:
                stack.pop()
                continue
            missing = [needed for needed in self.needed(current) if needed.id not in done]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            if isinstance(current, FeedbackTransformation):
                stack.extend(self.open_loop(current))
            else:
                self.emit(current)

    def needed(self, current: Transformation) -> Iterable[Transformation]:
        """What a transformation reads in this job; a cached stream that is known reads nothing."""
        return () if isinstance(current, CacheTransformation) and self.knows(current) else inputs_of(current)

    def knows(self, cache: CacheTransformation) -> bool:
        """Whether the job begins with what an earlier one has computed."""
        return self.is_batch and cache.parts is not None

    def emit(self, current: Transformation) -> None:
        """Add one transformation whose inputs are there."""
        if isinstance(current, OneInputTransformation | SinkTransformation):
            self.node(current, (current.input,))
            self.builder.add_edge(current.input.id, current.id, 0)
        elif isinstance(current, PartitionTransformation):
            self.builder.add_virtual_partition(current.id, current.input.id, current.partitioner)
            if current.spec is not None:
                self.result.partitioners[current.id] = current.spec
            self.groups[current.id] = self.groups[current.input.id]
        elif isinstance(current, SourceTransformation):
            self.node(current, ())
        elif isinstance(current, TwoInputTransformation):
            self.node(current, (current.input1, current.input2))
            self.builder.add_edge(current.input1.id, current.id, 1)
            self.builder.add_edge(current.input2.id, current.id, 2)
        elif isinstance(current, UnionTransformation):
            self.builder.add_union(current.id, [each.id for each in current.inputs])
            self.groups[current.id] = self.common_group(current.inputs)
        elif isinstance(current, SideOutputTransformation):
            self.builder.add_virtual_side_output(current.id, current.input.id, current.tag.tag_id)
            self.result.types[current.input.id, current.tag.tag_id] = current.output_type
            self.groups[current.id] = self.groups[current.input.id]
        elif isinstance(current, CacheTransformation):
            self.cached(current)
        else:
            raise AssertionError(f"no translation for {type(current).__name__}")

    def cached(self, cache: CacheTransformation) -> None:
        """Add a cached stream: as a source, or with what notes its records."""
        if self.knows(cache):
            self.node(cache.source(), ())
            return
        self.builder.add_union(cache.id, [cache.input.id])
        self.groups[cache.id] = self.groups[cache.input.id]
        if self.is_batch and self.notes:
            self.result.caches.append(cache)
            for noting in cache.note(self.settings.parallelism):
                self.emit(noting)

    def open_loop(self, loop: FeedbackTransformation) -> list[Transformation | _Feedback]:
        """Add head and tail of a loop; what is left to do for it, as a piece of the stack.

        The loop counts as done from here on, so that its body, on the way to a feedback stream, finds it.
        """
        if not loop.feedback and loop.input is not None:
            checks.refuse(
                f"The iteration behind {loop.input.name!r} is used but has no feedback: its records would go round "
                "nowhere. Close it with close_with(stream), or use map() instead of iterate().",
                checks.ILLEGAL_STATE,
            )
        head = self.iteration_nodes - 1
        self.iteration_nodes -= 2
        resources = {} if loop.extras is None else _resources(loop.extras)
        self.builder.add_iteration(
            loop.id,
            head,
            head - 1,
            parallelism=self.parallelism(loop, head, head - 1),
            max_parallelism=loop.max_parallelism if loop.max_parallelism > 0 else self.settings.max_parallelism,
            timeout=loop.max_wait_time,
            **resources,
        )
        self.loops[loop.id] = (head, _Head(), [])
        before = inputs_of(loop)
        self.builder.add_union(loop.id, [*(each.id for each in before), head])
        groups = [part for each in before for part in _parts(self.groups[each.id])]
        self.groups[loop.id] = (*groups, self.loops[loop.id][1])
        steps: list[Transformation | _Feedback] = [_Feedback(loop, None)]
        for stream in reversed(loop.feedback):
            steps += [_Feedback(loop, stream), stream]
        return steps

    def feedback(self, loop: FeedbackTransformation, stream: Transformation | None) -> None:
        """Lead one feedback stream into the tail; or give head and tail the group of them all."""
        node, head, groups = self.loops[loop.id]
        if stream is not None:
            self.builder.add_edge(stream.id, node - 1, 0)
            groups.append(self.groups[stream.id])
            return
        head.group = _agreed(_common(groups))
        self.builder.set_slot_sharing_group(node, head.group)
        self.builder.set_slot_sharing_group(node - 1, head.group)

    def node(self, current: PhysicalTransformation, inputs: Iterable[Transformation]) -> None:
        """Add a real node with its settings resolved against the program's."""
        if not self.settings.generated_uids:
            _check_uid(current)
        group = current.slot_sharing_group
        if group is None:
            group = self.inherited_group(inputs)
        settings, extras = self.settings, current.extras
        if extras is not None and extras.group is not None:
            self.check_group(extras.group)
        name = current.prefix + current.name
        self.builder.add_node(
            current.id,
            name,
            current.kind,
            uid=current.uid,
            user_hash=current.user_hash,
            slot_sharing_group=group,
            parallelism=self.parallelism(current, current.id),
            max_parallelism=current.max_parallelism if current.max_parallelism > 0 else settings.max_parallelism,
            chaining_strategy=self.chaining_strategy(current),
            yielding=current.yielding,
            buffer_timeout=current.buffer_timeout if current.buffer_timeout >= 0 else settings.buffer_timeout,
            task=current.task,
            **({} if extras is None else _extra_settings(extras)),
        )
        self.groups[current.id] = group
        result = self.result
        result.operators[current.id] = current.operator
        result.types[current.id] = current.output_type
        result.names[current.id] = name
        result.marks[current.id] = current.made_at
        if extras is not None and extras.description is not None:
            result.descriptions[current.id] = extras.description

    def parallelism(self, current: Transformation, *nodes: int) -> int:
        """Of the nodes that a transformation becomes: as the program says, or as its environment, or as is offered."""
        said = current.parallelism
        if said != -1 and not isinstance(said, LeftOpen):
            return said
        self.result.left_open.update(nodes)
        own = self.settings.parallelism if said == -1 else said
        return own if self.offered is None else min(map(self.offered, nodes))

    def check_group(self, group: SlotSharingGroup) -> None:
        """A group may say what it needs once, or several times the same."""
        if not group.needs:
            return
        known = self.slots.get(group.name)
        if known is not None and known.needs and known != group:
            checks.illegal_argument(
                f"The slot sharing group {group.name!r} has needs of two kinds: {known} and {group}. Use one "
                "SlotSharingGroup object, or another name."
            )
        self.slots[group.name] = group

    def chaining_strategy(self, current: PhysicalTransformation) -> str:
        """Whether a node may be chained. In BATCH mode one with a key begins a chain, as its input has to be sorted
        (Flink: BatchExecutionUtils)."""
        strategy = current.chaining_strategy
        keyed = self.is_batch and getattr(current.operator, "keyed", None) is not None
        return "HEAD" if keyed and strategy == "ALWAYS" else strategy

    def inherited_group(self, inputs: Iterable[Transformation]) -> str:
        """The group of all inputs when it is one, else the default group."""
        group = self.common_group(inputs)
        return group if isinstance(group, str) else _agreed(group)

    def common_group(self, inputs: Iterable[Transformation]) -> Any:
        groups = [self.groups[each.id] for each in inputs]
        return groups[0] if len(groups) == 1 else _common(groups)


def _parts(group: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", group) if isinstance(group, tuple) else (group,)


def _common(groups: list[Any]) -> Any:
    """The group of several branches in order: one name, ``_MIXED``, or a tuple when heads of loops are among them."""
    parts: list[Any] = []
    names: set[Any] = set()
    for part in (part for group in groups for part in _parts(group)):
        if not isinstance(part, _Head):
            names.add(part)
            if len(names) > 1 or part is _MIXED:
                return _MIXED
        if not parts or parts[-1] != part:
            parts.append(part)
    return parts[0] if len(parts) == 1 else tuple(parts)


def _agreed(group: Any) -> str:
    """The name that a consumer of these branches inherits now: the first one, unless a later branch differs."""
    agreed = None
    for part in _parts(group):
        name = part.group if isinstance(part, _Head) else part
        if agreed is None:
            agreed = name
        elif agreed != name:
            return DEFAULT_GROUP
    return DEFAULT_GROUP if agreed is None or agreed is _MIXED else agreed


def _check_uid(current: PhysicalTransformation) -> None:
    if current.uid is None and current.user_hash is None:
        checks.refuse(
            f"The operator {current.name!r} has no uid, and generated ones are disabled. Give it one: uid('…'), or "
            "call get_config().enable_auto_generated_uids().",
            checks.ILLEGAL_STATE,
        )


def _extra_settings(extras: Any) -> dict[str, Any]:
    return {
        "co_location_group": extras.co_location_group,
        "managed_memory_weight": extras.managed_memory_weight,
        **_resources(extras),
    }


def _resources(extras: Any) -> dict[str, Any]:
    if extras.min_resources is None:
        return {}
    return {
        "min_resources": extras.min_resources.as_tuple(),
        "preferred_resources": extras.preferred_resources.as_tuple(),
    }
