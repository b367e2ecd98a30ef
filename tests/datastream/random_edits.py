"""Random programs, edited between runs: ``python -m tests.datastream.random_edits 0 1000 [--spark] [--guard]``."""

from __future__ import annotations

import argparse
import copy
import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from penstock.errors import InvalidProgramError, PenstockError
from tests.datastream import feeding, typed_edits
from tests.datastream.editable_jobs import WAYS, Jobs
from tests.datastream.guarding import KEPT, LOST, asked
from tests.datastream.guarding import REFUSED as REFUSED_RUN
from tests.generator.operators import KINDS, SAME
from tests.generator.programs import (
    ALLOWED,
    BACKEND,
    COLLECTION,
    OTHER_TYPE,
    REFUSED,
    SINK,
    SOURCE,
    Node,
    Program,
    ended,
    is_late,
    named,
    planned,
    random_node,
    random_program,
    run,
)
from tests.generator.world import Prediction, World, places

MOST = 1_500
"""Records of a sink in a run; a program that makes more is not taken."""
FEW_STEPS = 40
"""Records more of a step where the guard is asked: what becomes of state is decided before the first one."""
PER_RUN = (5, 9, 16, 20)
"""Records of a split by the end of each run."""

Edit = Callable[[random.Random, Program], Program]


# --- edits ------------------------------------------------------------------------------------------------------------


def _some(draw: random.Random, program: Program, wanted: Callable[[Node], bool]) -> Node | None:
    nodes = [node for node in program.nodes if wanted(node)]
    return draw.choice(nodes) if nodes else None


def _operator(node: Node) -> bool:
    return node.kind not in (SOURCE, SINK, "union", "side")


def _stateful(node: Node) -> bool:
    return node.stateful


def _changed(wanted: Callable[[Node], bool], change: Callable[[random.Random, Node], dict[str, Any]]) -> Edit:
    def edit(draw: random.Random, program: Program) -> Program:
        node = _some(draw, program, wanted)
        return program if node is None else program.change(node.label, **change(draw, node))

    return edit


def _kind(kinds: tuple[str, ...]) -> Edit:
    """An edit of one node that is of some kinds."""
    return _changed(lambda node: node.kind in kinds, lambda draw, node: {"kind": draw.choice(kinds)})


def insert(draw: random.Random, program: Program) -> Program:
    """An operator more, between what is there or at an end of its own."""
    new = random_node(draw, program, f"new {draw.randrange(10**6)}")
    new = named(draw, new)
    readers = [n.label for n in program.nodes if new.inputs[0] in n.inputs and n.kind != "side"]
    if new.kind == "split" or KINDS[new.kind].inputs == 2:
        readers = []
    place = 1 + max(i for i, node in enumerate(program.nodes) if node.label in new.inputs)
    chosen = [label for label in readers if draw.random() < 0.7]
    return program.insert(new, [label for label in chosen if program.nodes.index(program.node(label)) >= place], place)


def remove(draw: random.Random, program: Program) -> Program:
    node = _some(draw, program, _operator)
    if node is None or any(n.kind == "side" and node.label in n.inputs for n in program.nodes):
        return program
    return program.without(node.label)


def swap(draw: random.Random, program: Program) -> Program:
    """Two operators that follow each other the other way round."""
    pairs = [
        (one, two)
        for two in program.nodes
        for one in program.nodes
        if two.inputs == (one.label,) and _operator(one) and _operator(two) and len(one.inputs) == 1
    ]
    if not pairs:
        return program
    one, two = draw.choice(pairs)
    if any(n.kind == "side" and {one.label, two.label} & set(n.inputs) for n in program.nodes):
        return program
    names = {one.label: two.label, two.label: one.label}
    nodes = []
    for node in program.nodes:
        if node is one:
            nodes.append(replace(two, inputs=one.inputs))
        elif node is two:
            nodes.append(replace(one, inputs=(two.label,)))
        else:
            nodes.append(replace(node, inputs=tuple(names.get(label, label) for label in node.inputs)))
    order = {node.label: node for node in nodes}
    return _sorted(replace(program, nodes=tuple(order.values())))


def _sorted(program: Program) -> Program:
    """The same in an order in which nodes come after those that they read, else as they stand."""
    placed: dict[str, Node] = {}
    rest = list(program.nodes)
    while rest:
        node = next(other for other in rest if set(other.inputs) <= placed.keys())
        placed[node.label] = node
        rest.remove(node)
    return replace(program, nodes=tuple(placed.values()))


def shuffle(draw: random.Random, program: Program) -> Program:
    """The lines of the program in another order."""
    return _sorted(replace(program, nodes=tuple(draw.sample(program.nodes, len(program.nodes)))))


def add_source(draw: random.Random, program: Program) -> Program:
    """A source more, read by itself or with another one."""
    label = f"new {draw.randrange(10**6)}"
    program = program.insert(Node(label, SOURCE, amount=draw.randrange(100), uid=draw.choice([None, label])), at=0)
    node = _some(draw, program, lambda n: n.kind not in (SINK, "side", "split") and n.label != label)
    if node is None or draw.random() < 0.5:
        return program
    readers = [n.label for n in program.nodes if node.label in n.inputs]
    place = 1 + program.nodes.index(node)
    return program.insert(Node(f"{label} too", "union", (node.label, label)), readers, place)


def drop_source(draw: random.Random, program: Program) -> Program:
    """A source less, with all that reads nothing else."""
    sources = [node for node in program.nodes if node.kind == SOURCE]
    return program.without(draw.choice(sources).label) if len(sources) > 1 else program


def other_source(draw: random.Random, program: Program) -> Program:
    """A source of another kind in the place of one."""
    label = draw.choice([node.label for node in program.nodes if node.kind == SOURCE])
    return program.change(label, amount=draw.randrange(COLLECTION, COLLECTION + 100))


def toggle_sink(draw: random.Random, program: Program) -> Program:
    node = _some(draw, program, lambda n: n.kind != SINK)
    assert node is not None
    label = f"see {node.label}"
    if any(other.label == label for other in program.nodes):
        return replace(program, nodes=tuple(other for other in program.nodes if other.label != label))
    return program.insert(Node(label, SINK, (node.label,)), at=len(program.nodes))


def pin(draw: random.Random, program: Program) -> Program:
    """An operator, inserted into or not, finds its state by the ID that it had."""
    known = places(program)
    node = _some(draw, program, lambda n: n.stateful and n.uid_hash is None)
    if node is None:
        return program
    changed = program.change(node.label, uid_hash=known[node.label].generated)
    return changed.change(node.label, uid=draw.choice([node.uid, None, f"uid {draw.randrange(10**6)}"]))


def _parallelism(draw: random.Random, program: Program) -> Program:
    return replace(program, parallelism=draw.randint(1, 8))


def _max_parallelism(draw: random.Random, program: Program) -> Program:
    return replace(program, max_parallelism=draw.choice([None, None, 4, 16, 128]))


EDITS: dict[str, Edit] = {
    "insert": insert,
    "remove": remove,
    "swap": swap,
    "shuffle": shuffle,
    "rename": _changed(_operator, lambda draw, node: {"name": f"name {draw.randrange(10**6)}"}),
    "amount": _changed(_operator, lambda draw, node: {"amount": draw.randint(1, 4)}),
    "uid set": _changed(_stateful, lambda draw, node: {"uid": f"uid {draw.randrange(10**6)}"}),
    "uid removed": _changed(_stateful, lambda draw, node: {"uid": None}),
    "pin": pin,
    "chain": _changed(_operator, lambda draw, node: {"chain": draw.choice(["", "new", "off"])}),
    "chaining": lambda draw, program: replace(program, chaining=not program.chaining),
    "parallelism": _parallelism,
    "parallelism of one": _changed(_operator, lambda draw, node: {"parallelism": draw.randint(1, 8)}),
    "max parallelism": _max_parallelism,
    "max of one": _changed(
        lambda n: n.stateful and n.kind != SOURCE, lambda draw, node: {"max_parallelism": draw.choice([None, 16, 128])}
    ),
    "source added": add_source,
    "source dropped": drop_source,
    "sink": toggle_sink,
    "backend": lambda draw, program: replace(program, settings={BACKEND: draw.choice(["memory", "disk"])}),
    "sinks": lambda draw, program: replace(program, two_phases=not program.two_phases),
    **{name: _kind(kinds) for name, kinds in SAME.items()},
}
"""Edits by name."""


def edited(draw: random.Random, program: Program, names: list[str], seen: Counter[str] | None = None) -> Program:
    """A program after some edits, which can be planned."""
    for name in draw.choices(sorted(EDITS), k=draw.choice([1, 1, 2, 3])):
        new = ended(EDITS[name](draw, program))
        try:
            places(new)
        except PenstockError:
            (Counter() if seen is None else seen).update(["cannot be planned"])
            continue
        if is_late(new):
            (Counter() if seen is None else seen).update(["time behind a loop"])
            continue
        names.append(name)
        program = new
    return program


def check(seed: int, root: str, executor: Any = "local", feed: Any = None, *, guard: bool = False) -> Counter[str]:
    """Run a random program with random edits between its runs."""
    life = _Life(seed, root, executor, feed, guard)
    runs = life.draw.choice([2, 2, 3]) if feed is None else 3
    for number in range(runs):
        life.run(number, ends=number == runs - 1)
    return life.seen


class _Life:
    """A program and its job through some runs. Arguments as those of :func:`check`."""

    def __init__(self, seed: int, root: str, executor: Any, feed: Any, guard: bool) -> None:
        self._guard = guard
        self.draw, self.seen = random.Random(seed), Counter[str]()
        self._world, self._jobs, self._executor, self._feed = World(), Jobs(root), executor, feed
        program = replace(random_program(self.draw), feed=feed)
        if (
            feed is not None
        ):  # a subtask without a partition is idle, and behind the time of the others when it gets one
            program = replace(program, parallelism=min(program.parallelism, feed.first))
        self._program = program

    def run(self, number: int, *, ends: bool) -> None:
        """Edit it, and run it; if that is refused, the old one."""
        draw, jobs, available = self.draw, self._jobs, PER_RUN[number]
        names: list[str] = []
        way = draw.choice(WAYS) if number else "restart"
        new = self._edited(names, ends) if number else self._program
        allowed = {ALLOWED: "true"} if draw.random() < 0.6 else {}
        _fill(new, available, ends)
        predicted = self._world.predicted(new, allowed=bool(allowed))
        if predicted.unknown or (not predicted.refused and _most(self._world, new, available, ends) > MOST):
            self.seen["not predicted" if predicted.unknown else "too much"] += 1
            new, names, predicted = self._program, [], self._world.predicted(self._program)
        self.seen.update([*names, way])
        if self._guard and number:
            self._ask(new, predicted, names, allow=bool(allowed))
        if predicted.refused:
            state, settings = jobs.state(), jobs.settings(way) | allowed
            kind = OTHER_TYPE if predicted.other_type else REFUSED
            refused = _refusal(new, available, self._executor, settings)
            assert refused == kind, f"run {number} by {way} not refused after {names}"
            jobs.refused(state)
            new, names = self._program, ["refused"]
        self._count(predicted)
        _fill(new, available, ends)
        expected = self._world.run(new, available, ends)
        settings = jobs.settings(way) | allowed
        records = draw.randint(1, 20) + (FEW_STEPS if self._guard else 0)
        got = run(new, available, ends, self._executor, records=records, **settings)
        assert got == expected, f"run {number} by {way} after {names}: {_differences(got, expected)}"
        if self._feed is not None and not ends:
            self._feed.check(jobs.folder)
        self._program = new

    def _ask(self, new: Program, predicted: Prediction, names: list[str], *, allow: bool) -> None:
        """Compare what the commands say with what happens."""
        old, after = planned(self._program), planned(new)
        supposed = self._world.supposed(self._program).predicted(new, allowed=allow)
        for name, answer in asked(old, self._jobs.folder, after, allow=allow).items():
            known = supposed if name == "lock" else predicted  # a lock file has never seen the job
            if known.unknown:
                self.seen[f"{name}: windows of another sort"] += 1
                continue
            outcome = _outcome(known)
            assert answer.allows(outcome), f"after {names} it is {outcome}, and {name} says {answer}: {known}"
            self.seen[f"{name} says {answer.outcome}{', unknown' * answer.unknown}"] += 1
            self.seen["lock: knows less of the job"] += outcome != _outcome(predicted)
        self.seen[f"edit: {_outcome(predicted)}"] += 1
        self.seen["edits asked about"] += 1

    def _edited(self, names: list[str], ends: bool) -> Program:
        new = edited(self.draw, self._program, names, self.seen)
        if not ends or self.draw.random() < 0.9:  # a collection grows in its middle: no run could go on with it
            return new
        names.append("source of another kind")
        return other_source(self.draw, new)

    def _count(self, predicted: Prediction) -> None:
        if predicted.refused:
            self.seen["refused"] += 1
            return
        self.seen["kept"] += sum(1 for label in predicted.takes.values() if label)
        self.seen["left"] += len(predicted.left)
        self.seen["carried along"] += len(predicted.lost)


def _outcome(predicted: Prediction) -> str:
    """What a restore does, in the words of the commands."""
    worse = predicted.unread or predicted.lost or predicted.partly
    return REFUSED_RUN if predicted.refused else LOST if worse else KEPT


def _fill(program: Program, available: int, ends: bool) -> None:
    """Have the sources of a program find what there is by now."""
    if program.feed is not None:
        program.feed.fill([node.amount for node in program.nodes if node.kind == SOURCE], available, ends)


def _most(world: World, program: Program, available: int, ends: bool) -> int:
    """The most records that a sink would get."""
    return max((bag.total() for bag in copy.deepcopy(world).run(program, available, ends).values()), default=0)


def _refusal(program: Program, available: int, executor: Any, settings: dict[str, str]) -> str | None:
    """The class of Flink's error by which a program is refused."""
    try:
        run(program, available, True, executor, **settings)
    except InvalidProgramError as error:
        return error.flink_class
    return None


def _differences(got: dict[str, Any], expected: dict[str, Any]) -> str:
    texts = (f"{label}: not {expected[label] - got[label]}, but {got[label] - expected[label]}" for label in expected)
    return "; ".join(text for text, label in zip(texts, expected, strict=True) if got[label] != expected[label])


def _executor(spark: bool) -> Any:
    if not spark:
        return "local"
    from penstock.spark import SparkExecutor

    return SparkExecutor(master="local[2,4]", progress=False)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("first", type=int)
    options.add_argument("last", type=int)
    options.add_argument("--spark", action="store_true")
    options.add_argument("--guard", action="store_true")
    chosen = options.parse_args()
    executor, seen, failed = _executor(chosen.spark), Counter[str](), 0
    for seed in range(chosen.first, chosen.last):
        for check_one in (check, typed_edits.check) if chosen.guard else (check,):
            with feeding.folder() as root:
                try:
                    seen += check_one(seed, root, executor, guard=chosen.guard)
                except Exception as error:
                    failed += 1
                    print(f"seed {seed}: {type(error).__name__}: {error}"[:2000], flush=True)
    print(f"{failed} of {chosen.last - chosen.first} failed; {dict(seen)}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
