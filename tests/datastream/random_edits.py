"""Random programs, and random edits of them between their runs: ``python -m tests.datastream.random_edits 0 1000`` runs
those of some seeds, ``--spark`` on Spark.

What comes out is compared with the plain computation of :mod:`tests.datastream.editable`: what operators emit whose
OperatorID survived is what they would have emitted without the stop, all others begin anew.
"""

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
from tests.datastream import feeding
from tests.datastream.editable import ALLOWED, COLLECTION, OTHER_TYPE, REFUSED, SINK, SOURCE, Node, Program, run
from tests.datastream.editable_jobs import WAYS, Jobs
from tests.datastream.editable_states import KINDS, SAME, TIMED
from tests.datastream.editable_world import World, places

MOST = 1_500
"""Records of a sink in a run; a program that makes more is not taken."""
PER_RUN = (5, 9, 16, 20)
"""Records of a split by the end of each run."""

Edit = Callable[[random.Random, Program], Program]


def random_program(draw: random.Random) -> Program:
    """A program of some sources, operators, and sinks of what nobody reads."""
    nodes = [Node(f"source {i}", SOURCE, amount=draw.randrange(100)) for i in range(draw.randint(1, 3))]
    program = Program(tuple(nodes), parallelism=draw.randint(1, 4), chaining=draw.random() < 0.9)
    for number in range(draw.randint(2, 7)):
        longer = program.insert(_node(draw, program, f"op {number}"), at=len(program.nodes))
        program = program if _is_late(longer) else longer
    if draw.random() < 0.7:
        program = replace(program, nodes=tuple(_named(draw, node) for node in program.nodes))
    program = replace(program, two_phases=draw.random() < 0.3)
    if draw.random() < 0.15:
        program = replace(program, max_parallelism=draw.choice([8, 16, 128]))
    return _ended(program)


def _node(draw: random.Random, program: Program, label: str) -> Node:
    """An operator on what is there."""
    there = [node for node in program.nodes if node.kind != SINK]
    splits = [node for node in there if node.kind == "split"]
    kind = draw.choice([kind for kind in KINDS if kind != "side" or splits])
    inputs = [draw.choice(splits if kind == "side" else there).label for _ in range(KINDS[kind].inputs)]
    parallelism = draw.choice([None, None, draw.randint(1, 4)]) if kind not in ("side", "union") else None
    chain = draw.choice(["", "", "", "new", "off"])
    return Node(label, kind, tuple(inputs), draw.randint(1, 4), parallelism=parallelism, chain=chain)


def _is_late(program: Program) -> bool:
    """Whether a program looks at the time behind a loop."""
    behind: set[str] = set()
    for node in program.nodes:
        if node.kind == "loop" or behind & set(node.inputs):
            behind.add(node.label)
    return any(program.node(label).kind in TIMED for label in behind)


def _named(draw: random.Random, node: Node) -> Node:
    """A node with a uid, most likely."""
    settable = node.kind not in ("union", "side", SINK)
    return replace(node, uid=f"uid of {node.label}") if settable and draw.random() < 0.85 else node


def _ended(program: Program) -> Program:
    """The same with a sink for each stream that nobody reads, and without those that read nothing."""
    labels = {node.label for node in program.nodes}
    nodes = [node for node in program.nodes if set(node.inputs) <= labels]
    read = {each for node in nodes for each in node.inputs}
    sinks = [Node(f"see {n.label}", SINK, (n.label,)) for n in nodes if n.kind != SINK and n.label not in read]
    return replace(program, nodes=(*nodes, *sinks))


# --- edits ------------------------------------------------------------------------------------------------------------


def _some(draw: random.Random, program: Program, wanted: Callable[[Node], bool]) -> Node | None:
    found = [node for node in program.nodes if wanted(node)]
    return draw.choice(found) if found else None


def _operator(node: Node) -> bool:
    return node.kind not in (SOURCE, SINK, "union", "side")


def _stateful(node: Node) -> bool:
    return node.stateful


def _changed(wanted: Callable[[Node], bool], change: Callable[[random.Random, Node], dict[str, Any]]) -> Edit:
    """An edit of one node."""

    def edit(draw: random.Random, program: Program) -> Program:
        node = _some(draw, program, wanted)
        return program if node is None else program.change(node.label, **change(draw, node))

    return edit


def _kind(kinds: tuple[str, ...]) -> Edit:
    """An edit of one node that is of some kinds."""
    return _changed(lambda node: node.kind in kinds, lambda draw, node: {"kind": draw.choice(kinds)})


def insert(draw: random.Random, program: Program) -> Program:
    """An operator more, between what is there or at an end of its own."""
    new = _node(draw, program, f"new {draw.randrange(10**6)}")
    new = _named(draw, new)
    readers = [n.label for n in program.nodes if new.inputs[0] in n.inputs and n.kind != "side"]
    if new.kind == "split" or KINDS[new.kind].inputs == 2:
        readers = []
    place = 1 + max(i for i, node in enumerate(program.nodes) if node.label in new.inputs)
    chosen = [each for each in readers if draw.random() < 0.7]
    return program.insert(new, [each for each in chosen if program.nodes.index(program.node(each)) >= place], place)


def remove(draw: random.Random, program: Program) -> Program:
    """An operator less."""
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
            nodes.append(replace(node, inputs=tuple(names.get(each, each) for each in node.inputs)))
    order = {node.label: node for node in nodes}
    return _sorted(replace(program, nodes=tuple(order.values())))


def _sorted(program: Program) -> Program:
    """The same in an order in which nodes come after those that they read, else as they stand."""
    there: dict[str, Node] = {}
    rest = list(program.nodes)
    while rest:
        node = next(each for each in rest if set(each.inputs) <= there.keys())
        there[node.label] = node
        rest.remove(node)
    return replace(program, nodes=tuple(there.values()))


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
    """A sink more, or less."""
    node = _some(draw, program, lambda n: n.kind != SINK)
    assert node is not None
    label = f"see {node.label}"
    if any(each.label == label for each in program.nodes):
        return replace(program, nodes=tuple(each for each in program.nodes if each.label != label))
    return program.insert(Node(label, SINK, (node.label,)), at=len(program.nodes))


def pin(draw: random.Random, program: Program) -> Program:
    """An operator, inserted into or not, finds its state by the ID that it had."""
    found = places(program)
    node = _some(draw, program, lambda n: n.stateful and n.uid_hash is None)
    if node is None:
        return program
    changed = program.change(node.label, uid_hash=found[node.label].generated)
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
    "sinks": lambda draw, program: replace(program, two_phases=not program.two_phases),
    **{name: _kind(kinds) for name, kinds in SAME.items()},
}
"""Edits by name."""


def edited(draw: random.Random, program: Program, names: list[str], seen: Counter[str] | None = None) -> Program:
    """A program after some edits, which can be planned.

    Args:
        draw, program: as for an edit.
        names: takes the names of the edits.
        seen: counts those that no program can be planned with, more subtasks than key groups, say, or whose results
            would depend on when records come.
    """
    for name in draw.choices(sorted(EDITS), k=draw.choice([1, 1, 2, 3])):
        new = _ended(EDITS[name](draw, program))
        try:
            places(new)
        except PenstockError:
            (Counter() if seen is None else seen).update(["cannot be planned"])
            continue
        if _is_late(new):
            (Counter() if seen is None else seen).update(["time behind a loop"])
            continue
        names.append(name)
        program = new
    return program


def check(seed: int, root: str, executor: Any = "local", feed: Any = None) -> Counter[str]:
    """Run a random program with random edits between its runs.

    Args:
        seed: decides all.
        root: a folder for it.
        executor: runs it.
        feed: makes sources, as that of a :class:`Program`.

    Returns:
        How often what happened.
    """
    draw, seen = random.Random(seed), Counter[str]()
    world, program, jobs = World(), replace(random_program(draw), feed=feed), Jobs(root)
    runs = draw.choice([2, 2, 3]) if feed is None else 3
    for number in range(runs):
        there, ends, names = PER_RUN[number], number == runs - 1, []
        way = draw.choice(WAYS) if number else "restart"
        new = edited(draw, program, names, seen) if number else program
        if ends and draw.random() < 0.1:  # a collection grows in its middle, so another run could not go on with it
            new, names = other_source(draw, new), [*names, "source of another kind"]
        allowed = {ALLOWED: "true"} if draw.random() < 0.6 else {}
        _fill(new, there, ends)
        predicted = world.predicted(new, allowed=bool(allowed))
        if predicted.unknown or (not predicted.refused and _most(world, new, there, ends) > MOST):
            seen["not predicted" if predicted.unknown else "too much"] += 1
            new, names, predicted = program, [], world.predicted(program)
        seen.update([*names, way])
        if predicted.refused:
            state = jobs.state()
            settings = jobs.settings(way) | allowed
            kind = OTHER_TYPE if predicted.other_type else REFUSED
            assert _refusal(new, there, executor, settings) == kind, f"run {number} by {way} not refused after {names}"
            jobs.refused(state)
            new, names = program, ["refused"]
            seen["refused"] += 1
        else:
            seen["kept"] += sum(1 for label in predicted.takes.values() if label)
            seen["left"] += len(predicted.left)
            seen["carried along"] += len(predicted.lost)
        _fill(new, there, ends)
        expected = world.run(new, there, ends)
        got = run(new, there, ends, executor, records=draw.randint(1, 20), **jobs.settings(way), **allowed)
        assert got == expected, f"run {number} by {way} after {names}: {_differences(got, expected)}"
        if feed is not None and not ends:
            feed.check(jobs.folder)
        program = new
    return seen


def _fill(program: Program, there: int, ends: bool) -> None:
    """Have the sources of a program find what there is by now."""
    if program.feed is not None:
        program.feed.fill([node.amount for node in program.nodes if node.kind == SOURCE], there, ends)


def _most(world: World, program: Program, there: int, ends: bool) -> int:
    """The most records that a sink would get."""
    return max((bag.total() for bag in copy.deepcopy(world).run(program, there, ends).values()), default=0)


def _refusal(program: Program, there: int, executor: Any, settings: dict[str, str]) -> str | None:
    """The class of Flink's error by which a program is refused."""
    try:
        run(program, there, True, executor, **settings)
    except InvalidProgramError as error:
        return error.flink_class
    return None


def _differences(got: dict[str, Any], expected: dict[str, Any]) -> str:
    texts = (f"{label}: not {expected[label] - got[label]}, but {got[label] - expected[label]}" for label in expected)
    return "; ".join(text for text, label in zip(texts, expected, strict=True) if got[label] != expected[label])


def _executor(spark: bool) -> Any:
    """Spark's, or that of this process."""
    if not spark:
        return "local"
    from penstock.spark import SparkExecutor

    return SparkExecutor(master="local[2,4]", progress=False)


def main() -> int:
    """The command."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("first", type=int)
    options.add_argument("last", type=int)
    options.add_argument("--spark", action="store_true")
    chosen = options.parse_args()
    executor, seen, failed = _executor(chosen.spark), Counter[str](), 0
    for seed in range(chosen.first, chosen.last):
        with feeding.folder() as root:
            try:
                seen += check(seed, root, executor)
            except Exception as error:
                failed += 1
                print(f"seed {seed}: {type(error).__name__}: {error}"[:500])
    print(f"{failed} of {chosen.last - chosen.first} failed; {dict(seen)}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
