"""The model of a plan that everything shares that shows, compares or checks plans. Plain frozen data, also as JSON.

A StreamGraph is its operators and edges; vertices and job edges are the JobGraph made of it. Where the planner refuses
a program, these two are empty and ``refused`` says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any, cast

from penstock.common.site import Site
from penstock.errors import FileFormatError

__all__ = [
    "FORMAT",
    "EdgeModel",
    "JobEdgeModel",
    "OperatorModel",
    "ProgramModel",
    "Site",
    "StateModel",
    "VertexModel",
    "default_max_parallelism",
]

FORMAT = 1
"""Version of what :meth:`ProgramModel.to_dict` gives."""


def default_max_parallelism(parallelism: int) -> int:
    """The number of key groups of a vertex that does not set it (Flink: KeyGroupRangeAssignment).

    Args:
        parallelism: of the vertex; 0 or less is 1.
    """
    some = max(parallelism, 1)
    return min(max(1 << (some + some // 2 - 1).bit_length(), 128), 1 << 15)


@dataclass(frozen=True)
class StateModel:
    """A state that an operator declares.

    Attributes:
        name: unique per operator; those of built-in operators are Flink's.
        kind: ``value``, ``list``, ``map``, ``reducing``, ``aggregating`` per key; ``window contents``, ``window set``;
            ``timers``; ``list of operator``, ``union list`` and ``broadcast`` without key.
        types: declared types as texts by role (``value``, ``element``, ``key``, ``accumulator``); undeclared ones are
            missing.
        ttl: how long values live, as a text; None for ever.
        former_names: what the state was called before, as the program says.
        version: of its values, as the program migrates them; 0 without.
        defaults: paths of fields of records in it for which the program has defaults.
    """

    name: str
    kind: str
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    ttl: str | None = None
    former_names: tuple[str, ...] = ()
    version: int = 0
    defaults: tuple[str, ...] = ()


@dataclass(frozen=True)
class OperatorModel:
    """An operator of a program.

    Attributes:
        node: its number in the program.
        name: as the plan shows it, with prefixes such as ``"Source: "``.
        kind: ``source``, ``sink`` or ``operator``.
        type: what it is, as users know it, such as ``Map`` or ``KeyedProcess``; "" where only the graph is known.
        uid, user_hash: as the program gave them.
        operator_id: generated from the uid or the position, 32 hex digits; "" where no source reaches it, or IDs are
            refused.
        origin: what the ID was made of: ``uid`` or ``position``.
        pinned: the uid hash that state is addressed by instead of the ID, in lower case; None without one.
        parallelism: number of subtasks; 0 or less is unset.
        max_parallelism: as configured; None for Flink's default.
        effective_max_parallelism: number of key groups it runs with: that of its vertex.
        vertex, chain_index: its place in the JobGraph, in the first of its vertices, heads having index 0.
        slot_sharing_group: name of the group; "" for none.
        chaining: its strategy: ALWAYS, NEVER or HEAD.
        keyed: whether an input is keyed.
        stateful: whether it keeps state; None where that is not known.
        states: those that it declares; None where they are not known.
        site: where the program made it; None where only the graph is known.
        description: that the program gave; "" without.
        key_type: declared type of its keys; None for undeclared, or no key.
        unknown: why states is None; "" otherwise.
    """

    node: int
    name: str
    kind: str
    type: str
    uid: str | None
    user_hash: str | None
    operator_id: str
    origin: str
    pinned: str | None
    parallelism: int
    max_parallelism: int | None
    effective_max_parallelism: int
    vertex: int | None
    chain_index: int | None
    slot_sharing_group: str
    chaining: str
    keyed: bool
    stateful: bool | None
    states: tuple[StateModel, ...] | None
    site: Site | None
    description: str
    key_type: str | None = None
    unknown: str = ""

    @property
    def effective_id(self) -> str:
        """What its state is addressed by: the uid hash, or else the generated ID."""
        return self.pinned or self.operator_id


@dataclass(frozen=True)
class EdgeModel:
    """A connection of two operators.

    Attributes:
        source, target: nodes.
        index: among the edges, in order of addition.
        partitioner: FORWARD, REBALANCE, HASH, …
        chained: whether both run in one task.
        rule: the chaining rule that broke first; None if chained.
        reason: that rule with both values, as a sentence; "" if chained.
        side_output: tag of the side output that it carries.
        input: 0 for one-input operators; 1 or 2.
    """

    source: int
    target: int
    index: int
    partitioner: str
    chained: bool
    rule: str | None
    reason: str
    side_output: str | None
    input: int = 0


@dataclass(frozen=True)
class VertexModel:
    """A chain of operators that runs as one task.

    Attributes:
        index: in order of creation.
        id: ID of its head.
        name: chained name.
        operators: nodes, the head first, then down the chained outputs.
        parallelism: number of subtasks, at least 1.
        max_parallelism: number of key groups that it runs with.
        slot_sharing_group: name of the group; "" for none.
        resources: minimum by name (``cpu``, ``heap_mb``, ``off_heap_mb``, ``managed_mb``); empty where unknown.
    """

    index: int
    id: str
    name: str
    operators: tuple[int, ...]
    parallelism: int
    max_parallelism: int
    slot_sharing_group: str
    resources: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class JobEdgeModel:
    """A data set and the vertex that reads it.

    Attributes:
        source, target: vertices.
        ship_strategy: the partitioner's name.
        pattern: POINTWISE or ALL_TO_ALL.
        result_type: PIPELINED_BOUNDED or BLOCKING.
        edge: index of the stream edge that it stands for.
        result: number of the data set among the source's.
        input: number of the input among the target's.
        execution_edges: how many connections of subtasks it becomes.
    """

    source: int
    target: int
    ship_strategy: str
    pattern: str
    result_type: str
    edge: int
    result: int
    input: int
    execution_edges: int


@dataclass(frozen=True)
class ProgramModel:
    """A program and its plan.

    Attributes:
        name: of the job.
        flink: the Flink version it is planned as.
        operators: in order of addition.
        edges: likewise.
        vertices: in order of creation, which begins downstream; empty if the program is refused.
        job_edges: in the order in which they were connected.
        refused: what the planner says against the program; None if nothing.
    """

    name: str
    flink: str
    operators: tuple[OperatorModel, ...]
    edges: tuple[EdgeModel, ...]
    vertices: tuple[VertexModel, ...]
    job_edges: tuple[JobEdgeModel, ...]
    refused: str | None = None

    @cached_property
    def by_node(self) -> Mapping[int, OperatorModel]:
        """The operators by node."""
        return {operator.node: operator for operator in self.operators}

    def to_dict(self) -> dict[str, Any]:
        """As JSON knows it, without loss; :meth:`from_dict` reads it. O(operators + edges)."""
        made = {"format": FORMAT, **{each.name: getattr(self, each.name) for each in fields(self)}}
        for part in ("operators", "edges", "vertices", "job_edges"):
            made[part] = [asdict(each) for each in made[part]]
        for vertex in made["vertices"]:
            vertex["operators"] = list(vertex["operators"])
        for operator in made["operators"]:
            operator["states"] = None if operator["states"] is None else list(operator["states"])
        return made

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> ProgramModel:
        """What :meth:`to_dict` has written.

        Raises:
            FileFormatError: it is no such model, of a newer version, or has a field too many or too few.
        """
        found = data.get("format")
        if found != FORMAT:
            raise FileFormatError(
                f"The model of a plan has the format {found!r}, and this Penstock reads format {FORMAT}. Write it "
                "again with this version: penstock explain --format json."
            )
        try:
            return ProgramModel(
                **{
                    **{name: data[name] for name in ("name", "flink")},
                    "operators": tuple(_operator(each) for each in data["operators"]),
                    "edges": tuple(EdgeModel(**each) for each in data["edges"]),
                    "vertices": tuple(
                        VertexModel(**{**each, "operators": tuple(each["operators"])}) for each in data["vertices"]
                    ),
                    "job_edges": tuple(JobEdgeModel(**each) for each in data["job_edges"]),
                    "refused": data.get("refused"),
                }
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise FileFormatError(
                f"The model of a plan is damaged: {type(error).__name__}: {error}. Write it again: penstock explain "
                "--format json."
            ) from error


def _state(data: Mapping[str, Any]) -> StateModel:
    listed = {name: tuple(data.get(name, ())) for name in ("former_names", "defaults")}
    return StateModel(**{**data, **listed})


def _operator(data: Mapping[str, Any]) -> OperatorModel:
    states, site = data["states"], data["site"]
    read: dict[str, Any] = {
        **data,
        "states": None if states is None else tuple(map(_state, states)),
        "site": None if site is None else Site(**cast("dict[str, Any]", site)),
    }
    return OperatorModel(**read)
