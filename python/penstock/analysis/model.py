"""The model of a plan, shared by everything that shows, compares or checks plans. Plain frozen data, also as JSON.

Operators and edges are the StreamGraph; vertices and job edges are the JobGraph. If the planner refuses a program,
these two are empty and ``refused`` says why.
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
    "UNRECORDED",
    "EdgeModel",
    "JobEdgeModel",
    "OperatorModel",
    "ProgramModel",
    "Site",
    "StateModel",
    "VertexModel",
]

FORMAT = 1
"""Version of :meth:`ProgramModel.to_dict`."""

UNRECORDED = "not recorded"
"""The type of keys in lock files that do not have it."""


@dataclass(frozen=True)
class StateModel:
    """A state that an operator declares.

    Attributes:
        name: unique per operator; those of built-in operators are Flink's.
        kind: ``value``, ``list``, ``map``, ``reducing``, ``aggregating`` per key; ``window contents``, ``window set``;
            ``timers``; ``list of operator``, ``union list`` and ``broadcast`` without key.
        types: declared types as texts by role (``value``, ``element``, ``key``, ``accumulator``); undeclared ones are
            missing.
        ttl: the time to live, as a text; None for ever.
        former_names: earlier names of the state.
        version: of its values, which the program migrates; 0 without.
        defaults: paths of fields of records in it for which the program has defaults.
        form: the kind in state files, of states that operators keep themselves; "" if unknown.
        windows: the kind of windows that its values belong to, in the plural; "" for none or unknown.
    """

    name: str
    kind: str
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    ttl: str | None = None
    former_names: tuple[str, ...] = ()
    version: int = 0
    defaults: tuple[str, ...] = ()
    form: str = ""
    windows: str = ""


@dataclass(frozen=True)
class OperatorModel:
    """An operator of a program.

    Attributes:
        node: its number in the program.
        name: as the plan shows it, with prefixes such as ``"Source: "``.
        kind: ``source``, ``sink`` or ``operator``.
        type: the name that users have for it, such as ``Map`` or ``KeyedProcess``; "" if only the graph is known.
        uid, user_hash: as the program gave them.
        operator_id: generated from the uid or the position, 32 hex digits; "" if no source reaches it, or IDs are
            refused.
        origin: of the ID: ``uid`` or ``position``.
        pinned: the uid hash that state is addressed by instead of the ID, in lower case; None without one.
        parallelism: number of subtasks; 0 or less is unset.
        max_parallelism: as configured; None for Flink's default.
        effective_max_parallelism: number of key groups it runs with: that of its vertex.
        vertex, chain_index: its place in the JobGraph, in the first of its vertices, heads having index 0.
        slot_sharing_group: name of the group; "" for none.
        chaining: its strategy: ALWAYS, NEVER or HEAD.
        keyed: whether an input is keyed.
        stateful: whether it keeps state; None if unknown.
        states: those that it declares; None if unknown.
        site: the call that made it; None if only the graph is known.
        description: given by the program; "" without.
        key_type: declared type of its keys; None for undeclared, or no key; :data:`UNRECORDED` in older lock files.
        unknown: why states is None; "" otherwise.
        facts: more that reviewers want to see changes of, as texts by name: ``record``, ``key by``,
            ``window``, ``trigger``, ``source``, ``place``.
        classes: of a savepoint: the recorded classes of objects in its state, by name.
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
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    classes: Mapping[str, Any] = field(default_factory=dict[str, Any])

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
        resources: minimum by name (``cpu``, ``heap_mb``, ``off_heap_mb``, ``managed_mb``); empty if unknown.
        task: simple name of the task class; "" if unknown.
    """

    index: int
    id: str
    name: str
    operators: tuple[int, ...]
    parallelism: int
    max_parallelism: int
    slot_sharing_group: str
    resources: Mapping[str, float] = field(default_factory=dict[str, float])
    task: str = ""


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
        refused: why the planner refuses the program; None if it does not.
        classes: those that travel with its operators, by name; not part of the JSON.
        order: the vertices in topological order; not part of the JSON.
    """

    name: str
    flink: str
    operators: tuple[OperatorModel, ...]
    edges: tuple[EdgeModel, ...]
    vertices: tuple[VertexModel, ...]
    job_edges: tuple[JobEdgeModel, ...]
    refused: str | None = None
    classes: Mapping[str, type] = field(default_factory=dict[str, type], compare=False, repr=False)
    order: tuple[int, ...] = field(default=(), compare=False, repr=False)

    @cached_property
    def by_node(self) -> Mapping[int, OperatorModel]:
        """The operators by node."""
        return {operator.node: operator for operator in self.operators}

    @cached_property
    def by_index(self) -> Mapping[int, VertexModel]:
        """The vertices by index."""
        return {vertex.index: vertex for vertex in self.vertices}

    def to_dict(self) -> dict[str, Any]:
        """The model for JSON, without loss; :meth:`from_dict` reads it. O(operators + edges)."""
        names = [field.name for field in fields(self) if field.name not in ("classes", "order")]
        document: dict[str, Any] = {"format": FORMAT, **{name: getattr(self, name) for name in names}}
        for part in ("operators", "edges", "vertices", "job_edges"):
            document[part] = [asdict(each) for each in document[part]]
        for vertex in document["vertices"]:
            vertex["operators"] = list(vertex["operators"])
        for operator in document["operators"]:
            operator["states"] = None if operator["states"] is None else list(operator["states"])
        return document

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> ProgramModel:
        """The model of a document of :meth:`to_dict`.

        Raises:
            FileFormatError: the document is damaged, or of a newer version.
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
