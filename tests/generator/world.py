"""What must happen to a program that is edited between two runs, in plain Python."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from tests.generator.operators import KINDS, Bag, Seen, foreign, other_keys
from tests.generator.programs import COLLECTION, SINK, SOURCE, SPLITS, Node, Program, build, data, environment


@dataclass(frozen=True)
class Place:
    """What the plan says of an operator."""

    generated: str
    pinned: str | None
    parallelism: int
    max_parallelism: int | None


@lru_cache(64)
def places(program: Program) -> Mapping[str, Place]:
    """The operators of a program, from its plan, without a manifest."""
    env = environment(program)
    streams = build(program, env, 0, True)
    graph = env.get_stream_graph()
    graph.job_graph().execution_graph()  # which sees to it that each subtask has a key group
    ids = graph.operator_ids()
    labels = {s.transformation.id: label for label, s in streams.items() if program.node(label).stateful}
    by_label = {}
    for node in graph.nodes:
        if node.id in ids:
            most = node.max_parallelism if node.max_parallelism > 0 else None
            label = labels.get(node.id, f"#{node.id}")
            by_label[label] = Place(ids[node.id], node.user_hash, node.parallelism, most)
    return by_label


@dataclass
class Kept:
    """The state of an operator, or the positions of a source."""

    label: str
    max_parallelism: int
    seen: dict[str, Seen] = field(default_factory=dict)
    positions: dict[str, int] | None = None
    collection: bool = False


@dataclass(frozen=True)
class Prediction:
    refused: bool
    takes: Mapping[str, str | None]
    unread: frozenset[str]
    left: frozenset[str]
    lost: frozenset[str] = frozenset()
    other_type: bool = False
    unknown: bool = False
    partly: frozenset[str] = frozenset()


class World:
    """What there is of a job: a slow model of its folder, or of a savepoint of it."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}

    def predicted(self, program: Program, *, allowed: bool = False) -> Prediction:
        """What happens when a program goes on from here."""
        known_places = places(program)
        kept_by_label = {label: self._of(place) for label, place in known_places.items()}
        known = {operator_id for place in known_places.values() for operator_id in (place.generated, place.pinned)}
        left = frozenset(kept.label for id_, kept in self._kept.items() if id_ not in known)
        takers = Counter(id_ for place in known_places.values() if (id_ := self._id(place)) is not None)
        refused = (bool(left) and not allowed) or max(takers.values(), default=0) > 1
        for label, kept in kept_by_label.items():
            if kept is not None and kept.positions is None:
                place = known_places[label]
                refused |= place.max_parallelism not in (None, kept.max_parallelism)
                refused |= place.parallelism > kept.max_parallelism
        takes = {label: kept for label, kept in kept_by_label.items() if not label.startswith("#")}
        lost = frozenset(kept.label for label, kept in kept_by_label.items() if kept and label not in takes)
        unread = frozenset(label for label, kept in takes.items() if kept and not _reads_of(program.node(label), kept))
        held = [(program.node(label).kind, kept.seen) for label, kept in takes.items() if kept and kept.seen]
        labels = {label: kept and kept.label for label, kept in takes.items()}
        other, unknown = (any(itertools.starmap(differs, held)) for differs in (other_keys, foreign))
        partly = frozenset(label for label, kept in takes.items() if kept and _leaves(program.node(label), kept))
        return Prediction(refused or other, labels, unread, left, lost, other and not refused, unknown, partly)

    def supposed(self, program: Program) -> World:
        """The world as a lock file of a program supposes it."""
        world, known_places = World(), places(program)
        for node in program.nodes:
            if node.stateful:
                place = known_places[node.label]
                kept = Kept(node.label, place.max_parallelism or 128, collection=node.amount >= COLLECTION)
                kept.seen = {name: Counter({(0,): 1}) for name in getattr(KINDS.get(node.kind), "holds", ())}
                kept.positions = {"a split": 1} if node.kind == SOURCE else None
                world._kept[place.generated] = kept
        return world

    def _id(self, place: Place) -> str | None:
        return next((operator_id for operator_id in (place.pinned, place.generated) if operator_id in self._kept), None)

    def _of(self, place: Place) -> Kept | None:
        return self._kept.get(self._id(place) or "")

    def run(self, program: Program, available: int, ends: bool) -> dict[str, Bag]:
        """What sinks get of a run; afterwards there is what that run has left."""
        known_places, kept, bags = places(program), {}, {}
        for node in program.nodes:
            inputs = [bags[label] for label in node.inputs]
            if node.kind == "side":  # of what the one before has read
                before_it = program.node(node.inputs[0])
                inputs = [bags[label] for label in before_it.inputs] if before_it.kind == "split" else [Counter()]
            if not node.stateful:
                bags[node.label] = inputs[0] if node.kind == SINK else KINDS[node.kind].plain(inputs, node.amount)
                continue
            place = known_places[node.label]
            before = self._of(place) or Kept("", place.max_parallelism or 128)
            after = Kept(node.label, before.max_parallelism, dict(before.seen))
            if node.kind == SOURCE:
                after.collection = node.amount >= COLLECTION
                same = before.collection == after.collection  # else it is a source of another kind, which begins anew
                positions = (before.positions or {}) if same else {}
                splits = _splits(program, node, positions, available)
                bags[node.label] = Counter(
                    value for name, values in splits.items() for value in values[positions.get(name, 0) :]
                )
                after.positions = {name: len(values) for name, values in splits.items()}
            else:
                bags[node.label] = _worked(node, after, inputs, ends)
            if after.positions or any(map(KINDS[node.kind].left, after.seen.values())):
                kept[place.generated] = after
        for label, place in known_places.items():
            carried = self._of(place) if label.startswith("#") else None
            if carried is not None and carried.positions is None:
                kept[place.generated] = carried
        self._kept = kept
        return {node.label: bags[node.label] for node in program.nodes if node.kind == SINK}


def _reads_of(node: Node, kept: Kept) -> bool:
    return kept.positions is not None or any(kept.seen.get(s) for s in getattr(KINDS.get(node.kind), "holds", ()))


def _leaves(node: Node, kept: Kept) -> bool:
    """Whether an operator leaves a part of what it takes unread."""
    if kept.positions is not None:
        return node.kind != SOURCE or kept.collection != (node.amount >= COLLECTION)
    return any(seen and name not in KINDS[node.kind].holds for name, seen in kept.seen.items())


def _splits(program: Program, node: Node, positions: Mapping[str, int], available: int) -> dict[str, list[int]]:
    """The splits of a source with what is in them. One that goes on with those of another topic reads on there, too."""
    if program.feed is None or node.amount >= COLLECTION:
        return {f"split {i}": data(node.amount, i, available) for i in range(SPLITS)}
    numbers = dict.fromkeys([node.amount, *(int(name.split("-")[0]) for name in positions)])
    splits = {
        f"{number}-{i}": data(number, i, end) for number in numbers for i, end in enumerate(program.feed.ends(number))
    }
    return {name: values for name, values in splits.items() if name in positions or name.startswith(f"{node.amount}-")}


def _worked(node: Node, kept: Kept, inputs: Sequence[Bag], ends: bool) -> Bag:
    """What an operator emits; its state is then what it is after that."""
    kind, before = KINDS[node.kind], kept.seen
    kept.seen = kind.take(before, inputs, node.amount)
    return kind.emitted(kept.seen, node.amount, last=ends) - kind.emitted(before, node.amount, last=False)
