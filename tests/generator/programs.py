"""Random programs as data, drawn by a profile, edited, and built for real."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.cli.program import PlanOnlyExecutor
from penstock.common import Configuration, WatermarkStrategy
from penstock.datastream import StreamExecutionEnvironment, TimeCharacteristic
from penstock.datastream.connectors import Records, Source, Split
from penstock.plan import Pipeline
from tests.datastream.guarding import pipeline_of
from tests.generator import sinks
from tests.generator.choices import Choices, SeededChoices
from tests.generator.operators import EDITED, INT, KINDS, TIMED, Bag

SPLITS, COLLECTION = 3, 1000
SOURCE, SINK = "source", "sink"
BACKEND = "penstock.state.backend"
REFUSED = "java.lang.IllegalStateException"
OTHER_TYPE = "org.apache.flink.util.StateMigrationException"
ALLOWED = "execution__savepoint__ignore_unclaimed_state"


@dataclass(frozen=True)
class Node:
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
    format: str = ""
    values: tuple[int, ...] = ()

    @property
    def stateful(self) -> bool:
        return self.kind == SOURCE or (self.kind != SINK and bool(KINDS[self.kind].holds))


@dataclass(frozen=True)
class Program:
    nodes: tuple[Node, ...]
    parallelism: int = 2
    max_parallelism: int | None = None
    chaining: bool = True
    two_phases: bool = False
    feed: Any = None
    settings: Mapping[str, str] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash((self.nodes, self.parallelism))

    def node(self, label: str) -> Node:
        return next(node for node in self.nodes if node.label == label)

    def change(self, label: str, **changes: Any) -> Program:
        return replace(self, nodes=tuple(replace(n, **changes) if n.label == label else n for n in self.nodes))

    def insert(self, node: Node, before: Sequence[str] = (), at: int | None = None) -> Program:
        """The same with a node more, behind those that it reads, or at a place of its own."""
        places = {other.label: i for i, other in enumerate(self.nodes)}
        place = 1 + max((places[label] for label in node.inputs), default=-1) if at is None else at
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
        labels: set[str] = set()
        for node in rest:
            inputs = tuple(name for name in node.inputs if name in labels)
            if node.kind == SOURCE or (inputs and (node.kind == "union" or inputs == node.inputs)):
                left.append(replace(node, inputs=inputs * 2 if node.kind == "union" and len(inputs) == 1 else inputs))
                labels.add(node.label)
        return replace(self, nodes=tuple(left))


def _reads(node: Node, old: str, new: str) -> Node:
    return replace(node, inputs=tuple(new if label == old else label for label in node.inputs))


# --- drawn ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Profile:
    """What random programs are like. Ranges include both ends."""

    kinds: Sequence[str]
    source: Callable[[Choices, int], Node]
    sources: tuple[int, int] = (1, 3)
    operators: tuple[int, int] = (2, 7)
    parallelism: tuple[int, int] = (1, 4)
    unchained: int = 10
    """In percent: programs without chaining."""
    operator_parallelism: Callable[[Choices], int | None] = lambda choices: choices.pick(
        (None, None, choices.number(1, 4))
    )
    """The parallelism of an operator."""
    amounts: tuple[int, int] = (1, 4)
    reach: int | None = None
    """How many of the last operators may be read, beside the sources."""
    ends: frozenset[str] = frozenset()
    """Kinds that nobody reads."""
    unfit: Callable[[Program], bool] = lambda program: False


def draw(choices: Choices, profile: Profile) -> Program:
    """A program without sinks; see :func:`ended`."""
    nodes = tuple(profile.source(choices, i) for i in range(choices.number(*profile.sources)))
    program = Program(nodes, choices.number(*profile.parallelism), chaining=not choices.chance(profile.unchained))
    for number in range(choices.number(*profile.operators)):
        node = draw_node(choices, program, f"op {number}", profile)
        longer = program.insert(node, at=len(program.nodes))
        program = program if profile.unfit(longer) else longer
    return program


def draw_node(choices: Choices, program: Program, label: str, profile: Profile) -> Node:
    readable = [node for node in program.nodes if node.kind != SINK and node.kind not in profile.ends]
    if profile.reach is not None:
        operators = [node for node in readable if node.kind != SOURCE]
        readable = [*(node for node in readable if node.kind == SOURCE), *operators[-profile.reach :]]
    splits = [node for node in readable if node.kind == "split"]
    kind = choices.pick([kind for kind in profile.kinds if kind != "side" or splits])
    count = KINDS[kind].inputs if kind in KINDS else 1
    inputs = tuple(choices.pick(splits if kind == "side" else readable).label for _ in range(count))
    parallelism = None if kind in ("side", "union", "counts of all") else profile.operator_parallelism(choices)
    chain = choices.pick(("", "", "", "new", "off"))
    return Node(label, kind, inputs, choices.number(*profile.amounts), parallelism=parallelism, chain=chain)


def ended(program: Program) -> Program:
    """The same with a sink for each stream that nobody reads, and without those that read nothing."""
    labels = {node.label for node in program.nodes}
    nodes = [node for node in program.nodes if set(node.inputs) <= labels]
    read = {label for node in nodes for label in node.inputs}
    ends = [Node(f"see {n.label}", SINK, (n.label,)) for n in nodes if n.kind != SINK and n.label not in read]
    return replace(program, nodes=(*nodes, *ends))


# --- programs that are edited between two runs ------------------------------------------------------------------------


class _Dice(SeededChoices):
    def chance(self, percent: int) -> bool:
        return self._random.random() >= 1 - percent / 100


def is_late(program: Program) -> bool:
    """Whether a program looks at the time behind a loop."""
    behind: set[str] = set()
    for node in program.nodes:
        if node.kind == "loop" or behind & set(node.inputs):
            behind.add(node.label)
    return any(program.node(label).kind in TIMED for label in behind)


TO_EDIT = Profile(
    tuple(EDITED), lambda choices, i: Node(f"source {i}", SOURCE, amount=choices.number(0, 99)), unfit=is_late
)


def random_program(draws: random.Random) -> Program:
    """A program of some sources, operators, and sinks of what nobody reads."""
    program = draw(_Dice(draws), TO_EDIT)
    if draws.random() < 0.7:
        program = replace(program, nodes=tuple(named(draws, node) for node in program.nodes))
    program = replace(program, two_phases=draws.random() < 0.3)
    program = replace(program, settings={BACKEND: draws.choice(["memory", "memory", "disk"])})
    if draws.random() < 0.15:
        program = replace(program, max_parallelism=draws.choice([8, 16, 128]))
    return ended(program)


def random_node(draws: random.Random, program: Program, label: str) -> Node:
    return draw_node(_Dice(draws), program, label, TO_EDIT)


def named(draws: random.Random, node: Node) -> Node:
    """A node with a uid, most likely."""
    settable = node.kind not in ("union", "side", SINK)
    return replace(node, uid=f"uid of {node.label}") if settable and draws.random() < 0.85 else node


# --- for real ---------------------------------------------------------------------------------------------------------


def data(number: int, split: int, available: int) -> list[int]:
    """The records of a split of a source so far: of more there are the same at first."""
    draw = random.Random(f"{number}/{split}")
    return [draw.randint(-30, 30) for _ in range(available)]


class Feed(Source[int]):
    """A source of some splits, of which more and more is there."""

    bounded = False

    def __init__(self, number: int, per_split: int, ends: bool) -> None:
        self.number, self.per_split, self.ends = number, per_split, ends
        self.together = number % 2 == 0

    def splits(self, parallelism: int) -> Sequence[Split]:
        return [Split(f"split {i}", 0, self.per_split) for i in range(SPLITS)]

    def ended(self) -> bool:
        return self.ends

    def limited(self, split: Split, records: int) -> Split:
        return replace(split, end=min(split.end, split.start + records))

    def read(self, split: Split) -> Iterator[Records[int]]:
        values = data(self.number, int(split.id.split()[1]), self.per_split)
        for begin in range(split.start, split.end, 4):
            end = min(begin + 4, split.end)
            yield Records(values[begin:end], end)


def _source(program: Program, node: Node, env: Any, available: int, ends: bool) -> Any:
    if node.amount >= COLLECTION:
        return env.from_collection([value for i in range(SPLITS) for value in data(node.amount, i, available)], INT)
    if program.feed is not None:
        return program.feed.source(node, env, ends)
    return env.from_source(Feed(node.amount, available, ends), WatermarkStrategy.no_watermarks(), node.label, INT)


def build(
    program: Program, env: Any, available: int = 0, ends: bool = True, show: Any = None, source: Any = None
) -> dict[str, Any]:
    """Build a program. ``source`` makes a source of (environment, node), ``show`` a sink of (stream, node)."""
    read, streams = {}, {}
    collect = sinks.commit if program.two_phases else sinks.collect
    for node in program.nodes:
        inputs = [read[label] for label in node.inputs]
        if node.kind == SOURCE:
            stream = _source(program, node, env, available, ends) if source is None else source(env, node)
        elif node.kind == SINK:
            stream = show(*inputs, node) if show is not None else collect(*inputs, node.label, node.parallelism)
        else:
            stream = KINDS[node.kind].build(*inputs, node.amount)
        if node.kind not in ("union", "side"):
            _set(node, stream)
        streams[node.label] = read[node.label] = stream
        after = KINDS[node.kind].after if node.kind in KINDS else None
        if after is not None:
            stream = stream.map(after, INT).name(f"{node.label} as a number")
            read[node.label] = stream if node.parallelism is None else stream.set_parallelism(node.parallelism)
    return streams


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
    overrides = {key.replace("__", ".").replace("_", "-"): value for key, value in settings.items()}
    configuration = Configuration.from_dict({**program.settings, **overrides})
    env = StreamExecutionEnvironment.get_execution_environment(configuration, executor=executor)
    env.set_parallelism(program.parallelism).set_stream_time_characteristic(TimeCharacteristic.EventTime)
    if program.max_parallelism is not None:
        env.set_max_parallelism(program.max_parallelism)
    return env if program.chaining else env.disable_operator_chaining()


def planned(program: Program, **how: Any) -> Pipeline:
    """What an executor gets of a program. ``how`` it is built: as of :func:`build`."""
    planner = PlanOnlyExecutor()
    env = environment(program, planner)
    build(program, env, **how)
    return pipeline_of(env, planner)


def run(
    program: Program, available: int, ends: bool, executor: Any = "local", records: int = 5, **settings: str
) -> dict[str, Bag]:
    """Run a program until it has read what is there, or to its end."""
    now = {} if ends else {"penstock__step__available_now": "true"}
    env = environment(program, executor, penstock__step__records=str(records), **now, **settings)
    build(program, env, available, ends)
    before = sinks.known()
    got = env.execute("edited").collected
    return {
        node.label: Counter(got.get(node.label, ())) + sinks.committed(node.label, before)
        for node in program.nodes
        if node.kind == SINK
    }
