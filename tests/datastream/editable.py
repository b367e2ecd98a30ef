"""Programs that can be edited, as data: built for real, and run in parts.

A run of a program reads what its sources have so far and stops. The next run may be of another program with the same
job folder; what must happen then is said in :mod:`.editable_world`.
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
from tests.datastream import editable_sinks
from tests.datastream.editable_kinds import INT, Bag
from tests.datastream.editable_states import AFTER, KINDS

SPLITS, COLLECTION = 3, 1000
SOURCE, SINK = "source", "sink"
REFUSED = "java.lang.IllegalStateException"
OTHER_TYPE = "org.apache.flink.util.StateMigrationException"
ALLOWED = "execution__savepoint__ignore_unclaimed_state"


@dataclass(frozen=True)
class Node:
    """An operator of a program.

    Attributes:
        label: by which others read it; also its name, if it has no other.
        kind: ``source``, ``sink``, or a name in :data:`~.editable_kinds.KINDS`.
        inputs: labels.
        amount: a small number that it works with; of a source the number of its data, and whether it has splits, or is
            a collection (:data:`COLLECTION` and more).
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
        feed: makes its sources: ``source(node, env, ends)``, ``fill(numbers, there, ends)``, and how many records each
            split of a number has: ``ends(number)``; None for a :class:`Feed` each.
        two_phases: whether what sinks get is committed in two phases; else the job gives it back.
        settings: more of them.
    """

    nodes: tuple[Node, ...]
    parallelism: int = 2
    max_parallelism: int | None = None
    chaining: bool = True
    two_phases: bool = False
    feed: Any = None
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


def build(program: Program, env: Any, there: int, ends: bool, show: Show | None = None) -> dict[str, Any]:
    """Build a program.

    Args:
        program, there, ends: as for :func:`run`.
        env: where it is built.
        show: makes a sink; None: as the program says.

    Returns:
        The streams by label; of what has state that of the operator that has it.
    """
    read, made = {}, {}
    for node in program.nodes:
        inputs = [read[each] for each in node.inputs]
        if node.kind == SOURCE:
            stream = _source(program, node, env, there, ends)
        elif node.kind == SINK:
            stream = (show or _sink_of(program))(*inputs, node)
        else:
            stream = KINDS[node.kind].build(*inputs, node.amount)
        if node.kind not in ("union", "side"):
            _set(node, stream)
        made[node.label] = read[node.label] = stream
        if node.kind in AFTER:
            after = stream.map(AFTER[node.kind], INT).name(f"{node.label} as a number")
            read[node.label] = after if node.parallelism is None else after.set_parallelism(node.parallelism)
    return made


def _source(program: Program, node: Node, env: Any, there: int, ends: bool) -> Any:
    if node.amount >= COLLECTION:
        return env.from_collection([value for i in range(SPLITS) for value in data(node.amount, i, there)], INT)
    if program.feed is not None:
        return program.feed.source(node, env, ends)
    return env.from_source(Feed(node.amount, there, ends), WatermarkStrategy.no_watermarks(), node.label, INT)


def _sink_of(program: Program) -> Show:
    made = editable_sinks.commit if program.two_phases else editable_sinks.collect
    return lambda stream, node: made(stream, node.label, node.parallelism)


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
    before = editable_sinks.known()
    got = env.execute("edited").collected
    return {
        node.label: Counter(got.get(node.label, ())) + editable_sinks.committed(node.label, before)
        for node in program.nodes
        if node.kind == SINK
    }
