"""Translates a program into the planner's StreamGraph, and chooses its runtime mode. Source of the semantics:
``StreamGraphGenerator`` (Flink 1.11; 1.20 for the mode)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from penstock.common import RuntimeExecutionMode, checks
from penstock.common.checks import LeftOpen
from penstock.datastream.program.cached_streams import CacheTransformation
from penstock.datastream.program.call_site import Mark
from penstock.datastream.program.program import Program
from penstock.datastream.program.transformations import (
    Extras,
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
    leading_to,
)
from penstock.datastream.slot_sharing_group import SlotSharingGroup


def mode_of(program: Program, roots: Iterable[Transformation]) -> RuntimeExecutionMode:
    """STREAMING or BATCH: the setting, or, under AUTOMATIC, BATCH if every source is bounded. O(transformations)."""
    mode = program.settings.runtime_mode
    if mode is RuntimeExecutionMode.STREAMING:
        return mode
    for node in leading_to(roots):
        if isinstance(node, SourceTransformation) and getattr(node.operator, "unbounded", False):
            if mode is RuntimeExecutionMode.BATCH:
                checks.refuse(
                    f"The source {node.name!r} never ends, and BATCH mode emits what is known at the end. Set "
                    "RuntimeExecutionMode.STREAMING or AUTOMATIC, or give a source that ends.",
                    checks.ILLEGAL_STATE,
                )
            return RuntimeExecutionMode.STREAMING
    return RuntimeExecutionMode.BATCH


DEFAULT_GROUP = "default"
_MIXED = object()
"""The slot sharing group of inputs that disagree; their consumer is in the default group."""


@dataclass(slots=True, eq=False)
class _Head:
    """An iteration's head: its group is unknown until the loop's body has been translated."""

    group: str | None = None


class _Feedback(NamedTuple):
    """An entry of the stack: the edge from a feedback stream to the tail, or (without stream) the end of a loop."""

    loop: FeedbackTransformation
    stream: Transformation | None


@dataclass
class Translation:
    """The graph, and what runs in its nodes."""

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
    side_outputs: set[int] = field(default_factory=set[int])


def translate(
    program: Program, job_name: str, only: Transformation | None = None, offered: Callable[[int], int] | None = None
) -> Translation:
    """Translate the registered transformations of a program, or, with ``only``, that sink and its inputs; then no
    cached stream is computed. ``offered`` gives the parallelism of nodes that the program leaves open."""
    from penstock.plan import StreamGraphBuilder

    roots = program.transformations
    if only is not None:
        needed = {transformation.id for transformation in leading_to([only])}
        roots = [*(transformation for transformation in roots if transformation.id in needed), only]
    if not roots:
        checks.refuse(
            "The program has no operators, so there is nothing to execute. Add an operator or a sink, such as "
            "stream.print(), before execute(); after an execute() the next one needs operators of its own. "
            "Sources alone do not count.",
            checks.ILLEGAL_STATE,
        )
    builder = StreamGraphBuilder(job_name=job_name, **program.plan_settings())
    generator = _Generator(program, builder, mode_of(program, roots), only is None, offered)
    for transformation in roots:
        generator.run(transformation)
    generator.result.stream_graph = generator.builder.build()
    return generator.result


class _Generator:
    """The state of one translation.

    ``groups`` has the transformations that are done, with the slot sharing group that a consumer would inherit: a name,
    or a tuple that contains an iteration's head, whose group is known when its loop is done. ``loops`` has for each
    loop its head's node, the head's group, and the groups of its feedback streams.
    """

    def __init__(
        self,
        program: Program,
        builder: Any,
        mode: RuntimeExecutionMode,
        notes: bool,
        offered: Callable[[int], int] | None,
    ) -> None:
        self.builder = builder
        self.result = Translation(mode=mode)
        self.groups: dict[int, Any] = {}
        self.loops: dict[int, tuple[int, _Head, list[Any]]] = {}
        self.iteration_nodes = 0
        self.notes = notes
        self.offered = offered
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
            known = isinstance(current, CacheTransformation) and self.knows(current)  # and so needs no input
            missing = [needed for needed in (() if known else inputs_of(current)) if needed.id not in done]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            if isinstance(current, FeedbackTransformation):
                stack.extend(self.open_loop(current))
            else:
                self.emit(current)

    def knows(self, cache: CacheTransformation) -> bool:
        """Whether an earlier job has computed the stream."""
        return self.is_batch and cache.parts is not None

    def emit(self, current: Transformation) -> None:
        """Add a transformation whose inputs are done."""
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
            self.builder.add_union(current.id, [stream.id for stream in current.inputs])
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
        """Add a cached stream: as a source, or with the nodes that bring its records to the driver."""
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
        """Add head and tail of a loop. Returns the stack entries that are left to do for it. The loop counts as done
        from here on, so that its body finds it on the way to a feedback stream."""
        if not loop.feedback and loop.input is not None:
            checks.refuse(
                f"The iteration behind {loop.input.name!r} is used but has no feedback, so it is not a "
                "loop. Close it with close_with(stream), or use map() instead of iterate().",
                checks.ILLEGAL_STATE,
            )
        head = self.iteration_nodes - 1
        self.iteration_nodes -= 2
        self.builder.add_iteration(
            loop.id,
            head,
            head - 1,
            parallelism=self.parallelism(loop, head, head - 1),
            max_parallelism=loop.max_parallelism if loop.max_parallelism > 0 else self.settings.max_parallelism,
            timeout=loop.max_wait_time,
            **_resources(loop.extras),
        )
        self.loops[loop.id] = (head, _Head(), [])
        before = inputs_of(loop)
        self.builder.add_union(loop.id, [*(stream.id for stream in before), head])
        groups = [part for stream in before for part in _parts(self.groups[stream.id])]
        self.groups[loop.id] = (*groups, self.loops[loop.id][1])
        steps: list[Transformation | _Feedback] = [_Feedback(loop, None)]
        for stream in reversed(loop.feedback):
            steps += [_Feedback(loop, stream), stream]
        return steps

    def feedback(self, loop: FeedbackTransformation, stream: Transformation | None) -> None:
        """Connect a feedback stream to the tail; or, at the end, set the common group of head and tail."""
        node, head, groups = self.loops[loop.id]
        if stream is not None:
            self.builder.add_edge(stream.id, node - 1, 0)
            groups.append(self.groups[stream.id])
            return
        head.group = _agreed(_common(groups))
        self.builder.set_slot_sharing_group(node, head.group)
        self.builder.set_slot_sharing_group(node - 1, head.group)

    def node(self, current: PhysicalTransformation, inputs: Iterable[Transformation]) -> None:
        """Add a real node, with its settings resolved against the program's."""
        if not self.settings.generated_uids and current.uid is None and current.user_hash is None:
            checks.refuse(
                f"The operator {current.name!r} has no uid, and generated ones are disabled. Give it one: uid('…'), "
                "or call get_config().enable_auto_generated_uids().",
                checks.ILLEGAL_STATE,
            )
        group = current.slot_sharing_group
        if group is None:
            group = _agreed(self.common_group(inputs))
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
            co_location_group=None if extras is None else extras.co_location_group,
            managed_memory_weight=None if extras is None else extras.managed_memory_weight,
            **_resources(extras),
        )
        self.groups[current.id] = group
        result = self.result
        result.operators[current.id] = current.operator
        result.types[current.id] = current.output_type
        result.names[current.id] = name
        result.marks[current.id] = current.made_at
        if extras is not None and extras.description is not None:
            result.descriptions[current.id] = extras.description
        if extras is not None and extras.side_outputs is not None:
            result.side_outputs.add(current.id)

    def parallelism(self, current: Transformation, *nodes: int) -> int:
        """The parallelism of a transformation's nodes: its own, or the environment's, or as offered."""
        parallelism = current.parallelism
        if parallelism != -1 and not isinstance(parallelism, LeftOpen):
            return parallelism
        self.result.left_open.update(nodes)
        default = self.settings.parallelism if parallelism == -1 else parallelism
        return default if self.offered is None else min(map(self.offered, nodes))

    def check_group(self, group: SlotSharingGroup) -> None:
        if not group.needs:
            return
        earlier = self.slots.get(group.name)
        if earlier is not None and earlier.needs and earlier != group:
            checks.illegal_argument(
                f"The slot sharing group {group.name!r} has two specifications: {earlier} and {group}. Use one "
                "SlotSharingGroup object, or another name."
            )
        self.slots[group.name] = group

    def chaining_strategy(self, current: PhysicalTransformation) -> str:
        """The chaining strategy of a node. In BATCH mode a keyed operator begins a chain, as its input must be sorted
        (Flink: BatchExecutionUtils)."""
        strategy = current.chaining_strategy
        keyed = self.is_batch and getattr(current.operator, "keyed", None) is not None
        return "HEAD" if keyed and strategy == "ALWAYS" else strategy

    def common_group(self, inputs: Iterable[Transformation]) -> Any:
        groups = [self.groups[stream.id] for stream in inputs]
        return groups[0] if len(groups) == 1 else _common(groups)


def _parts(group: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", group) if isinstance(group, tuple) else (group,)


def _common(groups: list[Any]) -> Any:
    """The group of several branches in order: one name, ``_MIXED``, or a tuple if heads of loops are among them."""
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
    """The name that a consumer of these branches inherits: the first one, unless a later branch differs."""
    agreed = None
    for part in _parts(group):
        name = part.group if isinstance(part, _Head) else part
        if agreed is None:
            agreed = name
        elif agreed != name:
            return DEFAULT_GROUP
    return DEFAULT_GROUP if agreed is None or agreed is _MIXED else agreed


def _resources(extras: Extras | None) -> dict[str, Any]:
    if extras is None or extras.min_resources is None or extras.preferred_resources is None:
        return {}
    least, preferred = extras.min_resources.as_tuple(), extras.preferred_resources.as_tuple()
    return {"min_resources": least, "preferred_resources": preferred}
