"""From transformations to a StreamGraph: Flink's ``StreamGraphGenerator``.

Registered transformations are translated in order of creation, each after its inputs, the first input completely before
the second. That order is visible: it decides edge orders, the order of sources, and with them vertex orders of the job
graph. Virtual transformations (partition, union, side output) become virtual nodes, which the planner resolves when an
edge is added.

An explicit stack stands for Flink's recursion, so neither long chains nor long runs of partitioners can overflow
anything. Cost: O(transformations + edges) time and space.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.common.typeinfo import TypeInformation
from penstock.datastream import checks
from penstock.datastream.transformations import (
    OneInputTransformation,
    PartitionTransformation,
    PhysicalTransformation,
    SideOutputTransformation,
    SinkTransformation,
    SourceTransformation,
    Transformation,
    TwoInputTransformation,
    UnionTransformation,
)

if TYPE_CHECKING:
    from penstock.datastream.environment import StreamExecutionEnvironment

DEFAULT_GROUP = "default"
_MIXED = object()
"""Slot sharing group of inputs that do not agree; whoever inherits it is in the default group."""


@dataclass
class Translation:
    """The result: the graph, and what runs in its nodes.

    Attributes:
        stream_graph: a ``penstock.plan.StreamGraph``.
        operators: runtime operator by node id.
        partitioners: key or custom partitioning by id of the virtual node that asked for it.
        types: declared type by node id (of a sink: of what it takes in; of a side output's virtual node: of its tag).
        names: operator names by node id.
        loops: ids of iterations.
    """

    stream_graph: Any = None
    operators: dict[int, Any] = field(default_factory=dict)
    partitioners: dict[int, Any] = field(default_factory=dict)
    types: dict[int, TypeInformation | None] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    loops: list[int] = field(default_factory=list)


def translate(environment: StreamExecutionEnvironment, job_name: str, builder_class: Any = None) -> Translation:
    """Translate the registered transformations of an environment.

    Args:
        environment: is only read.
        job_name: name of the job.
        builder_class: ``penstock.plan.StreamGraphBuilder`` unless a test brings its own.

    Raises:
        InvalidProgramError: nothing is registered (Flink: IllegalStateException).
        PlanError: what the planner refuses.
    """
    transformations = environment.transformations
    if not transformations:
        checks.refuse(
            "The program has no operators, so there is nothing to execute. Add an operator or a sink, such as "
            "stream.print(), before execute(); after an execute() the next one needs operators of its own. "
            "Sources alone do not count.",
            checks.ILLEGAL_STATE,
        )
    if builder_class is None:
        from penstock.plan import StreamGraphBuilder as builder_class
    generator = _Generator(environment, builder_class(job_name=job_name, **environment.plan_settings()))
    for transformation in transformations:
        generator.run(transformation)
    generator.result.stream_graph = generator.builder.build()
    return generator.result


class _Generator:
    """State of one translation.

    ``groups`` is both the set of what is done and the slot sharing group that a consumer would inherit: a name for a
    node, a tuple of names for what has several branches.
    """

    def __init__(self, environment: StreamExecutionEnvironment, builder: Any) -> None:
        self.builder = builder
        self.result = Translation()
        self.groups: dict[int, Any] = {}
        self.parallelism = environment.get_parallelism()
        self.max_parallelism = environment.get_max_parallelism()
        self.buffer_timeout = environment.get_buffer_timeout()

    def run(self, root: Transformation) -> None:
        """Translate ``root`` after everything it needs."""
        done = self.groups
        stack = [root]
        while stack:
            current = stack[-1]
            if current.id in done:
                stack.pop()
                continue
            missing = [needed for needed in _inputs(current) if needed.id not in done]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            self.emit(current)

    def emit(self, current: Transformation) -> None:
        """Add one transformation whose inputs are there."""
        if isinstance(current, OneInputTransformation | SinkTransformation):
            self.node(current, (current.input,))
            self.builder.add_edge(current.input.id, current.id, 0)
        elif isinstance(current, PartitionTransformation):
            self.partition(current)
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
            self.result.types[current.id] = current.output_type
            self.groups[current.id] = self.groups[current.input.id]
        else:
            raise AssertionError(f"no translation for {type(current).__name__}")

    def partition(self, current: PartitionTransformation) -> None:
        self.builder.add_virtual_partition(current.id, current.input.id, current.partitioner)
        if current.spec is not None:
            self.result.partitioners[current.id] = current.spec
        self.groups[current.id] = self.groups[current.input.id]

    def node(self, current: PhysicalTransformation, inputs: Iterable[Transformation]) -> None:
        """Add a real node with its settings resolved against the environment's."""
        group = current.slot_sharing_group
        if group is None:
            group = self.inherited_group(inputs)
        extras = current.extras
        name = current.prefix + current.name
        self.builder.add_node(
            current.id,
            name,
            current.kind,
            uid=current.uid,
            user_hash=current.user_hash,
            slot_sharing_group=group,
            parallelism=self.parallelism if current.parallelism == -1 else current.parallelism,
            max_parallelism=current.max_parallelism if current.max_parallelism > 0 else self.max_parallelism,
            chaining_strategy=current.chaining_strategy,
            yielding=current.yielding,
            buffer_timeout=current.buffer_timeout if current.buffer_timeout >= 0 else self.buffer_timeout,
            task=current.task,
            **({} if extras is None else _extra_settings(extras)),
        )
        self.groups[current.id] = group
        result = self.result
        result.operators[current.id] = current.operator
        result.types[current.id] = current.output_type
        result.names[current.id] = name

    def inherited_group(self, inputs: Iterable[Transformation]) -> str:
        """The group of all inputs when it is one, else the default group."""
        group = self.common_group(inputs)
        return DEFAULT_GROUP if group is _MIXED or group is None else group

    def common_group(self, inputs: Iterable[Transformation]) -> Any:
        common = None
        for each in inputs:
            group = self.groups[each.id]
            if common is None:
                common = group
            elif common != group:
                return _MIXED
        return common


def _inputs(current: Transformation) -> list[Transformation] | tuple[Transformation, ...]:
    """What must be translated before, in order."""
    if isinstance(current, UnionTransformation):
        return current.inputs
    if isinstance(current, TwoInputTransformation):
        return (current.input1, current.input2)
    if isinstance(current, SourceTransformation):
        return ()
    return (current.input,)  # type: ignore[attr-defined]


def _extra_settings(extras: Any) -> dict[str, Any]:
    settings = {
        "co_location_group": extras.co_location_group,
        "managed_memory_weight": extras.managed_memory_weight,
    }
    if extras.min_resources is not None:
        settings["min_resources"] = extras.min_resources.as_tuple()
        settings["preferred_resources"] = extras.preferred_resources.as_tuple()
    return settings
