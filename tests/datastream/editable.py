"""Programs that can be edited, as data: built for real, run in parts, and computed in plain Python.

A run of a program reads what its sources have so far and stops. The next run may be of another program with the same
job folder. Which operator then goes on with which state is predicted of OperatorIDs alone (:meth:`World.predicted`);
what it must emit follows (:meth:`World.run`).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.common import Configuration, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment, TimeCharacteristic
from penstock.datastream.connectors import Records, Source, Split
from penstock.runtime.io.sinks import CollectSink
from tests.datastream.editable_kinds import AFTER, INT, KINDS, Bag, Seen

SPLITS = 3
SOURCE, SINK = "source", "sink"
REFUSED = "java.lang.IllegalStateException"
ALLOWED = "execution__savepoint__ignore_unclaimed_state"


@dataclass(frozen=True)
class Node:
    """An operator of a program.

    Attributes:
        label: by which others read it; also its name, if it has no other.
        kind: ``source``, ``sink``, or a name in :data:`~.editable_kinds.KINDS`.
        inputs: labels.
        amount: a small number that it works with; of a source the number of its data.
        name, uid, uid_hash, parallelism, max_parallelism: as a user sets them; None for not at all.
        chain: ``"new"``, ``"off"`` or ``""``.
    """

    label: str
    kind: str
    inputs: tuple[str, ...] = ()
    amount: int = 2
    name: str | None = None
    uid: str | None = None
    uid_hash: str | None = None
    parallelism: int | None = None
    max_parallelism: int | None = None
    chain: str = ""

    @property
    def stateful(self) -> bool:
        """Whether it has something to lose."""
        return self.kind == SOURCE or (self.kind != SINK and bool(KINDS[self.kind].holds))


@dataclass(frozen=True)
class Program:
    """A program.

    Attributes:
        nodes: each after those that it reads.
        parallelism, max_parallelism: of the environment.
        chaining: whether operators are chained at all.
        settings: more of them.
    """

    nodes: tuple[Node, ...]
    parallelism: int = 2
    max_parallelism: int | None = None
    chaining: bool = True
    settings: Mapping[str, str] = field(default_factory=dict)

    def node(self, label: str) -> Node:
        """The node of a label."""
        return next(node for node in self.nodes if node.label == label)

    def change(self, label: str, **changes: Any) -> Program:
        """The same with a node changed."""
        return replace(self, nodes=tuple(replace(n, **changes) if n.label == label else n for n in self.nodes))

    def insert(self, node: Node, before: Sequence[str] = (), at: int | None = None) -> Program:
        """The same with a node more, behind those that it reads, or at a place of its own.

        Args:
            node: new; it reads something.
            before: nodes that read it now in place of what it reads first.
            at: index among the nodes.
        """
        places = {each.label: i for i, each in enumerate(self.nodes)}
        place = 1 + max((places[each] for each in node.inputs), default=-1) if at is None else at
        nodes = [*self.nodes[:place], node, *self.nodes[place:]]
        return replace(
            self, nodes=tuple(_reads(n, node.inputs[0], node.label) if n.label in before else n for n in nodes)
        )

    def without(self, label: str) -> Program:
        """The same without a node; who read it reads its input. A source is gone with all that reads nothing else."""
        gone = self.node(label)
        rest = tuple(n for n in self.nodes if n.label != label)
        if gone.inputs:
            return replace(self, nodes=tuple(_reads(n, label, gone.inputs[0]) for n in rest))
        left: list[Node] = []
        there: set[str] = set()
        for node in rest:
            inputs = tuple(each for each in node.inputs if each in there)
            if node.kind == SOURCE or (inputs and (node.kind == "union" or inputs == node.inputs)):
                left.append(replace(node, inputs=inputs * 2 if node.kind == "union" and len(inputs) == 1 else inputs))
                there.add(node.label)
        return replace(self, nodes=tuple(left))


def _reads(node: Node, old: str, new: str) -> Node:
    return replace(node, inputs=tuple(new if each == old else each for each in node.inputs))


# --- for real ---------------------------------------------------------------------------------------------------------


def data(number: int, split: int, there: int) -> list[int]:
    """The records of a split of a source so far: of more there are the same at first."""
    draw = random.Random(f"{number}/{split}")
    return [draw.randint(-30, 30) for _ in range(there)]


class Feed(Source[int]):
    """A source of some splits, of which more and more is there.

    Args:
        number: of its data.
        there: how many records each split has by now.
        ends: whether nothing follows.
    """

    bounded = False

    def __init__(self, number: int, there: int, ends: bool) -> None:
        self.number, self.there, self.ends = number, there, ends
        self.together = number % 2 == 0

    def splits(self, parallelism: int) -> Sequence[Split]:
        return [Split(f"split {i}", 0, self.there) for i in range(SPLITS)]

    def ended(self) -> bool:
        return self.ends

    def limited(self, split: Split, records: int) -> Split:
        return replace(split, end=min(split.end, split.start + records))

    def read(self, split: Split) -> Iterator[Records[int]]:
        values = data(self.number, int(split.id.split()[1]), self.there)
        for begin in range(split.start, split.end, 4):
            end = min(begin + 4, split.end)
            yield Records(values[begin:end], end)


Show = Callable[[Any, Node], Any]


def collect(stream: Any, node: Node) -> Any:
    """A sink whose records the job gives back."""
    return stream._sink(node.label, CollectSink(node.label), node.parallelism)


def build(program: Program, env: Any, there: int, ends: bool, show: Show = collect) -> dict[str, Any]:
    """Build a program.

    Args:
        program, there, ends: as for :func:`run`.
        env: where it is built.
        show: makes a sink.

    Returns:
        The streams by label; of what has state that of the operator that has it.
    """
    read, made = {}, {}
    for node in program.nodes:
        inputs = [read[each] for each in node.inputs]
        if node.kind == SOURCE:
            stream = env.from_source(Feed(node.amount, there, ends), WatermarkStrategy.no_watermarks(), node.label, INT)
        elif node.kind == SINK:
            stream = show(*inputs, node)
        else:
            stream = KINDS[node.kind].build(*inputs, node.amount)
        if node.kind not in ("union", "side"):
            _set(node, stream)
        made[node.label] = read[node.label] = stream
        if node.kind in AFTER:
            after = stream.map(AFTER[node.kind], INT).name(f"{node.label} as a number")
            read[node.label] = after if node.parallelism is None else after.set_parallelism(node.parallelism)
    return made


def _set(node: Node, stream: Any) -> None:
    """What a user says of an operator."""
    stream.name(node.name or node.label)
    if node.uid is not None:
        stream.uid(node.uid)
    if node.uid_hash is not None:
        stream.set_uid_hash(node.uid_hash)
    if node.parallelism is not None and node.kind != SINK:
        stream.set_parallelism(node.parallelism)
    if node.max_parallelism is not None:
        stream.set_max_parallelism(node.max_parallelism)
    if node.chain == "off":
        stream.disable_chaining()
    elif node.chain == "new" and node.kind not in (SOURCE, SINK):
        stream.start_new_chain()


def environment(program: Program, executor: Any = "local", **settings: str) -> StreamExecutionEnvironment:
    """Where a program is built."""
    given = {key.replace("__", ".").replace("_", "-"): value for key, value in settings.items()}
    configuration = Configuration.from_dict({**program.settings, **given})
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor=executor)
    env.set_parallelism(program.parallelism).set_stream_time_characteristic(TimeCharacteristic.EventTime)
    if program.max_parallelism is not None:
        env.set_max_parallelism(program.max_parallelism)
    return env if program.chaining else env.disable_operator_chaining()


def run(
    program: Program, there: int, ends: bool, executor: Any = "local", records: int = 5, **settings: str
) -> dict[str, Bag]:
    """Run a program until it has read what is there, or to its end.

    Args:
        program: to run.
        there: how many records each split has.
        ends: whether the sources end.
        executor: runs it.
        records: of a step.
        settings: with ``__`` for dots and ``_`` for hyphens.

    Returns:
        What sinks have got, by label.
    """
    now = {} if ends else {"penstock__step__available_now": "true"}
    env = environment(program, executor, penstock__step__records=str(records), **now, **settings)
    build(program, env, there, ends)
    got = env.execute("edited").collected
    return {node.label: Counter(got.get(node.label, ())) for node in program.nodes if node.kind == SINK}


# --- what must happen -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """What the plan says of an operator.

    Attributes:
        generated: its OperatorID.
        pinned: the one that was set for it, or None.
        parallelism: of it.
        max_parallelism: that was set, or None.
    """

    generated: str
    pinned: str | None
    parallelism: int
    max_parallelism: int | None


def places(program: Program) -> dict[str, Place]:
    """The operators of a program, from its plan, without a manifest: by label what has state, the others as ``#NODE``,
    as state can come to them by their place.

    Raises:
        PenstockError: it cannot be planned.
    """
    env = environment(program)
    streams = build(program, env, 0, True)
    graph = env.get_stream_graph()
    graph.job_graph().execution_graph()  # which sees to it that each subtask has a key group
    ids = graph.operator_ids()
    labels = {s.transformation.id: label for label, s in streams.items() if program.node(label).stateful}
    found = {}
    for node in graph.nodes:
        if node.id in ids:
            most = node.max_parallelism if node.max_parallelism > 0 else None
            label = labels.get(node.id, f"#{node.id}")
            found[label] = Place(ids[node.id], node.user_hash, node.parallelism, most)
    return found


@dataclass
class Kept:
    """The state of an operator, or the positions of a source.

    Attributes:
        label: of the operator that wrote it.
        max_parallelism: number of key groups.
        seen: what each state has of the input, by what it holds.
        positions: of a source, by split; None of an operator.
    """

    label: str
    max_parallelism: int
    seen: dict[str, Seen] = field(default_factory=dict)
    positions: dict[str, int] | None = None


@dataclass(frozen=True)
class Prediction:
    """What a restore does.

    Attributes:
        refused: whether it is.
        takes: for each operator with state, and source, the label of the one whose state it goes on with; None where
            there is none.
        unread: those of them that read nothing of what they take.
        left: labels of state that nobody takes.
        lost: labels of state that operators without any have by their place, and carry along.
    """

    refused: bool
    takes: Mapping[str, str | None]
    unread: frozenset[str]
    left: frozenset[str]
    lost: frozenset[str] = frozenset()


class World:
    """What there is of a job: a slow model of its folder, or of a savepoint of it."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}

    def predicted(self, program: Program, *, allowed: bool = False) -> Prediction:
        """What happens when a program goes on from here.

        Args:
            program: the next one.
            allowed: whether state may be left behind.
        """
        found = places(program)
        own = {label: self._of(place) for label, place in found.items()}
        known = {each for place in found.values() for each in (place.generated, place.pinned)}
        left = frozenset(kept.label for id_, kept in self._kept.items() if id_ not in known)
        takers = Counter(id_ for place in found.values() if (id_ := self._id(place)) is not None)
        refused = (bool(left) and not allowed) or max(takers.values(), default=0) > 1
        for label, kept in own.items():
            if kept is not None and kept.positions is None:
                place = found[label]
                refused |= place.max_parallelism not in (None, kept.max_parallelism)
                refused |= place.parallelism > kept.max_parallelism
        takes = {label: kept for label, kept in own.items() if not label.startswith("#")}
        lost = frozenset(kept.label for label, kept in own.items() if kept and label not in takes)
        unread = frozenset(label for label, kept in takes.items() if kept and not _reads_of(program.node(label), kept))
        return Prediction(refused, {label: kept and kept.label for label, kept in takes.items()}, unread, left, lost)

    def _id(self, place: Place) -> str | None:
        return next((each for each in (place.pinned, place.generated) if each in self._kept), None)

    def _of(self, place: Place) -> Kept | None:
        return self._kept.get(self._id(place) or "")

    def run(self, program: Program, there: int, ends: bool) -> dict[str, Bag]:
        """What sinks get of a run; afterwards there is what that run has left.

        Args:
            program: it is not refused.
            there, ends: as for the function :func:`run`.
        """
        found, kept, bags = places(program), {}, {}
        for node in program.nodes:
            inputs = [bags[each] for each in node.inputs]
            if node.kind == "side":  # of what the one before has read
                before_it = program.node(node.inputs[0])
                inputs = [bags[each] for each in before_it.inputs] if before_it.kind == "split" else [Counter()]
            if not node.stateful:
                bags[node.label] = inputs[0] if node.kind == SINK else KINDS[node.kind].plain(inputs, node.amount)
                continue
            place = found[node.label]
            before = self._of(place) or Kept("", place.max_parallelism or 128)
            after = Kept(node.label, before.max_parallelism, dict(before.seen))
            if node.kind == SOURCE:
                after.positions = {f"split {i}": there for i in range(SPLITS)}
                bags[node.label] = _read(node, before.positions or {}, there)
            else:
                bags[node.label] = _worked(node, after, inputs, ends)
            if after.positions or any(map(KINDS[node.kind].left, after.seen.values())):
                kept[place.generated] = after
        for label, place in found.items():
            carried = self._of(place) if label.startswith("#") else None
            if carried is not None:
                kept[place.generated] = carried
        self._kept = kept
        return {node.label: bags[node.label] for node in program.nodes if node.kind == SINK}


def _reads_of(node: Node, kept: Kept) -> bool:
    return kept.positions is not None or any(kept.seen.get(s) for s in getattr(KINDS.get(node.kind), "holds", ()))


def _read(node: Node, positions: Mapping[str, int], there: int) -> Bag:
    values: Bag = Counter()
    for split in range(SPLITS):
        values.update(data(node.amount, split, there)[positions.get(f"split {split}", 0) :])
    return values


def _worked(node: Node, kept: Kept, inputs: Sequence[Bag], ends: bool) -> Bag:
    """What an operator emits; its state is then what it is after that."""
    kind, before = KINDS[node.kind], kept.seen
    kept.seen = kind.take(before, inputs, node.amount)
    return kind.emitted(kept.seen, node.amount, last=ends) - kind.emitted(before, node.amount, last=False)
