"""The model of a plan, shared by everything that shows, compares or checks plans. Plain frozen data, also as JSON.

Vertices and job edges are the JobGraph: if the planner refuses a program, they are empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

from penstock.common.site import Site
from penstock.errors import FileFormatError

FORMAT = 1  # version of :meth:`ProgramModel.to_dict`
UNRECORDED = "not recorded"  # the type of keys in lock files that do not have it


@dataclass(frozen=True)
class StateModel:
    """A state that an operator declares.

    Kinds are ``value``, ``list``, ``map``, ``reducing``, ``aggregating`` per key; ``window contents``, ``window set``;
    ``timers``; ``list of operator``, ``union list`` and ``broadcast`` without key.
    """

    name: str  # unique per operator; those of built-in operators are Flink's
    kind: str
    types: Mapping[str, str] = field(default_factory=dict[str, str])  # declared ones by role, such as "value" or "key"
    ttl: str | None = None  # the time to live; None for ever
    former_names: tuple[str, ...] = ()
    version: int = 0  # of its values, which the program migrates; 0 without
    defaults: tuple[str, ...] = ()  # paths of fields of its records for which the program has defaults
    form: str = ""  # the kind in state files, of states that operators keep themselves; "" if unknown
    windows: str = ""  # the kind of windows that its values belong to, in the plural; "" for none or unknown


@dataclass(frozen=True)
class OperatorModel:
    """An operator of a program."""

    node: int
    name: str  # as the plan shows it, with prefixes such as "Source: "
    kind: str  # "source", "sink" or "operator"
    type: str  # the name that users have for it, such as "KeyedProcess"; "" if only the graph is known
    uid: str | None
    user_hash: str | None
    operator_id: str  # 32 hex digits; "" if no source reaches it, or IDs are refused
    origin: str  # of the ID: "uid" or "position"
    pinned: str | None  # the uid hash that state is addressed by instead of the ID, in lower case
    parallelism: int  # 0 or less is unset
    max_parallelism: int | None  # as configured; None for Flink's default
    effective_max_parallelism: int  # the number of key groups of its vertex
    vertex: int | None  # the first of its vertices in the JobGraph
    chain_index: int | None  # its place there, heads having index 0
    slot_sharing_group: str
    chaining: str  # ALWAYS, NEVER or HEAD
    keyed: bool  # whether an input is keyed
    stateful: bool | None  # None, as states, if unknown
    states: tuple[StateModel, ...] | None
    site: Site | None  # the call that made it; None if only the graph is known
    description: str
    key_type: str | None = None  # None for undeclared, or no key
    unknown: str = ""  # why states is None
    facts: Mapping[str, str] = field(default_factory=dict[str, str])  # of which reviewers want to see changes, by name
    classes: Mapping[str, Any] = field(default_factory=dict[str, Any])  # of objects in a savepoint's state, by name

    @property
    def effective_id(self) -> str:
        """The ID of its state: the uid hash, or else the generated ID."""
        return self.pinned or self.operator_id


@dataclass(frozen=True)
class EdgeModel:
    """A connection of two operators."""

    source: int  # nodes
    target: int
    index: int
    partitioner: str  # FORWARD, REBALANCE, HASH, …
    chained: bool
    rule: str | None  # the chaining rule that broke first
    reason: str  # that rule with both values, as a sentence
    side_output: str | None  # the tag
    input: int = 0  # 0 for one-input operators; 1 or 2


@dataclass(frozen=True)
class VertexModel:
    """A chain of operators that runs as one task."""

    index: int
    id: str  # of its head
    name: str
    operators: tuple[int, ...]  # nodes, the head first, then down the chained outputs
    parallelism: int  # at least 1
    max_parallelism: int  # the number of key groups that it runs with
    slot_sharing_group: str
    # minimum of "cpu", "heap_mb", "off_heap_mb", "managed_mb"; empty if unknown
    resources: Mapping[str, float] = field(default_factory=dict[str, float])
    task: str = ""  # simple name of the task class


@dataclass(frozen=True)
class JobEdgeModel:
    """A data set and the vertex that reads it."""

    source: int  # vertices
    target: int
    ship_strategy: str  # the partitioner's name
    pattern: str  # POINTWISE or ALL_TO_ALL
    result_type: str  # PIPELINED_BOUNDED or BLOCKING
    edge: int  # index of the stream edge that it stands for
    result: int  # number of the data set among the source's
    input: int  # number of the input among the target's
    execution_edges: int  # how many connections of subtasks it becomes


@dataclass(frozen=True)
class ProgramModel:
    """A program and its plan, as a version of Flink plans it."""

    name: str
    flink: str
    operators: tuple[OperatorModel, ...]  # in order of addition, as the edges
    edges: tuple[EdgeModel, ...]
    vertices: tuple[VertexModel, ...]  # in order of creation, which begins downstream
    job_edges: tuple[JobEdgeModel, ...]  # in the order in which they were connected
    refused: str | None = None  # why the planner refuses the program
    # not part of the JSON: classes that travel with its operators, by name; the vertices in topological order
    classes: Mapping[str, type] = field(default_factory=dict[str, type], compare=False, repr=False)
    order: tuple[int, ...] = field(default=(), compare=False, repr=False)

    @cached_property
    def by_node(self) -> Mapping[int, OperatorModel]:
        return {operator.node: operator for operator in self.operators}

    @cached_property
    def by_index(self) -> Mapping[int, VertexModel]:
        return {vertex.index: vertex for vertex in self.vertices}

    def to_dict(self) -> dict[str, Any]:
        """The model for JSON, without loss; :meth:`from_dict` reads it. O(operators + edges)."""
        names = [field.name for field in fields(self) if field.name not in ("classes", "order")]
        document: dict[str, Any] = {"format": FORMAT, **{name: getattr(self, name) for name in names}}
        for part in ("operators", "edges", "vertices", "job_edges"):
            document[part] = list(map(asdict, document[part]))
        for vertex in document["vertices"]:
            vertex["operators"] = list(vertex["operators"])
        for operator in document["operators"]:
            operator["states"] = None if operator["states"] is None else list(operator["states"])
        return document

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> ProgramModel:
        """The model of a document of :meth:`to_dict`; refuses a damaged one, and one of a newer version."""
        form = data.get("format")
        if form != FORMAT:
            raise FileFormatError(
                f"The model of a plan has the format {form!r}, and this Penstock reads format {FORMAT}. Write it "
                "again with this version: penstock explain --format json."
            )
        try:
            return ProgramModel(
                data["name"],
                data["flink"],
                tuple(map(_operator, data["operators"])),
                tuple(EdgeModel(**edge) for edge in data["edges"]),
                tuple(
                    VertexModel(**{**vertex, "operators": tuple(vertex["operators"])}) for vertex in data["vertices"]
                ),
                tuple(JobEdgeModel(**edge) for edge in data["job_edges"]),
                data.get("refused"),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise FileFormatError(
                f"The model of a plan is damaged: {type(error).__name__}: {error}. Write it again: penstock explain "
                "--format json."
            ) from error


def _operator(data: Mapping[str, Any]) -> OperatorModel:
    read: dict[str, Any] = dict(data)
    if read["states"] is not None:
        lists = ("former_names", "defaults")
        states = ({**state, **{name: tuple(state.get(name, ())) for name in lists}} for state in read["states"])
        read["states"] = tuple(StateModel(**state) for state in states)
    if read["site"] is not None:
        read["site"] = Site(**read["site"])
    return OperatorModel(**read)
